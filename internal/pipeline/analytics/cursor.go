package analytics

// cursor moves through JSON that is known to be valid, without decoding or copying.
type cursor struct {
	raw []byte
	at  int
}

// skipSpace skips white space and returns the byte behind it, 0 at the end.
func (c *cursor) skipSpace() byte {
	for ; c.at < len(c.raw); c.at++ {
		switch b := c.raw[c.at]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// skipValue skips a value and returns it.
func (c *cursor) skipValue() []byte {
	first := c.skipSpace()
	from := c.at
	switch first {
	case '"':
		c.skipString()
	case '{', '[':
		for depth := 0; ; {
			switch c.raw[c.at] {
			case '"':
				c.skipString()
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

// skipString skips a string.
func (c *cursor) skipString() {
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

// nextEntry moves to the first entry of an object or array or, if begun, to the next entry. It reports whether
// there is one; if not, it moves past end, the closing bracket.
func (c *cursor) nextEntry(begun bool, end byte) bool {
	if c.skipSpace(); !begun {
		c.at++ // skip the bracket
	} else if c.raw[c.at] == ',' {
		c.at++
	}
	if c.skipSpace() == end {
		c.at++
		return false
	}
	return true
}

// readName skips a member's name and its colon, and returns the name with its quotes.
func (c *cursor) readName() []byte {
	name := c.skipValue()
	c.skipSpace()
	c.at++ // skip the colon
	return name
}
