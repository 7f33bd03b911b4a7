package kerneltest

import "strings"

// table reads a table and writes it the way the kernel does: no padding in the cells.
func (p *parser) table() *block {
	var rows [][]string
	var rule []string
	for n := 0; p.at < len(p.lines); n++ {
		line := strings.TrimSpace(p.lines[p.at])
		if !strings.Contains(line, "|") || ialLine.MatchString(line) {
			break
		}
		p.at++
		if n == 1 {
			rule = cells(line)
			continue
		}
		rows = append(rows, cells(line))
	}
	lines := []string{tableRow(rows[0]), tableRuleLine(rule, rows)}
	for _, row := range rows[1:] {
		for len(row) < len(rows[0]) {
			row = append(row, "")
		}
		lines = append(lines, tableRow(row[:len(rows[0])]))
	}
	b := &block{kind: kindTable, text: strings.Join(lines, "\n")}
	b.attrs = map[string]string{"colgroup": strings.Repeat("|", len(rows[0])-1)}
	return b
}

// cells splits a row at its bars; an escaped bar is text.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	parts := strings.Split(strings.ReplaceAll(line, `\|`, "\x01"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(strings.ReplaceAll(parts[i], "\x01", `\|`))
	}
	return parts
}

func tableRow(row []string) string { return "|" + strings.Join(row, "|") + "|" }

// tableRuleLine is the line of dashes, as wide as the widest cell of each column.
func tableRuleLine(rule []string, rows [][]string) string {
	var out strings.Builder
	out.WriteByte('|')
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			if i < len(row) {
				widest = max(widest, displayWidth(row[i]))
			}
		}
		mark := ""
		if i < len(rule) {
			mark = rule[i]
		}
		left, right := strings.HasPrefix(mark, ":"), strings.HasSuffix(mark, ":") && len(mark) > 1
		switch {
		case left && right:
			out.WriteString(" :" + strings.Repeat("-", max(widest, 3)) + ": |")
		case left:
			out.WriteString(" :" + strings.Repeat("-", max(widest+1, 3)) + "|")
		case right:
			out.WriteString(" " + strings.Repeat("-", max(widest+1, 3)) + ": |")
		default:
			out.WriteString(" " + strings.Repeat("-", max(widest, 3)) + "|")
		}
	}
	return out.String()
}

// displayWidth counts the columns text takes on a terminal: two for a CJK character.
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
