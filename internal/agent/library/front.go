package library

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"collie/internal/lazyregexp"
	"collie/internal/tool"
)

// This file reads YAML front matter, the fields at the beginning of a Markdown file.

const maxFront = 16 << 10 // bytes of front matter

// cleanText returns text with line feeds only and without byte order mark. It fails if it is not text in UTF-8.
func cleanText(text string) (string, error) {
	text = strings.TrimPrefix(text, "\uFEFF")
	bad := func(at int, what string) error {
		return fmt.Errorf("line %d has %s; expected text in UTF-8", strings.Count(text[:at], "\n")+1, what)
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return "", bad(at, "a NUL byte")
	}
	if !utf8.ValidString(text) {
		for at, r := range text {
			if _, size := utf8.DecodeRuneInString(text[at:]); r == utf8.RuneError && size == 1 {
				return "", bad(at, "a byte that is not UTF-8")
			}
		}
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

// splitFront cuts text into its front matter and what follows.
func splitFront(text string) (front, rest string, found bool) {
	first, after, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", text, false
	}
	for at := 0; at < len(after); {
		line, _, more := strings.Cut(after[at:], "\n")
		end := at + len(line)
		if more {
			end++
		}
		if strings.TrimRight(line, " \t") == "---" {
			return after[:at], after[end:], true
		}
		at = end
	}
	return "", text, false
}

// textBelowFront returns text without its front matter.
func textBelowFront(text string) string {
	_, rest, _ := splitFront(text)
	return strings.TrimSpace(rest)
}

// fields are the values of front matter by key. Readers take the fields that they know.
type fields struct {
	values map[string]*yaml.Node
	wrong  *Problem // the first one
	taken  []string
}

// readFront parses front matter. If it is invalid, wrong has the line and field.
func readFront(text string) (f fields, rest string, wrong *Problem) {
	front, rest, found := splitFront(text)
	if !found {
		return f, "", &Problem{Line: 1, Message: "expected front matter: a line ---, fields such as description: …, and a line ---"}
	}
	if len(front) > maxFront {
		return f, "", &Problem{Line: 1, Message: fmt.Sprintf("the front matter has %d bytes, the limit is %d", len(front), maxFront)}
	}
	top, err := parseNode(front)
	if err != nil {
		return f, "", &Problem{Line: lineOf(err), Message: "the front matter is not YAML: " + messageOf(err)}
	}
	f.values = map[string]*yaml.Node{}
	if top == nil {
		return f, strings.TrimSpace(rest), nil
	}
	if top.Kind != yaml.MappingNode {
		return f, "", &Problem{Line: top.Line + 1, Message: "expected fields, such as description: …"}
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Value == "" || len(key.Value) > maxName:
			return f, "", &Problem{Line: key.Line + 1, Message: "a field has no name; expected one such as description: …"}
		case f.values[key.Value] != nil:
			return f, "", &Problem{Line: key.Line + 1, Field: key.Value, Message: "the field is given twice"}
		}
		f.values[key.Value] = value
	}
	return f, strings.TrimSpace(rest), nil
}

// parseNode parses YAML, nil for an empty text. It recovers from panics of the parser, because the text may come from
// anybody.
func parseNode(text string) (top *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return doc.Content[0], nil
}

var yamlLine = lazyregexp.New(`line (\d+): `)

// lineOf returns the line of the file in an error of the parser. The front matter begins in line 2.
func lineOf(err error) int {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n + 1
		}
	}
	return 1
}

// messageOf returns the message of an error of the parser, without the line.
func messageOf(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if at := yamlLine.FindStringIndex(text); at != nil {
		text = text[:at[0]] + text[at[1]:]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\n", " "), "?")
}

// addProblem records a problem with a field unless there is one already.
func (f *fields) addProblem(n *yaml.Node, field, format string, args ...any) {
	if f.wrong == nil {
		f.wrong = &Problem{Line: n.Line + 1, Field: field, Message: fmt.Sprintf(format, args...)}
	}
}

// takeField returns the value of a field, nil if it is missing or null, and marks the field as known: firstProblem reports the
// others.
func (f *fields) takeField(field string) *yaml.Node {
	f.taken = append(f.taken, field)
	n := f.values[field]
	if n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	return n
}

// takeText takes a field with a text of at most limit bytes.
func (f *fields) takeText(field string, limit int) string {
	n := f.takeField(field)
	switch {
	case n == nil:
		return ""
	case n.Kind != yaml.ScalarNode:
		f.addProblem(n, field, "expected text, and found %s", kindOf(n))
		return ""
	case len(n.Value) > limit:
		f.addProblem(n, field, "it has %d bytes, the limit is %d", len(n.Value), limit)
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// takeOneOf takes a field with one of these values.
func (f *fields) takeOneOf(field string, values []string) string {
	v := f.takeText(field, maxText)
	if v != "" && !slices.Contains(values, v) {
		f.addProblem(f.values[field], field, "it is %q, expected %s", v, strings.Join(values, ", "))
		return ""
	}
	return v
}

// takeList takes a field with one or more values, without duplicates.
func (f *fields) takeList(field string) (out []string) {
	for _, v := range f.takeTexts(field) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// takeCommand takes a field with a program and its arguments: a list, or one text that is split at spaces.
func (f *fields) takeCommand(field string) []string {
	all := f.takeTexts(field)
	if len(all) == 1 {
		return strings.Fields(all[0])
	}
	return all
}

// takeTexts takes a field with a list of texts, or one text.
func (f *fields) takeTexts(field string) (out []string) {
	n := f.takeField(field)
	if n == nil {
		return nil
	}
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) > maxList {
		f.addProblem(n, field, "it has %d values, the limit is %d", len(items), maxList)
		return nil
	}
	for _, item := range items {
		v := strings.TrimSpace(item.Value)
		switch {
		case item.Kind != yaml.ScalarNode:
			f.addProblem(item, field, "expected a list of texts, and found %s", kindOf(item))
			return nil
		case v == "" || len(v) > maxText:
			f.addProblem(item, field, "a value is empty, or longer than %d bytes", maxText)
			return nil
		}
		out = append(out, v)
	}
	return out
}

// takeNumber takes a field with a whole number.
func (f *fields) takeNumber(field string, lowest, highest int) int {
	n := f.takeField(field)
	if n == nil {
		return 0
	}
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < lowest || v > highest {
		f.addProblem(n, field, "expected a number from %d to %d", lowest, highest)
	}
	return v
}

// firstProblem returns the first problem. Unknown fields are a problem too, because a misspelt field would be ignored
// otherwise.
func (f *fields) firstProblem() *Problem {
	for name, n := range f.values {
		if slices.Contains(f.taken, name) || f.wrong != nil && f.wrong.Line <= n.Line+1 {
			continue
		}
		hint := "expected one of " + strings.Join(f.taken, ", ")
		if near, ok := tool.Nearest(name, f.taken); ok {
			hint = "did you mean " + near + "?"
		}
		f.wrong = &Problem{Line: n.Line + 1, Field: name, Message: "there is no such field; " + hint}
	}
	return f.wrong
}

// kindOf describes the kind of a value for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "fields of its own"
	case yaml.SequenceNode:
		return "a list of values"
	case yaml.AliasNode:
		return "an alias, which is not followed"
	}
	return "something else"
}
