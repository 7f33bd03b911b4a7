package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"collie/internal/sorting"
)

// This file changes single members of a JSON text, leaving all other bytes as they are.

// splice replaces the bytes [from, to) of a body.
type splice struct {
	from, to int
	text     string
}

// apply makes the edits, which must not overlap, and returns an error if the result does not parse.
func (d *Document) apply(text []byte, edits ...splice) ([]byte, error) {
	sorting.By(edits, func(a, b splice) int { return a.from - b.from })
	out := bytes.Clone(text[:d.bom])
	at := 0
	for _, e := range edits {
		out = append(out, d.body[at:min(e.from, d.size)]...)
		out = append(out, e.text...)
		at = min(e.to, d.size)
	}
	out = append(out, d.body[at:d.size]...)
	if _, err := Parse(out); err != nil {
		return nil, fmt.Errorf("the edited text is no longer JSON: %w", err)
	}
	return out, nil
}

// Set sets the member at path to value, which is standard JSON, and returns the new text. Missing objects
// along the path are created; a new member is added last. If the member already has an equal value, text is
// returned unchanged.
func Set(text []byte, path []string, value json.RawMessage) ([]byte, error) {
	if len(path) == 0 || !json.Valid(value) {
		return nil, fmt.Errorf("set %s: not a value that can be set", Join("", path...))
	}
	d, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if d.blank() {
		body, err := d.layout().text(wrapValue(path, value), "", false)
		return append(bytes.Clone(text[:d.bom]), body+"\n"...), err
	}
	v := &d.root
	for i, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			if v.Value.Kind() == 'n' && i > 0 {
				return d.replace(text, v, wrapValue(path[i:], value))
			}
			return nil, fmt.Errorf("set %s: %q is not an object", Join("", path...), Join("", path[:i]...))
		}
		m := Member(o, name)
		if m == nil {
			return d.add(text, v, name, wrapValue(path[i+1:], value))
		}
		v = &m.Value
	}
	return d.replace(text, v, value)
}

// Source returns the member at path as written in the file, with the comments inside it.
func Source(text []byte, path []string) (raw []byte, ok bool) {
	d, err := Parse(text)
	if err != nil || len(path) == 0 {
		return nil, false
	}
	v := d.root.Find(Join("", path...))
	if v == nil {
		return nil, false
	}
	return d.body[v.StartOffset:v.EndOffset], true
}

// SetSource is like [Set] for a value as [Source] returned it, comments included.
func SetSource(text []byte, path []string, source string) ([]byte, error) {
	const stand = `"collie: a value is about to stand here"`
	out, err := Set(text, path, json.RawMessage(stand))
	if err != nil {
		return nil, err
	}
	raw, ok := Source(out, path)
	if !ok || string(raw) != stand || bytes.Count(out, []byte(stand)) != 1 {
		return nil, fmt.Errorf("set %s: it is not where it was put", Join("", path...))
	}
	out = bytes.Replace(out, []byte(stand), []byte(source), 1)
	if _, err := Parse(out); err != nil {
		return nil, fmt.Errorf("the edited text is no longer JSON: %w", err)
	}
	return out, nil
}

// wrapValue wraps value into one object per name of path.
func wrapValue(path []string, value json.RawMessage) json.RawMessage {
	for _, name := range slices.Backward(path) {
		value = slices.Concat([]byte("{"), quote(name), []byte(":"), value, []byte("}"))
	}
	return value
}

func quote(name string) []byte { return hujson.String(name) }

// equal reports whether two texts of standard JSON mean the same.
func equal(a, b json.RawMessage) bool {
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	exact := jsontext.CanonicalizeRawInts(false)
	return x.Canonicalize(exact) == nil && y.Canonicalize(exact) == nil && bytes.Equal(x, y)
}

// replace replaces v by value in text, or returns text unchanged if both mean the same.
func (d *Document) replace(text []byte, v *hujson.Value, value json.RawMessage) ([]byte, error) {
	if equal(Standard(v), value) {
		return bytes.Clone(text), nil
	}
	indent, _ := d.indentAt(v.StartOffset)
	s, err := d.layout().text(value, indent, d.isInline(v))
	if err != nil {
		return nil, err
	}
	return d.apply(text, splice{v.StartOffset, v.EndOffset, s})
}

// isInline reports whether v has members and they stand on the same line as its brackets.
func (d *Document) isInline(v *hujson.Value) bool {
	switch t := v.Value.(type) {
	case *hujson.Object:
		return len(t.Members) > 0 && !bytes.ContainsRune(d.body[v.StartOffset:t.Members[0].Name.StartOffset], '\n')
	case *hujson.Array:
		return len(t.Elements) > 0 && !bytes.ContainsRune(d.body[v.StartOffset:t.Elements[0].StartOffset], '\n')
	}
	return false
}

