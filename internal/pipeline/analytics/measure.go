package analytics

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Chars is the length of a text in UTF-16 units, in which other programs count. A byte that is
// not UTF-8 counts as one.
func Chars(text []byte) int {
	n := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			n++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		n += unitsOf(r)
	}
	return n
}

// quotedChars is the length of a valid JSON string, in UTF-16 units of what it stands for.
func quotedChars(quoted []byte) int {
	n := 0
	for i := 1; i < len(quoted)-1; {
		switch c := quoted[i]; {
		case c == '\\' && quoted[i+1] == 'u':
			i += 6 // an escape of this kind is one unit, and a pair of them two
			n++
		case c == '\\':
			i += 2
			n++
		case c < utf8.RuneSelf:
			i++
			n++
		default:
			r, size := utf8.DecodeRune(quoted[i:])
			i += size
			n += unitsOf(r)
		}
	}
	return n
}

func unitsOf(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

var errNoObject = errors.New("no object")

// reading is what a model reads of a result.
type reading struct {
	raw   []byte   // the result
	texts [][]byte // JSON strings, parts of the result
	other []byte   // JSON, a part of the result, where it has no text
}

// read finds what a model reads in the MCP result raw. What is no such result is read as it is.
func read(raw []byte) reading {
	if len(raw) == 0 {
		return reading{}
	}
	if json.Valid(raw) {
		return readValid(raw)
	}
	return readAny(raw)
}

// readValid is [readAny] for what is valid JSON, which nearly all results are, at a fifth of its cost.
func readValid(raw []byte) reading {
	c := cursor{raw: raw}
	if c.peek() != '{' {
		return reading{other: raw}
	}
	r := reading{raw: raw}
	var structured []byte
	for begun := false; c.more(begun, '}'); begun = true {
		switch name := c.name(); {
		case string(name) == `"content"` && c.peek() == '[':
			for begun := false; c.more(begun, ']'); begun = true {
				r.itemAt(&c)
			}
		case string(name) == `"structuredContent"`:
			structured = c.value()
		default:
			c.value()
		}
	}
	if len(r.texts) == 0 {
		r.other = structured
	}
	return r
}

// itemAt reads one item of content, or the resource in one.
func (r *reading) itemAt(c *cursor) {
	if c.peek() != '{' {
		c.value()
		return
	}
	for begun := false; c.more(begun, '}'); begun = true {
		switch name := c.name(); {
		case string(name) == `"text"` && c.peek() == '"':
			r.texts = append(r.texts, c.value())
		case string(name) == `"resource"`:
			r.itemAt(c)
		default:
			c.value()
		}
	}
}

// readAny reads as far as a result can be read, and takes it as it is where it cannot.
func readAny(raw []byte) reading {
	raw = raw[:len(raw):len(raw)]
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	r := reading{raw: raw}
	var structured []byte
	err := members(d, func(name []byte) error {
		switch string(name) {
		case "content":
			return r.content(d)
		case "structuredContent":
			v, err := r.value(d)
			structured = v
			return err
		}
		return d.SkipValue()
	})
	switch {
	case err != nil:
		return reading{other: raw}
	case len(r.texts) == 0:
		r.other = structured
	}
	return r
}

// content reads the list of content.
func (r *reading) content(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if err := r.item(d); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// item reads one item of content, or the resource in one.
func (r *reading) item(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	return members(d, func(name []byte) error {
		switch {
		case string(name) == "text" && d.PeekKind() == '"':
			v, err := r.value(d)
			r.texts = append(r.texts, v)
			return err
		case string(name) == "resource":
			return r.item(d)
		}
		return d.SkipValue()
	})
}

// value reads a value and returns it as a part of the result, which stays.
func (r *reading) value(d *jsontext.Decoder) ([]byte, error) {
	v, err := d.ReadValue()
	end := d.InputOffset()
	return r.raw[end-int64(len(v)) : end], err
}

// members reads an object; f reads the value of each member.
func members(d *jsontext.Decoder, f func(name []byte) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if kind, _ := d.StackIndex(d.StackDepth()); kind != '{' {
		return errNoObject
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := f(bytes.Trim(name, `"`)); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// chars is the length of what is read, texts joined by line breaks.
func (r *reading) chars() int {
	n := max(0, len(r.texts)-1) + Chars(r.other)
	for _, t := range r.texts {
		n += quotedChars(t)
	}
	return n
}

// bytes is about how much memory text takes.
func (r *reading) bytes() int {
	n := len(r.other)
	for _, t := range r.texts {
		n += len(t)
	}
	return n
}

// text is what is read, texts joined by line breaks.
func (r *reading) text() string {
	out := bytes.Clone(r.other)
	for i, t := range r.texts {
		if i > 0 {
			out = append(out, '\n')
		}
		out, _ = jsontext.AppendUnquote(out, t) // what is not UTF-8 is replaced
	}
	return string(out)
}
