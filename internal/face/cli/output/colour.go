package output

import (
	"io"
	"strings"
)

// style is how a word stands out at a terminal.
type style string

const (
	plainStyle style = ""
	good       style = "32"
	bad        style = "31"
	doubtful   style = "33"
	bold       style = "1"
)

// colours reports whether what is written to w may have colours: a terminal has them, unless the
// person says otherwise (no-color.org).
func (o *Output) colours(w io.Writer) bool {
	return IsTerminal(w) && o.Env.Get("NO_COLOR") == "" && o.Env.Get("TERM") != "dumb"
}

// Painter makes words stand out, where colours are wanted.
type Painter bool

func (c Painter) paint(s style, text string) string {
	if !c || s == plainStyle || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Mark is a mark before a line, or a word that says how something ended, in its colour.
func (c Painter) Mark(text string) string { return c.paint(styleOf(text), text) }

func styleOf(word string) style {
	switch strings.TrimSpace(word) {
	case "✓":
		return good
	case "✗", "failed", "FAIL":
		return bad
	case "!":
		return doubtful
	}
	return plainStyle
}

// Marked is text, of which each line may begin with a mark, in colours.
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

// Painter is that of a stream.
func (o *Output) Painter(w io.Writer) Painter { return Painter(o.colours(w)) }
