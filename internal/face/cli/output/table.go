package output

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"collie/internal/face/cli/locale"
)

// This file lays out tables for a terminal of any width.

// columns measures text as terminals show it: a Chinese character takes two columns. It ignores the
// environment's setting for ambiguous characters, so that a table looks the same everywhere.
var columns = &runewidth.Condition{}

// Width returns how many columns a text takes.
func Width(text string) int { return columns.StringWidth(text) }

// Truncate cuts a text to a number of columns and marks the cut with "…".
func Truncate(text string, width int) string { return columns.Truncate(text, width, "…") }

// minLast is the minimum width of the last column on a narrow terminal.
const minLast = 16

// Table writes rows under a head to stdout in aligned columns. Line breaks in cells become spaces. If the
// terminal is too narrow, the widest columns are cut, the last one too. If head is nil, the first cell of
// each row is its title. Titles of columns and rows are translated. Without rows it writes nothing.
func (o *Output) Table(head []string, rows [][]string) error {
	return o.writeTable(tableLayout{}, head, rows)
}

// TableWhole is like Table, but wraps the last column instead of cutting it.
func (o *Output) TableWhole(head []string, rows [][]string) error {
	return o.writeTable(tableLayout{wrapLast: true}, head, rows)
}

func (o *Output) writeTable(l tableLayout, head []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	l.Painter, l.width, l.keepWhole = o.Painter(o.Out), TerminalWidth(o.Out), uncutColumns(head)
	l.labels = head == nil
	_, err := io.WriteString(o.Out, l.text(head, rows))
	return err
}

// LayOut returns the text of a table without colours. width 0 means that nothing is cut.
func LayOut(head []string, rows [][]string, width int) string {
	return tableLayout{width: width, keepWhole: uncutColumns(head)}.text(head, rows)
}

// tableLayout says how to format a table.
type tableLayout struct {
	Painter
	width     int    // of the terminal; 0 cuts nothing
	wrapLast  bool   // wrap the last column instead of cutting it
	keepWhole []bool // the columns to cut last
	// labels says that the first column holds the rows' titles, which are translated.
	labels bool
}

// text returns the lines of the table.
func (l tableLayout) text(head []string, rows [][]string) string {
	all := rows
	if head != nil {
		titles := make([]string, len(head))
		for i, title := range head {
			titles[i] = locale.T(title)
		}
		all = append([][]string{titles}, rows...)
	}
	cells := make([][]string, len(all))
	var widths []int
	for i, row := range all {
		cells[i] = make([]string, len(row))
		for j, cell := range row {
			if j == 0 && l.labels {
				cell = locale.T(cell)
			}
			cells[i][j] = OneLine(cell)
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], Width(cells[i][j]))
		}
	}
	narrowColumns(widths, l.width, l.keepWhole)
	var b strings.Builder
	for i, row := range cells {
		b.WriteString(l.row(row, widths, head != nil && i == 0) + "\n")
	}
	return b.String()
}

// Gap separates the columns of a table.
const Gap = "  "

// minColumn is the width to which a column may be cut. leastColumn is that for a column whose cells are input
// for another command, or part of it.
const (
	minColumn   = 8
	leastColumn = 4
)

// uncutTitles are the titles of columns that should not be cut, because their cells are input for another
// command, or because the end of the text matters, as in a time.
var uncutTitles = []string{"TIME", "ID", "REQUEST", "ROW", "CODE", "NAME", "CLIENT", "SERVER", "TOOL", "NOTEBOOK"}

// uncutColumns returns for each column whether its title is one of uncutTitles.
func uncutColumns(head []string) []bool {
	out := make([]bool, len(head))
	for j, title := range head {
		out[j] = slices.Contains(uncutTitles, strings.TrimSpace(title))
	}
	return out
}

// narrowColumns makes the widest columns narrower until the last one has some room. Columns marked in kept are cut
// only if nothing else is left to cut: first it cuts the others to minColumn, then to leastColumn, and then all columns.
func narrowColumns(widths []int, width int, kept []bool) {
	if width <= 0 || len(widths) < 2 {
		return
	}
	if shrinkColumns(widths, width, minColumn, minLast, kept) || !slices.Contains(kept, true) {
		return
	}
	if !shrinkColumns(widths, width, leastColumn, minColumn, kept) {
		shrinkColumns(widths, width, minColumn, minColumn, nil)
	}
}

// shrinkColumns is like [narrowColumns] with minimum widths for the columns and for the last one. It returns false if that
// is not enough.
func shrinkColumns(widths []int, width, least, leastLast int, kept []bool) bool {
	first, last := widths[:len(widths)-1], widths[len(widths)-1]
	for {
		used, widest := min(leastLast, last), -1
		for j, w := range first {
			if w > 0 {
				used += w + len(Gap)
			}
			if (j >= len(kept) || !kept[j]) && (widest < 0 || w > first[widest]) {
				widest = j
			}
		}
		if used <= width {
			return true
		}
		if widest < 0 || first[widest] <= least {
			return false
		}
		first[widest]-- // cut the widest column until another one is as wide
	}
}

// Rows returns a function that formats single rows as they come, in columns of at most these widths. head names the
// columns but is not part of the output.
func (o *Output) Rows(head []string, widths []int) (line func(row []string) string) {
	return tableLayout{Painter: o.Painter(o.Out), width: TerminalWidth(o.Out)}.rows(head, widths)
}

func (l tableLayout) rows(head []string, widths []int) (line func(row []string) string) {
	widths = slices.Clone(widths)
	narrowColumns(widths, l.width, uncutColumns(head))
	return func(row []string) string {
		for i, cell := range row {
			row[i] = OneLine(cell)
			if i < len(row)-1 {
				row[i] = Truncate(row[i], widths[i])
			}
		}
		return l.row(row, widths, false)
	}
}

// row formats one row in columns of these widths.
func (l tableLayout) row(row []string, widths []int, head bool) string {
	var b strings.Builder
	used := 0
	for j, cell := range row {
		if widths[j] == 0 {
			continue // an empty column
		}
		left := max(l.width-used, min(minColumn, widths[j]))
		switch {
		case j < len(widths)-1:
			cell = Truncate(cell, widths[j])
		case l.width > 0 && l.wrapLast:
			cell = strings.Join(wrapText(cell, left), "\n"+strings.Repeat(" ", used))
		case l.width > 0:
			cell = Truncate(cell, left)
		}
		wide := Width(cell)
		if head {
			cell = l.paint(boldStyle, cell)
		} else {
			cell = l.Mark(cell)
		}
		b.WriteString(cell)
		if j < len(row)-1 {
			b.WriteString(strings.Repeat(" ", max(0, widths[j]-wide)) + Gap)
			used += widths[j] + len(Gap)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// OneLine returns a text for a table cell: on one line, without characters that a terminal would obey.
func OneLine(s string) string {
	if !strings.ContainsFunc(s, IsControl) {
		return s
	}
	return Harmless(strings.Join(strings.Fields(s), " "))
}

// Harmless replaces control characters by visible ones, because a server's text must not be able to rewrite
// the screen. Line breaks and tabs stay.
func Harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, s)
}

// IsControl reports whether r is a control character of ASCII or Latin-1, or changes the direction of text.
func IsControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// TerminalWidth returns the width of the terminal w, 0 if w is not a terminal.
func TerminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
