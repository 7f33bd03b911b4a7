// Package jsonc reads JSON files that people write, and edits them without disturbing comments, trailing
// commas, order or white space.
//
// [Parse] returns the tree, the position of every value and the names that occur twice. [Set], [Remove] and
// [Rename] return new text in which every byte outside the edit is unchanged. [Plain] turns such a text into
// standard JSON. The meaning of the values is up to the caller.
package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxDepth is how deep objects and arrays may be nested. The caller limits the size of a text.
const maxDepth = 64

// Error is a text that cannot be read, with the place where it goes wrong.
type Error struct {
	Line, Column int // from 1; a column counts characters
	Message      string
}

// Error reads "line:column: message".
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// Document is a text and its tree. It is immutable. Offsets in the tree do not count a byte order mark;
// [Document.Position] takes that into account.
type Document struct {
	body []byte // without byte order mark, with a final line break
	size int    // length of body as it was read
	bom  int    // length of the byte order mark
	root hujson.Value
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads a text of UTF-8, with or without byte order mark. A text of white space alone is
// an empty object. The error is an [*Error].
func Parse(text []byte) (*Document, error) {
	d := &Document{body: bytes.TrimPrefix(text, byteOrderMark)}
	d.size, d.bom = len(d.body), len(text)-len(d.body)
	if err := d.check(); err != nil {
		return nil, err
	}
	if d.blank() {
		d.root = hujson.Value{Value: &hujson.Object{}}
		return d, nil
	}
	// The parser requires a line break after a line comment at the very end.
	if d.body[len(d.body)-1] != '\n' {
		d.body = append(bytes.Clone(d.body), '\n')
	}
	root, err := hujson.Parse(d.body)
	if err != nil {
		return nil, d.syntax(err)
	}
	d.root = root
	return d, nil
}

// Root returns the tree. The caller must not change it.
func (d *Document) Root() *hujson.Value { return &d.root }

// blank reports whether the text holds nothing but white space.
func (d *Document) blank() bool { return len(bytes.TrimSpace(d.body)) == 0 }

// Position returns line and column, from 1, of an offset in the tree. A column counts
// characters, as editors do.
func (d *Document) Position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(d.body))
	before := d.body[:offset]
	line = 1 + bytes.Count(before, []byte{'\n'})
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// check verifies what must hold before the parser runs: the parser recurses, so nesting is bounded here.
func (d *Document) check() error {
	if bytes.HasPrefix(d.body, []byte("\xff\xfe")) || bytes.HasPrefix(d.body, []byte("\xfe\xff")) {
		return d.errorAt(0, "the file is UTF-16; save it as UTF-8")
	}
	for i := 0; i < len(d.body); {
		r, n := utf8.DecodeRune(d.body[i:])
		if r == utf8.RuneError && n == 1 {
			return d.errorAt(i, "the file is not UTF-8 here; save it as UTF-8")
		}
		i += n
	}
	if at := tooDeep(d.body, maxDepth); at >= 0 {
		return d.errorAt(at, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	return nil
}

// tooDeep returns the offset where the nesting first exceeds most, or -1. It skips strings and comments. For
// text that is not JSON the count may be too high, but it is never lower than the depth to which the parser
// would recurse.
func tooDeep(b []byte, most int) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > most {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			i += commentLength(b[i:])
		}
	}
	return -1
}

// commentLength returns how many bytes to skip to reach the last byte of the comment that b starts with; 0 if
// b does not start with a comment.
func commentLength(b []byte) int {
	end := []byte("\n")
	switch {
	case bytes.HasPrefix(b, []byte("/*")):
		end = []byte("*/")
	case !bytes.HasPrefix(b, []byte("//")):
		return 0
	}
	n := bytes.Index(b[2:], end)
	if n < 0 {
		return len(b) - 1
	}
	return 2 + n + len(end) - 1
}

func (d *Document) errorAt(offset int, message string) *Error {
	line, column := d.Position(offset)
	return &Error{Line: line, Column: column, Message: message}
}

// syntax converts an error of the parser, whose columns count bytes, into an [*Error].
func (d *Document) syntax(err error) *Error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return d.errorAt(0, err.Error())
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	start := 0
	for range line - 1 {
		start += bytes.IndexByte(d.body[start:], '\n') + 1
	}
	return d.errorAt(start+column-1, err.Error())
}
