package arguments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/rawjson"
)

// This file converts the words of a command line to JSON values of the types that the schema wants.

// setBool sets a boolean: --key is true, --no-key false, and with inline the value true or false counts, negated for
// --no-key.
func (f *Reader) setBool(s flagSpelling, name, value string, inline bool) error {
	truth := !s.negate
	if inline {
		switch strings.ToLower(value) {
		case "true":
		case "false":
			truth = !truth
		default:
			return f.usage("--%s is %q, expected true or false", name, value)
		}
	}
	return f.add(s.param, name, json.RawMessage(fmt.Sprint(truth)))
}

// setJSON sets a value given as JSON.
func (f *Reader) setJSON(p *Parameter, name, value string) error {
	text, err := f.Text(name, value)
	if err != nil {
		return err
	}
	raw := json.RawMessage(strings.TrimSpace(text))
	if !json.Valid(raw) {
		return f.usage("--%s is not valid JSON", name)
	}
	if p.Is("array") && raw[0] != '[' {
		return f.usage("--%s must be a JSON array", name)
	}
	g := f.givenFor(p)
	if g.json != nil {
		return f.usage("--%s is given twice", name)
	}
	g.json = raw
	return nil
}

// set converts a word to the type of p and sets it. name is the flag as it was written, for messages.
func (f *Reader) set(p *Parameter, name, value string) error {
	switch {
	case p.Is("array"):
		return f.setArray(p, name, value)
	case p.Is("string"):
		text, err := f.Text(name, value)
		if err != nil {
			return err
		}
		return f.add(p, name, rawjson.Quote(text))
	}
	raw, ok := rawjson.Convert(value, p.Types)
	if !ok {
		return f.usage("--%s is %q, expected %s%s", name, value, f.valueForm(p), f.jsonHint(p))
	}
	return f.add(p, name, raw)
}

// setArray adds one or several items. Commas separate items; a backslash escapes a comma.
func (f *Reader) setArray(p *Parameter, name, value string) error {
	if strings.HasPrefix(value, "[") && json.Valid([]byte(value)) {
		return f.usage("--%s takes items; a whole JSON array is --%s-json '%s'", name, p.Flag, value)
	}
	g := f.givenFor(p)
	if g.items == nil {
		g.items = []json.RawMessage{}
	}
	if value == "" {
		return nil
	}
	for _, item := range SplitItems(value) {
		raw, ok := rawjson.Convert(item, p.Items)
		if !ok {
			return f.usage("--%s has the item %q, expected %s%s", name, item, f.valueForm(p), f.jsonHint(p))
		}
		g.items = append(g.items, raw)
	}
	return nil
}

// SplitItems splits a list at commas that are not escaped by a backslash.
func SplitItems(value string) []string {
	var items []string
	var item strings.Builder
	for i := 0; i < len(value); i++ {
		switch {
		case value[i] == '\\' && i+1 < len(value) && value[i+1] == ',':
			i++
			item.WriteByte(',')
		case value[i] == ',':
			items = append(items, item.String())
			item.Reset()
		default:
			item.WriteByte(value[i])
		}
	}
	return append(items, item.String())
}

// add sets the single value of a parameter.
func (f *Reader) add(p *Parameter, name string, raw json.RawMessage) error {
	g := f.givenFor(p)
	if g.items != nil {
		return f.usage("--%s is given twice", name)
	}
	g.items = []json.RawMessage{raw}
	return nil
}

func (f *Reader) givenFor(p *Parameter) *givenValue {
	g := f.given[p.Name]
	if g == nil {
		g = &givenValue{}
		f.given[p.Name] = g
	}
	return g
}

// Text resolves a value: @FILE is the content of a file, - is stdin, and @@ escapes a leading @.
func (f *Reader) Text(name, value string) (string, error) {
	var raw []byte
	var err error
	switch {
	case value == "-" && f.Stdin != nil:
		raw, err = f.Stdin()
	case strings.HasPrefix(value, "@@"):
		return value[1:], nil
	case len(value) > 1 && value[0] == '@' && f.File != nil:
		if raw, err = f.File(value[1:]); err != nil {
			err = fmt.Errorf("%w; write @%s for a text that begins with @", err, value)
		}
	default:
		raw = []byte(value)
	}
	if err != nil {
		return "", f.usage("--%s: %v", name, err)
	}
	if !utf8.Valid(raw) {
		return "", f.usage("--%s is not UTF-8 text", name)
	}
	return string(raw), nil
}

// valueForm describes what a value of p looks like.
func (f *Reader) valueForm(p *Parameter) string {
	if len(p.Enum) > 0 {
		return "one of " + rawjson.JoinValues(p.Enum, 12)
	}
	switch p.TypeName() {
	case "string":
		return f.sprintf("a text, @FILE or - for stdin")
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "object":
		return f.sprintf("a JSON object")
	case "any":
		return f.sprintf("a text or JSON")
	}
	return p.TypeName()
}

// jsonHint returns advice for an array whose items cannot be written plainly.
func (f *Reader) jsonHint(p *Parameter) string {
	if p.Is("array") && (slices.Contains(p.Items, "object") || slices.Contains(p.Items, "array")) {
		return f.sprintf("; write --%s-json '[…]'", p.Flag)
	}
	return ""
}
