package analytics

// cursor moves through JSON that is known to be valid, without decoding or copying.
type cursor struct {
	raw []byte
	at  int
}

// peek returns the next byte that is not white space, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.at < len(c.raw); c.at++ {
		switch b := c.raw[c.at]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// value skips a value and returns it.
func (c *cursor) value() []byte {
	first := c.peek()
	from := c.at
	switch first {
	case '"':
		c.text()
	case '{', '[':
		for depth := 0; ; {
			switch c.raw[c.at] {
			case '"':
				c.text()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if c.at++; depth == 0 {
				return c.raw[from:c.at]
			}
		}
	default:
		for c.at < len(c.raw) && !endsScalar(c.raw[c.at]) {
			c.at++
		}
	}
	return c.raw[from:c.at]
}

// text skips a string.
func (c *cursor) text() {
	for c.at++; c.raw[c.at] != '"'; c.at++ {
		if c.raw[c.at] == '\\' {
			c.at++
		}
	}
	c.at++
}

func endsScalar(b byte) bool {
	switch b {
	case ',', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// more moves to the first entry of an object or array or, if begun, to the next entry. It reports whether
// there is one.
func (c *cursor) more(begun bool, end byte) bool {
	if c.peek(); !begun {
		c.at++ // skip the bracket
	} else if c.raw[c.at] == ',' {
		c.at++
	}
	if c.peek() == end {
		c.at++
		return false
	}
	return true
}

// name skips a member's name and its colon, and returns the name with its quotes.
func (c *cursor) name() []byte {
	name := c.value()
	c.peek()
	c.at++ // skip the colon
	return name
}
