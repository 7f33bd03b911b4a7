package cli

import (
	"io"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// columns measures text as terminals show it: a Chinese character takes two columns. What
// the environment says of ambiguous characters is left out, so that a table looks the same
// everywhere.
var columns = &runewidth.Condition{}

// minLast is what a table leaves of its last column on a narrow terminal.
const minLast = 16

// table writes rows under a head to stdout, in aligned columns. Line breaks in a cell
// become spaces. The last column is cut to the width of the terminal, where stdout is one.
// A head of nil writes rows alone.
func (p *program) table(head []string, rows [][]string) error {
	_, err := io.WriteString(p.out, layOut(head, rows, terminalWidth(p.out)))
	return err
}

// layOut returns the text of a table. A width of 0 cuts nothing.
func layOut(head []string, rows [][]string, width int) string {
	all := rows
	if head != nil {
		all = append([][]string{head}, rows...)
	}
	cells := make([][]string, len(all))
	var widths []int
	for i, row := range all {
		cells[i] = make([]string, len(row))
		for j, cell := range row {
			cells[i][j] = oneLine(cell)
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], columns.StringWidth(cells[i][j]))
		}
	}
	var b strings.Builder
	for _, row := range cells {
		b.WriteString(layOutRow(row, widths, width) + "\n")
	}
	return b.String()
}

const gap = "  "

func layOutRow(row []string, widths []int, width int) string {
	var b strings.Builder
	used := 0
	for j, cell := range row {
		if widths[j] == 0 {
			continue // a column without a word
		}
		if j == len(widths)-1 && width > 0 {
			cell = columns.Truncate(cell, max(width-used, minLast), "…")
		}
		b.WriteString(cell)
		if j < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[j]-columns.StringWidth(cell)) + gap)
			used += widths[j] + len(gap)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// oneLine makes a cell of any text: one line, and nothing that a terminal would obey.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	return harmless(strings.Join(strings.Fields(s), " "))
}

// harmless shows control characters instead of having a terminal obey them: what a server
// says must not be able to rewrite the screen. Line breaks and tabs stay.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, s)
}

// isControl covers the control characters of ASCII and Latin-1, and those that turn the
// direction of text.
func isControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) //nolint:gosec // a descriptor is small
}

// terminalWidth is the width of the terminal that w is, 0 if it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd())) //nolint:gosec // a descriptor is small
	if err != nil {
		return 0
	}
	return width
}
