package output

import (
	"io"
	"strings"
)

// This file decides whether output has colours, and marks words with them.

// style is a way to highlight a word on a terminal.
type style string

const (
	plainStyle    style = ""
	goodStyle     style = "32"
	badStyle      style = "31"
	doubtfulStyle style = "33"
	boldStyle     style = "1"
)

// colours reports whether output to w may have colours: it may on a terminal, unless the person disables them
// (no-color.org).
func (o *Output) colours(w io.Writer) bool {
	return IsTerminal(w) && o.Env.Get("NO_COLOR") == "" && o.Env.Get("TERM") != "dumb"
}

// Painter highlights words if it is true.
type Painter bool

func (c Painter) paint(s style, text string) string {
	if !c || s == plainStyle || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Mark returns text, a mark at the start of a line or a word for an outcome, in its colour.
func (c Painter) Mark(text string) string { return c.paint(styleOf(text), text) }

// styleOf returns the style of a mark or of a word for an outcome; all other words are plain.
func styleOf(word string) style {
	switch strings.TrimSpace(word) {
	case "✓":
		return goodStyle
	case "✗", "failed", "FAIL":
		return badStyle
	case "!":
		return doubtfulStyle
	}
	return plainStyle
}

// Marked returns text with the marks at the starts of its lines in their colours.
func (c Painter) Marked(text string) string {
	if !c {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if mark, rest, ok := strings.Cut(line, " "); ok {
			lines[i] = c.Mark(mark) + " " + rest
		}
	}
	return strings.Join(lines, "")
}

// Painter returns the Painter for a stream.
func (o *Output) Painter(w io.Writer) Painter { return Painter(o.colours(w)) }
