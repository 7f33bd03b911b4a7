package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// dollarStandIn replaces signs of formulas that lute would not end in the right place.
const dollarStandIn = "\U000F0024"

// beforeText matches what may precede the text of a line: marks of quotes and items.
var beforeText = lazyregexp.New(`^(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\{:[^}\n]*\})?(?:\[[^\]\n]\][ \t]+)?`)

// shieldMath keeps block formulas from swallowing the text after them. For lute, a formula that begins a line ends
// only at a line's end; without such an end it extends to the end of the document, so it is treated as text.
func shieldMath(markdown string) string {
	if !strings.Contains(markdown, "$$") {
		return markdown
	}
	lines := strings.Split(markdown, "\n")
	changed, fence := false, ""
	columns := map[int]bool{} // columns in which the texts of the items above begin
	hide := func(from, to int) {
		for i := from; i <= to; i++ {
			lines[i] = strings.ReplaceAll(lines[i], "$$", dollarStandIn+dollarStandIn)
		}
		changed = true
	}
	for i := 0; i < len(lines); i++ {
		rest := lines[i][len(beforeText.FindString(lines[i])):]
		if before := lines[i][:len(lines[i])-len(rest)]; strings.Trim(before, " \t") != "" {
			columns[len(before)] = true
		} else if before == "" && rest != "" {
			clear(columns)
		}
		switch {
		case fence != "":
			if strings.HasPrefix(rest, fence) && strings.Trim(rest, fence[:1]+" \t") == "" {
				fence = ""
			}
		case strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~"):
			fence = rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
		case strings.HasPrefix(rest, "$$"):
			if bare := strings.TrimRight(rest, " \t\\"); bare != rest && strings.HasSuffix(bare, "$$") && len(bare) > 2 {
				lines[i], rest, changed = strings.TrimSuffix(lines[i], rest[len(bare):]), bare, true // a block needs no line break
			}
			end, closed := mathEnd(lines, i, rest[2:])
			pad := strings.TrimSuffix(lines[i], rest)
			switch {
			case !closed:
				hide(i, max(end, i))
			case end == i && pad != "" && strings.Trim(pad, " \t") == "" && !columns[len(pad)]: // lute loses text of such a line
				hide(i, i)
			}
			i = max(end, i)
		}
	}
	if !changed {
		return markdown
	}
	return strings.Join(lines, "\n")
}

// mathEnd returns the line in which all formulas that begin in line at have ended, -1 if they never end. closed reports
// that a single formula began and ended with that line.
func mathEnd(lines []string, at int, rest string) (end int, closed bool) {
	signs := 1
	for i := at; i < len(lines); i++ {
		if i > at {
			rest = lines[i]
		}
		if signs += strings.Count(rest, "$$"); signs%2 == 0 {
			return i, signs == 2 && strings.HasSuffix(strings.TrimRight(rest, " \t"), "$$")
		}
	}
	return -1, false
}
