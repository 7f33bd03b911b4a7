package cli

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
func (p *program) colours(w io.Writer) bool {
	return terminal(w) && p.env.Get("NO_COLOR") == "" && p.env.Get("TERM") != "dumb"
}

// painter makes words stand out, where colours are wanted.
type painter bool

func (c painter) paint(s style, text string) string {
	if !c || s == plainStyle || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// mark is a mark before a line, or a word that says how something ended, in its colour.
func (c painter) mark(text string) string { return c.paint(styleOf(text), text) }

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

// marked is text, of which each line may begin with a mark, in colours.
func (c painter) marked(text string) string {
	if !c {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if mark, rest, ok := strings.Cut(line, " "); ok {
			lines[i] = c.mark(mark) + " " + rest
		}
	}
	return strings.Join(lines, "")
}

// painter is that of a stream.
func (p *program) painter(w io.Writer) painter { return painter(p.colours(w)) }
