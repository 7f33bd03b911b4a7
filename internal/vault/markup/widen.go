package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// delimiterRow matches the line below the head of a table.
var delimiterRow = lazyregexp.New(`^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// widenTables gives each table as many columns as its widest row has, since lute would drop the cells beyond those of
// the head.
func widenTables(markdown string) string {
	if !strings.Contains(markdown, "|-") && !strings.Contains(markdown, "-|") && !strings.Contains(markdown, "| ") && !strings.Contains(markdown, "|:") {
		return markdown
	}
	lines := strings.Split(markdown, "\n")
	var fence codeFence
	changed, end := false, 0 // end is the last line of the current table
	for i := range lines {
		if fence.covers(lines[i]) || i <= end || !isDelimiterRow(lines, i) {
			continue
		}
		var widened bool
		end, widened = widenTable(lines, i)
		changed = changed || widened
	}
	if !changed {
		return markdown
	}
	return strings.Join(lines, "\n")
}

// codeFence is the fence of the code block that the lines read so far have opened; empty outside of one.
type codeFence string

// covers reads the next line and reports whether it belongs to a fenced code block, fences included.
func (f *codeFence) covers(line string) bool {
	text := strings.TrimLeft(line, " \t>-*+.)0123456789") // quotes and lists may contain code blocks
	open := string(*f)
	switch {
	case open != "":
		if strings.HasPrefix(text, open) && strings.Trim(text, open[:1]+" \t") == "" {
			*f = ""
		}
		return true
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
		*f = codeFence(text[:len(text)-len(strings.TrimLeft(text, text[:1]))])
		return true
	}
	return false
}

// isDelimiterRow reports whether line i separates the head of a table, which is the line above, from its rows.
func isDelimiterRow(lines []string, i int) bool {
	line := lines[i]
	return i > 0 && strings.Contains(line, "|") && strings.Contains(line, "-") && strings.Contains(lines[i-1], "|") &&
		delimiterRow.MatchString(line) && rowWidth(lines[i-1]) == rowWidth(line)
}

// widenTable adds columns to the head and the delimiter row of the table whose delimiter row is line i, as far as its
// rows need them. It returns the last line of the table.
func widenTable(lines []string, i int) (end int, changed bool) {
	columns, widest := rowWidth(lines[i]), 0
	if barsAbove(lines[:i-1]) { // lute would take lines of the paragraph above for rows
		quotes := lines[i-1][:len(lines[i-1])-len(strings.TrimLeft(lines[i-1], " \t>"))]
		lines[i-1] = strings.TrimRight(quotes, " \t") + "\n" + lines[i-1]
		changed = true
	}
	for end = i; end+1 < len(lines) && strings.Contains(lines[end+1], "|"); end++ {
		widest = max(widest, rowWidth(lines[end+1]))
	}
	if widest > columns {
		lines[i-1], lines[i] = widenRow(lines[i-1], "", widest-columns), widenRow(lines[i], "-", widest-columns)
		changed = true
	}
	return end, changed
}

// barsAbove reports whether the paragraph at the end of lines contains a bar.
func barsAbove(lines []string) bool {
	for i := len(lines) - 1; i >= 0 && strings.Trim(lines[i], " \t>") != ""; i-- {
		if strings.Contains(lines[i], "|") {
			return true
		}
	}
	return false
}

// rowWidth counts the cells of a row.
func rowWidth(row string) int { return len(cells(strings.TrimLeft(row, " \t\n>"))) }

// widenRow appends count cells to a row.
func widenRow(row, cell string, count int) string {
	row = strings.TrimRight(row, " \t")
	if !strings.HasSuffix(row, "|") {
		row += "|"
	}
	return row + strings.Repeat(cell+" |", count)
}
