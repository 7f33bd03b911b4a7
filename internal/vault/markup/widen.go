package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// delimiterRow matches the line below the head of a table.
var delimiterRow = lazyregexp.New(`^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// widenTables returns text with tables that have as many columns as their widest row: lute would drop cells beyond those
// of the head.
func widenTables(markdown string) string {
	if !strings.Contains(markdown, "|-") && !strings.Contains(markdown, "-|") && !strings.Contains(markdown, "| ") && !strings.Contains(markdown, "|:") {
		return markdown
	}
	lines := strings.Split(markdown, "\n")
	changed, fence, end := false, "", 0 // end is the end of the current table
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t>-*+.)0123456789")
		switch {
		case fence != "":
			if strings.HasPrefix(rest, fence) && strings.Trim(rest, fence[:1]+" \t") == "" {
				fence = ""
			}
		case strings.HasPrefix(rest, "```"), strings.HasPrefix(rest, "~~~"):
			fence = rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
		case i > end && strings.Contains(line, "|") && strings.Contains(line, "-") && strings.Contains(lines[i-1], "|") && delimiterRow.MatchString(line):
			head, widest := rowWidth(lines[i-1]), 0
			if head != rowWidth(line) {
				continue
			}
			if barsAbove(lines[:i-1]) { // lute would take lines of the paragraph above for rows
				quotes := lines[i-1][:len(lines[i-1])-len(strings.TrimLeft(lines[i-1], " \t>"))]
				lines[i-1] = strings.TrimRight(quotes, " \t") + "\n" + lines[i-1]
				changed = true
			}
			for end = i; end+1 < len(lines) && strings.Contains(lines[end+1], "|"); end++ {
				widest = max(widest, rowWidth(lines[end+1]))
			}
			if widest > head {
				lines[i-1], lines[i] = widenRow(lines[i-1], "", widest-head), widenRow(line, "-", widest-head)
				changed = true
			}
		}
	}
	if !changed {
		return markdown
	}
	return strings.Join(lines, "\n")
}

// barsAbove reports whether the paragraph right above contains a bar.
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

// widenRow returns a row with more cells at its end.
func widenRow(row, cell string, more int) string {
	row = strings.TrimRight(row, " \t")
	if !strings.HasSuffix(row, "|") {
		row += "|"
	}
	return row + strings.Repeat(cell+" |", more)
}
