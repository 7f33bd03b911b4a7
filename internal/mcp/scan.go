package mcp

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
)

// This file checks JSON and finds members in it, without building values.

// maxDepth is how deep arrays and objects may nest on the wire.
const maxDepth = 1000

// syntaxError says where a text stops being JSON that this package accepts.
type syntaxError struct {
	Offset  int // in bytes, from 0
	Message string
}

// Error reads "invalid JSON at byte 12: message".
func (e *syntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Message)
}

func newSyntaxError(at int, msg string) error { return &syntaxError{Offset: at, Message: msg} }

// checkJSON returns an error unless b is exactly one JSON value of an allowed depth, with only white space
// around it.
func checkJSON(b []byte) error {
	i, err := skipValue(b, skipSpace(b, 0), maxDepth)
	if err != nil {
		return err
	}
	if i = skipSpace(b, i); i != len(b) {
		return newSyntaxError(i, "text after the end of the value")
	}
	return nil
}

// skipSpace returns the index of the first byte from i on that is not white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the index after the JSON value that begins at i. It accepts exactly RFC 8259, nested at
// most depth levels deep, but does not check UTF-8.
func skipValue(b []byte, i, depth int) (int, error) {
	if i >= len(b) {
		return i, newSyntaxError(i, "unexpected end")
	}
	switch c := b[i]; c {
	case '{':
		it := members{b: b, i: i, depth: depth}
		for it.next() {
			if it.end, it.err = skipValue(b, it.start, depth-1); it.err != nil {
				return i, it.err
			}
		}
		return it.i, it.err
	case '[':
		return skipArray(b, i, depth)
	case '"':
		return skipString(b, i)
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return skipNumber(b, i)
		}
		return i, newSyntaxError(i, "expected a value")
	}
}

// members iterates over the members of the object that begins at i. After next has returned true, key is the
// member's raw name and start the index of its value. Before the next call of next, the caller skips the
// value and stores its end in end.
type members struct {
	b          []byte
	i, depth   int
	key        []byte
	start, end int
	err        error
	begun      bool
}

// newMembers returns the members of the object obj, which is valid JSON. The limit of its depth only bounds the recursion: it is
// above what a message may have, so that an object around a whole message is read too.
func newMembers(obj []byte) members {
	return members{b: obj, i: skipSpace(obj, 0), depth: maxDepth + 1}
}

// fail ends the iteration with a syntax error at byte at. It returns false, for next to return.
func (m *members) fail(at int, msg string) bool {
	m.i, m.err = at, newSyntaxError(at, msg)
	return false
}

// next moves to the next member. It returns false at the end of the object, where m.i is the index after it, and on a
// syntax error, which is in m.err.
func (m *members) next() bool {
	b := m.b
	if m.begun {
		m.i = skipSpace(b, m.end)
		if m.i < len(b) && b[m.i] == '}' {
			m.i++
			return false
		}
		if m.i >= len(b) || b[m.i] != ',' {
			return m.fail(m.i, "expected , or } in an object")
		}
		m.i = skipSpace(b, m.i+1)
	} else {
		if m.depth <= 0 {
			return m.fail(m.i, fmt.Sprintf("nested deeper than %d", maxDepth))
		}
		m.begun = true
		m.i = skipSpace(b, m.i+1)
		if m.i < len(b) && b[m.i] == '}' {
			m.i++
			return false
		}
	}
	if m.i >= len(b) || b[m.i] != '"' {
		return m.fail(m.i, "expected a member name in quotes")
	}
	e, err := skipString(b, m.i)
	if err != nil {
		m.err = err
		return false
	}
	m.key = b[m.i+1 : e-1]
	if m.i = skipSpace(b, e); m.i >= len(b) || b[m.i] != ':' {
		return m.fail(m.i, "expected : after a member name")
	}
	m.start = skipSpace(b, m.i+1)
	return true
}

// skip skips the current member's value.
func (m *members) skip() bool {
	m.end, m.err = skipValue(m.b, m.start, m.depth-1)
	return m.err == nil
}

// isNamed reports whether the current member's name is name, after decoding escapes.
func (m *members) isNamed(name string) bool {
	if string(m.key) == name {
		return true
	}
	if slices.Contains(m.key, '\\') {
		return m.name() == name
	}
	return false
}

// name returns the current member's decoded name.
func (m *members) name() string {
	var s string
	if json.Unmarshal(m.b[keyStart(m):keyStart(m)+len(m.key)+2], &s) != nil {
		return string(m.key)
	}
	return s
}

// keyStart returns the index of the quote with which the current member's name begins.
func keyStart(m *members) int {
	i := m.i - 1 // the last byte before the colon
	for m.b[i] != '"' {
		i--
	}
	return i - len(m.key) - 1
}

// skipArray returns the index after the array that begins at i; see skipValue.
func skipArray(b []byte, i, depth int) (int, error) {
	if depth <= 0 {
		return i, newSyntaxError(i, fmt.Sprintf("nested deeper than %d", maxDepth))
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = skipValue(b, i, depth-1); err != nil {
			return i, err
		}
		i = skipSpace(b, i)
		if i < len(b) && b[i] == ']' {
			return i + 1, nil
		}
		if i >= len(b) || b[i] != ',' {
			return i, newSyntaxError(i, "expected , or ] in an array")
		}
		i = skipSpace(b, i+1)
	}
}

// The lowest and the highest bit of each of eight bytes.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// skipString returns the index after the string that begins at start. It scans eight bytes at a time, because results of
// many megabytes are mostly one string, for a quote, a backslash or a control character: (b-1)&^b has its highest bit set
// for a byte that is 0, and the highest bits of hit say which of the eight bytes is one of these.
func skipString(b []byte, start int) (int, error) {
	i := start + 1
	for {
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			q := x ^ (lowBits * '"')
			s := x ^ (lowBits * '\\')
			hit := ((q - lowBits) &^ q) | ((s - lowBits) &^ s) | ((x - lowBits*0x20) &^ x)
			if hit &= highBits; hit != 0 {
				i += bits.TrailingZeros64(hit) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return i, newSyntaxError(start, "string without an end")
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			n := escapeLength(b[i:])
			if n == 0 {
				return i, newSyntaxError(i, "invalid escape in a string")
			}
			i += n
		case c < 0x20:
			return i, newSyntaxError(i, "control character in a string")
		default:
			i++
		}
	}
}

// escapeLength returns the length of the escape sequence at the start of b, 0 if there is none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// skipWord returns the index after word, which has to begin at i.
func skipWord(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, newSyntaxError(i, "expected "+word)
	}
	return i + len(word), nil
}

// skipNumber returns the index after the number that begins at i.
func skipNumber(b []byte, i int) (int, error) {
	start := i
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = skipDigits(b, i)
	default:
		return i, newSyntaxError(start, "invalid number")
	}
	if i < len(b) && b[i] == '.' {
		n := skipDigits(b, i+1)
		if n == i+1 {
			return i, newSyntaxError(start, "invalid number")
		}
		i = n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := skipDigits(b, i)
		if n == i {
			return i, newSyntaxError(start, "invalid number")
		}
		i = n
	}
	return i, nil
}

// skipDigits returns the index of the first byte from i on that is not a digit.
func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
