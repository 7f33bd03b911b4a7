package markup

import (
	"strings"

	"github.com/88250/lute/ast"
)

// This file writes tables, and splits their rows when they are read.

// countColumns returns the number of columns of a table.
func countColumns(table *ast.Node) int {
	count := 0
	if row := table.FirstChild.FirstChild; row != nil {
		for cell := row.FirstChild; cell != nil; cell = cell.Next {
			if cell.Type == ast.NodeTableCell {
				count++
			}
		}
	}
	return count
}

// table writes a table as the kernel does: without blanks in the cells, and with a rule as wide as the widest cell.
func (c converter) table(n *ast.Node) string {
	var rows [][]string
	var aligns []int
	addRow := func(row *ast.Node) {
		var cells []string
		for cell := row.FirstChild; cell != nil; cell = cell.Next {
			if cell.Type != ast.NodeTableCell {
				continue
			}
			if len(rows) == 0 {
				aligns = append(aligns, cell.TableCellAlign)
			}
			text := strings.ReplaceAll(strings.Trim(c.inline(cell), " \t\n"), "\n", "<br />")
			if (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 {
				text += `\` // or the backslash would escape the bar
			}
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	for part := n.FirstChild; part != nil; part = part.Next {
		switch part.Type {
		case ast.NodeTableHead:
			for row := part.FirstChild; row != nil; row = row.Next {
				addRow(row)
			}
		case ast.NodeTableRow:
			addRow(part)
		}
	}
	if len(rows) == 0 {
		return strings.TrimSpace(string(n.Tokens))
	}
	lines := []string{tableRow(rows[0], len(aligns)), tableRule(aligns, rows)}
	for _, row := range rows[1:] {
		lines = append(lines, tableRow(row, len(aligns)))
	}
	return strings.Join(lines, "\n")
}

// tableRow writes a row, with empty cells at its end up to the width of the table.
func tableRow(cells []string, width int) string {
	for len(cells) < width {
		cells = append(cells, "")
	}
	return "|" + strings.Join(cells, "|") + "|"
}

// The alignments of columns, as lute numbers them; 0 is none.
const (
	alignLeft   = 1
	alignCenter = 2
	alignRight  = 3
)

// tableRule returns the line below the head: for each column a blank, then colons for its alignment and dashes, together as
// wide as the widest cell and two more, but with at least minDashes dashes.
func tableRule(aligns []int, rows [][]string) string {
	var out strings.Builder
	out.WriteByte('|')
	for i, align := range aligns {
		widest := 0
		for _, row := range rows {
			if i < len(row) {
				widest = max(widest, displayWidth(row[i]))
			}
		}
		const minDashes = 3
		dashes := func(colons int) string { return strings.Repeat("-", max(widest+2-colons, minDashes)) }
		switch align {
		case alignLeft:
			out.WriteString(" :" + dashes(1) + "|")
		case alignCenter:
			out.WriteString(" :" + dashes(2) + ": |")
		case alignRight:
			out.WriteString(" " + dashes(1) + ": |")
		default:
			out.WriteString(" " + dashes(0) + "|")
		}
	}
	return out.String()
}

// displayWidth returns the columns that text takes on a terminal: two for a CJK character.
func displayWidth(text string) int {
	width := 0
	for _, r := range text {
		width++
		if r >= 0x2e80 {
			width++
		}
	}
	return width
}

// splitRow splits a row of a table's Markdown at its bars; an escaped bar is text.
func splitRow(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var found []string
	start := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++ // skip what it escapes
		case '|':
			found = append(found, strings.TrimSpace(line[start:i]))
			start = i + 1
		}
	}
	return append(found, strings.TrimSpace(line[start:]))
}