// add writes a new last member into the object v.
func (d *Document) add(text []byte, v *hujson.Value, name string, value json.RawMessage) ([]byte, error) {
	o := v.Value.(*hujson.Object)
	l := d.layout()
	outer, _ := d.indentAt(v.StartOffset)
	indent, inline := outer+l.unit, d.isInline(v)
	if n := len(o.Members); n > 0 {
		if own, ok := d.indentAt(o.Members[n-1].Name.StartOffset); ok {
			indent = own
		}
	}
	s, err := l.text(value, indent, inline)
	if err != nil {
		return nil, err
	}
	member := string(quote(name)) + ": " + s
	if len(o.Members) == 0 {
		return d.apply(text, d.first(v, l.newline+indent+member, l.newline+outer))
	}
	last := &o.Members[len(o.Members)-1].Value
	if inline {
		if last.AfterExtra != nil {
			return d.apply(text, splice{comma(last) + 1, comma(last) + 1, " " + member + ","})
		}
		return d.apply(text, splice{last.EndOffset, last.EndOffset, ", " + member})
	}
	if last.AfterExtra != nil { // a trailing comma: keep that style
		at := d.restOfLine(comma(last) + 1)
		return d.apply(text, splice{at, at, l.newline + indent + member + ","})
	}
	at := d.restOfLine(last.EndOffset)
	if at == last.EndOffset {
		return d.apply(text, splice{at, at, "," + l.newline + indent + member})
	}
	return d.apply(text, splice{last.EndOffset, last.EndOffset, ","}, splice{at, at, l.newline + indent + member})
}

// first returns the edit that adds a member to an empty object, after the comments in it.
func (d *Document) first(v *hujson.Value, member, closing string) splice {
	end := v.EndOffset - 1
	at := v.StartOffset + 1 + len(bytes.TrimRight(d.body[v.StartOffset+1:end], " \t\r\n"))
	if bytes.ContainsRune(d.body[at:end], '\n') {
		return splice{at, at, member}
	}
	return splice{at, end, member + closing}
}

// comma returns the offset of the comma after v, which must have one.
func comma(v *hujson.Value) int { return v.EndOffset + len(v.AfterExtra) }

// restOfLine returns the end of the comments that follow offset on its line, or offset itself
// if there are none.
func (d *Document) restOfLine(offset int) int {
	end := offset
	for i := offset; i < len(d.body); i++ {
		switch d.body[i] {
		case ' ', '\t':
			continue
		case '/':
			n := commentLength(d.body[i:])
			if n == 0 {
				return end
			}
			if d.body[i+1] == '/' {
				return i + len(bytes.TrimRight(d.body[i:i+n], "\r\n"))
			}
			if bytes.ContainsRune(d.body[i:i+n], '\n') {
				return end
			}
			i += n
			end = i + 1
			continue
		}
		break
	}
	return end
}

// Remove deletes the member at path and returns the new text. If its line has nothing else, the line is
// removed too. Comments on lines above it stay. A missing member is an error.
func Remove(text []byte, path []string) ([]byte, error) {
	d, err := Parse(text)
	if err != nil {
		return nil, err
	}
	v := &d.root
	for i, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			break
		}
		at := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return Name(&m) == name })
		if at < 0 {
			break
		}
		if i == len(path)-1 {
			return d.apply(text, d.cut(o, at)...)
		}
		v = &o.Members[at].Value
	}
	return nil, fmt.Errorf("remove: there is no %s", strconv.Quote(Join("", path...)))
}

// cut returns the edits that delete the i-th member of o.
func (d *Document) cut(o *hujson.Object, i int) []splice {
	m, last := &o.Members[i], i == len(o.Members)-1
	from, to := m.Name.StartOffset, m.Value.EndOffset
	var edits []splice
	floor := 0 // where the previous member ends: nothing before it may be deleted
	switch {
	case !last || m.Value.AfterExtra != nil:
		to = comma(&m.Value) + 1
	case i > 0: // delete the comma before it, or it would be left over
		c := comma(&o.Members[i-1].Value)
		edits, floor = append(edits, splice{c, c + 1, ""}), c+1
	}
	indent, own := d.indentAt(from)
	after := bytes.TrimLeft(d.body[d.restOfLine(to):], " \t\r")
	switch {
	case own && (len(after) == 0 || after[0] == '\n'):
		from, to = from-len(indent), min(len(d.body)-len(after)+1, len(d.body))
	case !last:
		to = len(d.body) - len(bytes.TrimLeft(d.body[to:], " \t"))
	case i > 0:
		from = max(len(bytes.TrimRight(d.body[:from], " \t")), floor)
	}
	return append(edits, splice{from, to, ""})
}

// Rename gives the member at path another name in place and returns the new text. It is an error if the
// member is missing or its object already has a member of that name.
func Rename(text []byte, path []string, name string) ([]byte, error) {
	d, err := Parse(text)
	if err != nil {
		return nil, err
	}
	v := &d.root
	for i, old := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			break
		}
		m := Member(o, old)
		if m == nil {
			break
		}
		if i < len(path)-1 {
			v = &m.Value
			continue
		}
		if old == name {
			return bytes.Clone(text), nil
		}
		if Member(o, name) != nil {
			return nil, fmt.Errorf("rename: there is a %s already", strconv.Quote(Join("", append(slices.Clone(path[:i]), name)...)))
		}
		return d.apply(text, splice{m.Name.StartOffset, m.Name.EndOffset, string(quote(name))})
	}
	return nil, fmt.Errorf("rename: there is no %s", strconv.Quote(Join("", path...)))
}
