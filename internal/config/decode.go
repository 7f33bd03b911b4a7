package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"collie/internal/jsonc"
	"collie/internal/tool"
	"collie/internal/units"
)

// This file reads the values of a settings file, field by field, and reports what is wrong at its place in the text.

// document is one parsed file.
type document struct {
	*jsonc.Document
	file string // the path as the caller gave it
	dir  string // absolute folder of the file

	inputs []Input // the inputs it declares
}

// node is one value in a file.
type node struct {
	doc     *document
	value   *hujson.Value
	pointer string
}

// members returns the members of n in the order of the file; nil if n is not an object.
func (n node) members() []hujson.ObjectMember {
	o, ok := n.value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	return o.Members
}

func (n node) child(m *hujson.ObjectMember) node {
	return node{n.doc, &m.Value, jsonc.Join(n.pointer, jsonc.Name(m))}
}

// decoder collects findings while values are read.
type decoder struct {
	findings []Finding
	nameFor  func(entry json.RawMessage) string // see [Options]
}

// report adds a finding about n, whose place in the text is offset.
func (d *decoder) report(n node, offset int, rule string, s Severity, format string, args ...any) {
	line, column := n.doc.Position(offset)
	d.findings = append(d.findings, Finding{
		File: n.doc.file, Line: line, Column: column, Pointer: n.pointer,
		Rule: rule, Severity: s, Message: fmt.Sprintf(format, args...),
	})
}

// fail adds an error at the value n.
func (d *decoder) fail(n node, rule, format string, args ...any) {
	d.report(n, n.value.StartOffset, rule, SeverityError, format, args...)
}

// wrongType reports a value of the wrong type. want is a phrase such as "a string".
func (d *decoder) wrongType(n node, want string) {
	d.fail(n, "type", "expected %s, got %s", want, kindName(n.value.Value.Kind()))
}

// kindName returns the JSON type of a value, for messages.
func kindName(k hujson.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	default:
		return "array"
	}
}

// field is how one setting is read and shown: set checks the value in a file and stores it, get returns the present value,
// nil if there is none to show.
type field struct {
	set func(*decoder, node)
	get func() any
}

// fields are the possible members of an object, by name. The table is used to read files, to warn about
// unknown names, and to list the effective settings.
type fields map[string]field

// values returns the current settings, for [Config.Get] and the digest.
func (fs fields) values() map[string]any {
	out := make(map[string]any, len(fs))
	for name, f := range fs {
		if v := f.get(); v != nil {
			out[name] = v
		}
	}
	return out
}

// ruleUnknown is the rule id for an unknown name.
const ruleUnknown = "unknown"

// read reads the object n. Names that start with "x-" belong to the user and are ignored.
func (fs fields) read(d *decoder, n node) {
	if n.value.Value.Kind() != '{' {
		d.wrongType(n, "an object")
		return
	}
	ms := n.members()
	for i := range ms {
		name, c := jsonc.Name(&ms[i]), n.child(&ms[i])
		switch f, known := fs[name]; {
		case known:
			f.set(d, c)
		case !strings.HasPrefix(name, "x-"):
			d.report(c, ms[i].Name.StartOffset, ruleUnknown, SeverityWarning, "unknown field%s", suggestion(name, c, fs))
		}
	}
}

// suggestion completes the message about an unknown name.
func suggestion(name string, n node, fs fields) string {
	servers := n.members()
	switch {
	case looksLikeServer(n.value):
		return `; this looks like a server, which belongs under "mcpServers"; collie mcp import reads what other programs write`
	case len(servers) > 0 && !slices.ContainsFunc(servers, func(m hujson.ObjectMember) bool { return !looksLikeServer(&m.Value) }):
		return `; these look like servers, which belong under "mcpServers"; collie mcp import reads what other programs write`
	}
	return didYouMean(name, fs)
}

// didYouMean returns the end of a message that names the field most like name, or "".
func didYouMean(name string, fs fields) string {
	if known, ok := tool.Nearest(name, slices.Sorted(maps.Keys(fs))); ok {
		return fmt.Sprintf("; did you mean %q?", known)
	}
	return ""
}

// section returns a field whose value is an object of fields.
func section(fs fields) field {
	return field{fs.read, func() any { return fs.values() }}
}

// stringValue returns the text of a JSON string; ok is false if n is another value.
func stringValue(n node) (s string, ok bool) {
	if n.value.Value.Kind() != '"' {
		return "", false
	}
	return n.value.Value.(hujson.Literal).String(), true
}

// stringField returns a field whose value is any string. example is for messages.
func stringField(p *string, example string) field {
	return field{func(d *decoder, n node) {
		s, ok := stringValue(n)
		if !ok {
			d.wrongType(n, fmt.Sprintf("a string such as %q", example))
			return
		}
		*p = s
	}, func() any { return *p }}
}

// pathField returns a field whose value is a file or folder; a relative path starts at the folder of the settings file.
func pathField(p *string) field {
	f := stringField(p, "folder/name")
	return field{func(d *decoder, n node) {
		f.set(d, n)
		if s, ok := stringValue(n); ok && s != "" && !filepath.IsAbs(s) {
			*p = filepath.Join(n.doc.dir, s)
		}
	}, f.get}
}

