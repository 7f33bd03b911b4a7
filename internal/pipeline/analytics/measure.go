package analytics

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// unitsIn is the length of a text in UTF-16 units, in which other programs count. A byte that is
// not UTF-8 counts as one.
func unitsIn(text []byte) int {
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

// reading is what a model reads of a result.
type reading struct {
	texts [][]byte // JSON strings, parts of the result
	other []byte   // JSON, a part of the result, where it has no text
}

// read finds what a model reads in the MCP result raw. What is not such a result is read as it is.
func read(raw []byte) reading {
	if len(raw) == 0 {
		return reading{}
	}
	c := cursor{raw: raw}
	if !json.Valid(raw) || c.peek() != '{' {
		return reading{other: raw}
	}
	var r reading
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

// chars is the length of what is read, texts joined by line breaks.
func (r *reading) chars() int {
	n := max(0, len(r.texts)-1) + unitsIn(r.other)
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
