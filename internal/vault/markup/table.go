package markup

import (
	"strings"

	"github.com/88250/lute/ast"
)

// This file writes tables.

// columns returns the number of columns of a table.
func columns(table *ast.Node) int {
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

func tableRow(cells []string, width int) string {
	for len(cells) < width {
		cells = append(cells, "")
	}
	return "|" + strings.Join(cells, "|") + "|"
}

// tableRule returns the line of dashes below the head. aligns are lute's: 0 none, 1 left, 2 center, 3 right.
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
		switch align {
		case 1:
			out.WriteString(" :" + strings.Repeat("-", max(widest+1, 3)) + "|")
		case 2:
			out.WriteString(" :" + strings.Repeat("-", max(widest, 3)) + ": |")
		case 3:
			out.WriteString(" " + strings.Repeat("-", max(widest+1, 3)) + ": |")
		default:
			out.WriteString(" " + strings.Repeat("-", max(widest+2, 3)) + "|")
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

// cells splits a row of a table's Markdown at its bars; an escaped bar is text.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var found []string
	start := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			found = append(found, strings.TrimSpace(line[start:i]))
			start = i + 1
		}
	}
	return append(found, strings.TrimSpace(line[start:]))
}
