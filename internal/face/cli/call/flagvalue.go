package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/rawjson"
	"collie/internal/face/cli/root"
)

func (f *flagReader) setBool(s spelling, name, value string, inline bool) error {
	truth := !s.negate
	if inline {
		switch strings.ToLower(value) {
		case "true":
		case "false":
			truth = !truth
		default:
			return root.Usage("--%s is %q, expected true or false", name, value)
		}
	}
	return f.add(s.param, name, json.RawMessage(fmt.Sprint(truth)))
}

// setJSON sets a parameter to a value given as JSON.
func (f *flagReader) setJSON(p *parameter, name, value string) error {
	text, err := f.text(name, value)
	if err != nil {
		return err
	}
	raw := json.RawMessage(strings.TrimSpace(text))
	if !json.Valid(raw) {
		return root.Usage("--%s is not valid JSON", name)
	}
	if p.is("array") && raw[0] != '[' {
		return root.Usage("--%s must be a JSON array", name)
	}
	g := f.of(p)
	if g.json != nil {
		return root.Usage("--%s is given twice", name)
	}
	g.json = raw
	return nil
}

func (f *flagReader) set(p *parameter, name, value string) error {
	switch {
	case p.is("array"):
		return f.setArray(p, name, value)
	case p.is("string"):
		text, err := f.text(name, value)
		if err != nil {
			return err
		}
		return f.add(p, name, rawjson.Quote(text))
	}
	raw, ok := rawjson.Convert(value, p.types)
	if !ok {
		return root.Usage("--%s is %q, expected %s%s", name, value, f.form(p), f.jsonHint(p))
	}
	return f.add(p, name, raw)
}

// setArray adds one or several items. A comma separates items unless a backslash precedes it.
func (f *flagReader) setArray(p *parameter, name, value string) error {
	if strings.HasPrefix(value, "[") && json.Valid([]byte(value)) {
		return root.Usage("--%s takes items; a whole JSON array is --%s-json '%s'", name, p.flag, value)
	}
	g := f.of(p)
	if g.plain == nil {
		g.plain = []json.RawMessage{}
	}
	if value == "" {
		return nil
	}
	for _, item := range splitItems(value) {
		raw, ok := rawjson.Convert(item, p.items)
		if !ok {
			return root.Usage("--%s has the item %q, expected %s%s", name, item, f.form(p), f.jsonHint(p))
		}
		g.plain = append(g.plain, raw)
	}
	return nil
}

func splitItems(value string) []string {
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

// add sets the value of a parameter that may have only one.
func (f *flagReader) add(p *parameter, name string, raw json.RawMessage) error {
	g := f.of(p)
	if g.plain != nil {
		return root.Usage("--%s is given twice", name)
	}
	g.plain = []json.RawMessage{raw}
	return nil
}

func (f *flagReader) of(p *parameter) *given {
	g := f.given[p.name]
	if g == nil {
		g = &given{}
		f.given[p.name] = g
	}
	return g
}

// text returns the text that value stands for: @FILE is the content of a file, - is stdin, and @@ starts a
// text whose first character is @.
func (f *flagReader) text(name, value string) (string, error) {
	var raw []byte
	var err error
	switch {
	case value == "-":
		raw, err = f.stdin()
	case strings.HasPrefix(value, "@@"):
		return value[1:], nil
	case len(value) > 1 && value[0] == '@':
		if raw, err = f.file(value[1:]); err != nil {
			err = fmt.Errorf("%w; write @%s for a text that begins with @", err, value)
		}
	default:
		raw = []byte(value)
	}
	if err != nil {
		return "", root.Usage("--%s: %v", name, err)
	}
	if !utf8.Valid(raw) {
		return "", root.Usage("--%s is not UTF-8 text", name)
	}
	return string(raw), nil
}

// form describes what a value looks like.
func (f *flagReader) form(p *parameter) string {
	if len(p.enum) > 0 {
		return "one of " + rawjson.JoinValues(p.enum, 12)
	}
	switch p.typeName() {
	case "string":
		return locale.T("a text, @FILE or - for stdin")
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "object":
		return locale.T("a JSON object")
	case "any":
		return locale.T("a text or JSON")
	}
	return p.typeName()
}

// jsonHint returns a hint for a parameter whose values can only be given as JSON.
func (f *flagReader) jsonHint(p *parameter) string {
	if p.is("array") && (slices.Contains(p.items, "object") || slices.Contains(p.items, "array")) {
		return locale.Sprintf("; write --%s-json '[…]'", p.flag)
	}
	return ""
}

// errStdinTwice is the error for a second "-".
var errStdinTwice = errors.New("stdin can be read once")