// pathsField returns a field whose value is a list of paths; relative ones begin at the folder of the file.
func pathsField(p *[]string) field {
	f := listField(p, "/home/me/Obsidian")
	return field{func(d *decoder, n node) {
		f.set(d, n)
		for i, at := range *p {
			if at != "" && !filepath.IsAbs(at) {
				(*p)[i] = filepath.Join(n.doc.dir, at)
			}
		}
	}, f.get}
}

// choiceField returns a field whose value is one of the given words.
func choiceField(p *string, words ...string) field {
	want := "one of " + strings.Join(words, ", ")
	return field{func(d *decoder, n node) {
		switch s, ok := stringValue(n); {
		case !ok:
			d.wrongType(n, want)
		case !slices.Contains(words, s):
			d.fail(n, "value", "expected %s, got %q", want, s)
		default:
			*p = s
		}
	}, func() any { return *p }}
}

func boolField(p *bool) field {
	return field{func(d *decoder, n node) {
		switch n.value.Value.Kind() {
		case 't', 'f':
			*p = n.value.Value.Kind() == 't'
		default:
			d.wrongType(n, "true or false")
		}
	}, func() any { return *p }}
}

// countField returns a field whose value is a whole number of at least 1.
func countField(p *int) field {
	return field{func(d *decoder, n node) {
		if n.value.Value.Kind() != '0' {
			d.wrongType(n, fmt.Sprintf("a whole number such as %d", *p))
			return
		}
		v, err := strconv.Atoi(string(n.value.Value.(hujson.Literal)))
		if err != nil || v < 1 {
			d.fail(n, "value", "expected a whole number from 1, got %s", n.value.Value)
			return
		}
		*p = v
	}, func() any { return *p }}
}

// sizeField returns a field whose value is a number of bytes, as package units reads it, but not 0.
func sizeField(p *int64) field {
	return field{func(d *decoder, n node) {
		s, ok := stringValue(n)
		if n.value.Value.Kind() == '0' {
			s, ok = string(n.value.Value.(hujson.Literal)), true
		}
		if !ok {
			d.wrongType(n, fmt.Sprintf("a size such as %q", units.SizeText(*p)))
			return
		}
		v, err := units.Size(s)
		if err == nil && v == 0 {
			err = fmt.Errorf("a limit of 0 would let nothing through; write a size such as %s", units.SizeText(*p))
		}
		if err != nil {
			d.fail(n, "value", "%v", err)
			return
		}
		*p = v
	}, func() any { return units.SizeText(*p) }}
}

// durationField returns a field whose value is a length of time with a unit, as package units reads it.
func durationField(p *time.Duration) field {
	return field{func(d *decoder, n node) {
		s, ok := stringValue(n)
		switch {
		case n.value.Value.Kind() == '0':
			d.fail(n, "R-CV-8", "%v", units.ErrMissing)
			return
		case !ok:
			d.wrongType(n, fmt.Sprintf("a length of time such as %q", units.DurationText(*p)))
			return
		}
		v, err := units.Duration(s)
		if err != nil {
			rule := "value"
			if errors.Is(err, units.ErrMissing) {
				rule = "R-CV-8"
			}
			d.fail(n, rule, "%v", err)
			return
		}
		*p = v
	}, func() any { return units.DurationText(*p) }}
}

// modeField returns a field whose value is a file permission in octal. It is a string, because JSON has no octal numbers.
// The owner must be able to read and write the file, and nobody may run it.
func modeField(p *fs.FileMode) field {
	const want = `a permission in octal, in quotes, such as "0600"`
	show := func() string { return fmt.Sprintf("%04o", *p) }
	return field{func(d *decoder, n node) {
		s, ok := stringValue(n)
		if !ok {
			d.wrongType(n, want)
			return
		}
		v, err := strconv.ParseUint(s, 8, 32)
		switch {
		case err != nil || v > 0o777:
			d.fail(n, "value", "expected %s, got %q", want, s)
		case v&0o600 != 0o600 || v&0o111 != 0:
			d.fail(n, "value", "%q does not let the owner read and write it, or makes it a program; write one such as \"0600\" or \"0640\"", s)
		default:
			*p = fs.FileMode(v)
		}
	}, func() any { return show() }}
}

// isURL reports whether s is a URL with one of the schemes.
func isURL(s string, schemes ...string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}

// shownURL returns a URL with *** in place of its user name and password and of the values of its query; "" if s is not a
// URL.
func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	if u.User != nil {
		u.User = url.User("***")
	}
	q := u.Query()
	for name := range q {
		q[name] = []string{"***"}
	}
	if len(q) > 0 {
		u.RawQuery = strings.ReplaceAll(q.Encode(), "%2A", "*")
	}
	return strings.ReplaceAll(u.String(), "%2A", "*")
}

// listField returns a field whose value is a list of strings. example is for messages.
func listField(p *[]string, example string) field {
	want := fmt.Sprintf("a list of strings such as [%q]", example)
	return field{func(d *decoder, n node) {
		a, ok := n.value.Value.(*hujson.Array)
		if !ok {
			d.wrongType(n, want)
			return
		}
		list := make([]string, 0, len(a.Elements))
		for i := range a.Elements {
			c := node{n.doc, &a.Elements[i], jsonc.Join(n.pointer, strconv.Itoa(i))}
			s, ok := stringValue(c)
			if !ok {
				d.wrongType(c, fmt.Sprintf("a string such as %q", example))
				continue
			}
			list = append(list, s)
		}
		*p = list
	}, func() any {
		if *p == nil {
			return []string{}
		}
		return *p
	}}
}
