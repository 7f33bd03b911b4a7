package analytics

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This file measures the part of a result that a model reads.

// unitsIn returns the length of a text in UTF-16 units, the unit that other programs count in. An invalid
// byte counts as one.
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

// quotedChars returns the length, in UTF-16 units, of the text that a valid JSON string encodes.
func quotedChars(quoted []byte) int {
	n := 0
	for i := 1; i < len(quoted)-1; {
		switch c := quoted[i]; {
		case c == '\\' && quoted[i+1] == 'u':
			i += 6 // one \u escape is one unit; a surrogate pair is two
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

// unitsOf returns how many UTF-16 units a rune takes: two beyond the basic plane.
func unitsOf(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// resultParts holds the parts of a result that a model reads.
type resultParts struct {
	texts [][]byte // JSON strings; slices of the result
	other []byte   // JSON; a slice of the result, used if that has no text
}

// readParts finds the parts of the MCP result raw that a model reads. If raw is not an MCP result, that is the
// whole text.
func readParts(raw []byte) resultParts {
	if len(raw) == 0 {
		return resultParts{}
	}
	c := cursor{raw: raw}
	if !json.Valid(raw) || c.skipSpace() != '{' {
		return resultParts{other: raw}
	}
	var r resultParts
	var structured []byte
	for begun := false; c.nextEntry(begun, '}'); begun = true {
		switch name := c.readName(); {
		case string(name) == `"content"` && c.skipSpace() == '[':
			for begun := false; c.nextEntry(begun, ']'); begun = true {
				r.addItem(&c)
			}
		case string(name) == `"structuredContent"`:
			structured = c.skipValue()
		default:
			c.skipValue()
		}
	}
	if len(r.texts) == 0 {
		r.other = structured
	}
	return r
}

// addItem reads one item of content, or the resource in it, and adds its text.
func (r *resultParts) addItem(c *cursor) {
	if c.skipSpace() != '{' {
		c.skipValue()
		return
	}
	for begun := false; c.nextEntry(begun, '}'); begun = true {
		switch name := c.readName(); {
		case string(name) == `"text"` && c.skipSpace() == '"':
			r.texts = append(r.texts, c.skipValue())
		case string(name) == `"resource"`:
			r.addItem(c)
		default:
			c.skipValue()
		}
	}
}

// chars returns the length in UTF-16 units, with the texts joined by line breaks.
func (r *resultParts) chars() int {
	n := max(0, len(r.texts)-1) + unitsIn(r.other)
	for _, t := range r.texts {
		n += quotedChars(t)
	}
	return n
}

// bytes returns about how much memory text needs.
func (r *resultParts) bytes() int {
	n := len(r.other)
	for _, t := range r.texts {
		n += len(t)
	}
	return n
}

// text returns the texts joined by line breaks.
func (r *resultParts) text() string {
	out := bytes.Clone(r.other)
	for i, t := range r.texts {
		if i > 0 {
			out = append(out, '\n')
		}
		out, _ = jsontext.AppendUnquote(out, t) // invalid UTF-8 is replaced
	}
	return string(out)
}
