package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// This file gives tables as many columns as their widest row has, since the parser drops the rest.

// delimiterRow matches the line below the head of a table.
var delimiterRow = lazyregexp.New(`^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// looseDelimiterRow matches every line that lute may take for a delimiter row.
var looseDelimiterRow = lazyregexp.New(`^[ \t>]*[|: -]*[|:][|: -]*$`)

// widenTables gives each table as many columns as its widest row has, since lute would drop the cells beyond those of
// the head. It also keeps lute from taking a part of a paragraph for a table, because lute would lose lines of it: it adds
// an emptyStandIn to the line that lute would take for a delimiter row.
func widenTables(markdown string) string {
	if !strings.Contains(markdown, "|") {
		return markdown
	}
	lines := strings.Split(markdown, "\n")
	var fence codeFence
	var around paragraph
	changed, end := false, 0 // end is the last line of the current table
	for i := range lines {
		switch {
		case fence.covers(lines[i]) || i <= end:
		case isDelimiterRow(lines, i):
			var widened bool
			end, widened = widenTable(lines, i)
			changed = changed || widened
		case looseDelimiterRow.MatchString(lines[i]) && around.at(lines, i).mixed:
			row := strings.TrimRight(lines[i], " \t")
			lines[i] = row + emptyStandIn + lines[i][len(row):]
			changed = true
		}
	}
	if !changed {
		return markdown
	}
	return strings.Join(lines, "\n")
}

// paragraph is a run of lines between two blank ones: the one that at was asked for last.
type paragraph struct {
	end   int  // the line behind it
	mixed bool // a line without a bar follows one with a bar
}

// at returns the paragraph of line i, which is not before those that at was asked for earlier.
func (p *paragraph) at(lines []string, i int) *paragraph {
	if i < p.end {
		return p
	}
	begin := i
	for begin > p.end && strings.Trim(lines[begin-1], " \t>") != "" {
		begin--
	}
	bars := false
	p.mixed = false
	for p.end = begin; p.end < len(lines); p.end++ {
		text := strings.Trim(lines[p.end], " \t>")
		if text == "" {
			break
		}
		hasBar := strings.Contains(text, "|")
		p.mixed = p.mixed || bars && !hasBar && !isAttrList(text)
		bars = bars || hasBar
	}
	return p
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
		lines[i-1] = blankAbove(lines[i-1])
		changed = true
	}
	for end = i; end+1 < len(lines) && strings.Contains(lines[end+1], "|") && !isAttrList(lines[end+1]); end++ {
		widest = max(widest, rowWidth(lines[end+1]))
	}
	if end+1 < len(lines) && strings.Trim(lines[end+1], " \t>") != "" && !isAttrList(lines[end+1]) {
		// Lute would not see a table, or even lose its head and double what follows.
		lines[end+1] = blankAbove(lines[end+1])
		changed = true
	}
	if widest > columns {
		lines[i-1], lines[i] = widenRow(lines[i-1], "", widest-columns), widenRow(lines[i], "-", widest-columns)
		changed = true
	}
	return end, changed
}

// isAttrList reports whether a line is an attribute list, which belongs to the block above it.
func isAttrList(line string) bool { return properList.MatchString(strings.Trim(line, " \t>")) }

// blankAbove returns a line with a blank one above it, in the same quotes.
func blankAbove(line string) string {
	quotes := line[:len(line)-len(strings.TrimLeft(line, " \t>"))]
	return strings.TrimRight(quotes, " \t") + "\n" + line
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
func rowWidth(row string) int { return len(splitRow(strings.TrimLeft(row, " \t\n>"))) }

// widenRow appends count cells to a row.
func widenRow(row, cell string, count int) string {
	row = strings.TrimRight(row, " \t")
	if !strings.HasSuffix(row, "|") {
		row += "|"
	}
	return row + strings.Repeat(cell+" |", count)
}
