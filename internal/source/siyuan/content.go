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
	i         int    // raw is read up to here
	plain     int    // start of bytes that need no escaping and are not in text yet
	text      []byte // the result so far
	from      int    // start of the current part that stays
	keptSpans [][2]int
}

const (
	beforeText = `{"content":[{"type":"text","text":"`
	behindText = `"}],"structuredContent":`
)

// buildResult reads raw, valid JSON, and leaves out the members in out.
func buildResult(raw []byte, out *action.Members) *resultBuilder {
	c := &resultBuilder{raw: raw, text: append(make([]byte, 0, 2*len(raw)+len(raw)/8+96), beforeText...)}
	c.value(out)
	c.next()
	c.i = len(raw)
	c.flush()
	c.keptSpans = append(c.keptSpans, [2]int{c.from, len(raw)})
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

// value reads a value.
func (c *resultBuilder) value(out *action.Members) {
	switch b := c.next(); {
	case b == '{' && out != nil:
		c.readObject(out)
	case b == '[' && out.Items() != nil:
		c.list(out.Items())
	default:
		c.readValue()
	}
}

// readObject reads an object with members that are left out.
func (c *resultBuilder) readObject(out *action.Members) {
	c.i++
	for first := true; ; {
		m := c.mark()
		if c.next() == ',' {
			c.i++
			if first { // all members before it are left out
				c.leaveOut(m)
				m = c.mark()
			}
		}
		if c.next() != '"' {
			c.i++ // the end of the object
			return
		}
		name := c.i + len(`"`)
		c.readString()
		below := out.Member(c.raw[name : c.i-len(`"`)])
		c.next()
		c.i++ // the colon
		if below.Out() {
			c.value(nil)
			c.leaveOut(m)
		} else {
			c.value(below)
			first = false
		}
	}
}

// list reads a list whose items have members that are left out.
func (c *resultBuilder) list(items *action.Members) {
	for c.i++; ; {
		switch c.next() {
		case ',':
			c.i++
		case ']', 0:
			c.i++
			return
		default:
			c.value(items)
		}
	}
}

// readValue reads a value that stays as a whole.
func (c *resultBuilder) readValue() {
	for depth := 0; c.i < len(c.raw); {
		switch b := c.raw[c.i]; b {
		case '"':
			c.readString()
		case '{', '[':
			depth++
			c.i++
		case '}', ']':
			depth--
			c.i++
		default: // part of a number, a word, or white space
			c.readByte()
			if c.i < len(c.raw) && !isEnd(c.raw[c.i]) {
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

// readString reads a string or a name.
func (c *resultBuilder) readString() {
	c.escape(`\"`, 1)
	for c.i < len(c.raw) {
		switch b := c.raw[c.i]; {
		case b == '"':
			c.escape(`\"`, 1)
			return
		case b == '\\' && c.i+1 < len(c.raw) && (c.raw[c.i+1] == '"' || c.raw[c.i+1] == '\\'):
			c.escape(`\\\`, 1)
			c.i++
		case b == '\\':
			c.escape(`\\`, 1)
		default:
			c.readByte()
		}
	}
}

// next skips white space and returns the next byte, 0 at the end.
func (c *resultBuilder) next() byte {
	for ; c.i < len(c.raw); c.readByte() {
		if b := c.raw[c.i]; b > ' ' {
			return b
		}
	}
	return 0
}

// readByte reads a character that is not a quotation mark or a backslash.
func (c *resultBuilder) readByte() {
	switch b := c.raw[c.i]; {
	case b >= utf8.RuneSelf:
		switch r, n := utf8.DecodeRune(c.raw[c.i:]); {
		case r == utf8.RuneError && n == 1:
			c.escape(`\ufffd`, 1)
		case r == '\u2028': // ends a line in JavaScript, though not in JSON
			c.escape(`\u2028`, n)
		case r == '\u2029':
			c.escape(`\u2029`, n)
		default:
			c.i += n
		}
	case b >= ' ':
		c.i++
	case b == '\n':
		c.escape(`\n`, 1)
	case b == '\r':
		c.escape(`\r`, 1)
	default: // valid JSON has no other such character
		c.escape(`\t`, 1)
	}
}

// escape writes text instead of the next n bytes.
func (c *resultBuilder) escape(text string, n int) {
	c.flush()
	c.text = append(c.text, text...)
	c.i += n
	c.plain = c.i
}

// flush writes what was read and needs no escaping.
func (c *resultBuilder) flush() {
	c.text = append(c.text, c.raw[c.plain:min(c.i, len(c.raw))]...)
	c.plain = c.i
}

// position is a position of reading and writing.
type position struct{ read, written int }

func (c *resultBuilder) mark() position {
	c.flush()
	return position{c.i, len(c.text)}
}

// leaveOut drops what was read since m.
func (c *resultBuilder) leaveOut(m position) {
	c.text, c.plain = c.text[:m.written], c.i
	if m.read > c.from {
		c.keptSpans = append(c.keptSpans, [2]int{c.from, m.read})
	}
	c.from = c.i
}
