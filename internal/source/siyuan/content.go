package siyuan

import (
	"unicode/utf8"

	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

// This file builds the MCP result from the JSON of an action.

// resultBuilder builds the MCP result from JSON in one pass. Text content is written as the JSON is read; the positions
// of the parts that stay are recorded, and structured content is then copied from there.
type resultBuilder struct {
	raw       []byte
	at        int    // raw is read up to here
	plain     int    // start of bytes that need no escaping and are not in text yet
	text      []byte // the result so far, as MCP text content
	partStart int    // start of the current part that stays
	keptSpans [][2]int
}

const (
	beforeText = `{"content":[{"type":"text","text":"`
	behindText = `"}],"structuredContent":`
)

// buildResult reads raw, valid JSON, and leaves out the members in out.
func buildResult(raw []byte, out *action.Members) *resultBuilder {
	c := &resultBuilder{raw: raw, text: append(make([]byte, 0, 2*len(raw)+len(raw)/8+96), beforeText...)}
	c.filterValue(out)
	c.skipSpace()
	c.at = len(raw)
	c.flush()
	c.keptSpans = append(c.keptSpans, [2]int{c.partStart, len(raw)})
	return c
}

// result returns the MCP result. Structured content must be an object, so any other value becomes a member of one.
func (c *resultBuilder) result() tool.Result {
	b := append(c.text, behindText...)
	if len(c.raw) > 0 && c.raw[0] == '{' {
		return tool.Result{Raw: append(c.appendKept(b), '}')}
	}
	return tool.Result{Raw: append(c.appendKept(append(b, `{"value":`...)), `}}`...)}
}

// appendKept appends the parts that stay.
func (c *resultBuilder) appendKept(b []byte) []byte {
	for _, k := range c.keptSpans {
		b = append(b, c.raw[k[0]:k[1]]...)
	}
	return b
}

// size returns the length of the parts that stay.
func (c *resultBuilder) size() (n int) {
	for _, k := range c.keptSpans {
		n += k[1] - k[0]
	}
	return n
}

// filterValue reads a value.
func (c *resultBuilder) filterValue(out *action.Members) {
	switch b := c.skipSpace(); {
	case b == '{' && out != nil:
		c.filterObject(out)
	case b == '[' && out.Items() != nil:
		c.filterList(out.Items())
	default:
		c.keepValue()
	}
}

// filterObject reads an object with members that are left out.
func (c *resultBuilder) filterObject(out *action.Members) {
	c.at++
	for first := true; ; {
		m := c.position()
		if c.skipSpace() == ',' {
			c.at++
			if first { // all members before it are left out
				c.leaveOut(m)
				m = c.position()
			}
		}
		if c.skipSpace() != '"' {
			c.at++ // the end of the object
			return
		}
		name := c.at + len(`"`)
		c.keepString()
		below := out.Member(c.raw[name : c.at-len(`"`)])
		c.skipSpace()
		c.at++ // the colon
		if below.IsLeftOut() {
			c.filterValue(nil)
			c.leaveOut(m)
		} else {
			c.filterValue(below)
			first = false
		}
	}
}

// filterList reads a list whose items have members that are left out.
func (c *resultBuilder) filterList(items *action.Members) {
	for c.at++; ; {
		switch c.skipSpace() {
		case ',':
			c.at++
		case ']', 0:
			c.at++
			return
		default:
			c.filterValue(items)
		}
	}
}

// keepValue reads a value that stays as a whole.
func (c *resultBuilder) keepValue() {
	for depth := 0; c.at < len(c.raw); {
		switch b := c.raw[c.at]; b {
		case '"':
			c.keepString()
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			depth--
			c.at++
		default: // part of a number, a word, or white space
			c.keepChar()
			if c.at < len(c.raw) && !isEnd(c.raw[c.at]) {
				continue
			}
		}
		if depth <= 0 {
			return
		}
	}
}

// isEnd reports whether b ends a number or a word.
func isEnd(b byte) bool { return b <= ' ' || b == ',' || b == ']' || b == '}' }

// keepString reads a string or a name.
func (c *resultBuilder) keepString() {
	c.writeInstead(`\"`, 1)
	for c.at < len(c.raw) {
		switch b := c.raw[c.at]; {
		case b == '"':
			c.writeInstead(`\"`, 1)
			return
		case b == '\\' && c.at+1 < len(c.raw) && (c.raw[c.at+1] == '"' || c.raw[c.at+1] == '\\'):
			c.writeInstead(`\\\`, 1)
			c.at++
		case b == '\\':
			c.writeInstead(`\\`, 1)
		default:
			c.keepChar()
		}
	}
}

// skipSpace skips white space and returns the next byte, 0 at the end.
func (c *resultBuilder) skipSpace() byte {
	for ; c.at < len(c.raw); c.keepChar() {
		if b := c.raw[c.at]; b > ' ' {
			return b
		}
	}
	return 0
}

// keepChar reads a character that is not a quotation mark or a backslash.
func (c *resultBuilder) keepChar() {
	switch b := c.raw[c.at]; {
	case b >= utf8.RuneSelf:
		switch r, n := utf8.DecodeRune(c.raw[c.at:]); {
		case r == utf8.RuneError && n == 1:
			c.writeInstead(`\ufffd`, 1)
		case r == '\u2028': // ends a line in JavaScript, though not in JSON
			c.writeInstead(`\u2028`, n)
		case r == '\u2029':
			c.writeInstead(`\u2029`, n)
		default:
			c.at += n
		}
	case b >= ' ':
		c.at++
	case b == '\n':
		c.writeInstead(`\n`, 1)
	case b == '\r':
		c.writeInstead(`\r`, 1)
	default: // valid JSON has no other such character
		c.writeInstead(`\t`, 1)
	}
}

// writeInstead writes text instead of the next n bytes.
func (c *resultBuilder) writeInstead(text string, n int) {
	c.flush()
	c.text = append(c.text, text...)
	c.at += n
	c.plain = c.at
}

// flush writes what was read and needs no escaping.
func (c *resultBuilder) flush() {
	c.text = append(c.text, c.raw[c.plain:min(c.at, len(c.raw))]...)
	c.plain = c.at
}

// position is a position of reading and writing.
type position struct{ read, written int }

func (c *resultBuilder) position() position {
	c.flush()
	return position{c.at, len(c.text)}
}

// leaveOut drops what was read since m.
func (c *resultBuilder) leaveOut(m position) {
	c.text, c.plain = c.text[:m.written], c.at
	if m.read > c.partStart {
		c.keptSpans = append(c.keptSpans, [2]int{c.partStart, m.read})
	}
	c.partStart = c.at
}
