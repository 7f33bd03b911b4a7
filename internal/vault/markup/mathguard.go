package markup

import (
	"strings"

	"collie/internal/lazyregexp"
)

// dollarStandIn is for the signs of formulas that lute would not let end where they do.
const dollarStandIn = "\U000F0024"

// beforeText is what may stand before the text of a line: marks of quotes and items.
var beforeText = lazyregexp.New(`^(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\{:[^}\n]*\})?`)

// shieldMath keeps formulas in a block from taking what follows them. For lute one that begins a line ends only with a
// line, and without such an end goes on to that of the document: those are text.
func shieldMath(markdown string) string {
	if !strings.Contains(markdown, "$$") {
		return markdown
	}
	lines := strings.Split(markdown, "\n")
	changed, fence := false, ""
	hide := func(from, to int) {
		for i := from; i <= to; i++ {
			lines[i] = strings.ReplaceAll(lines[i], "$$", dollarStandIn+dollarStandIn)
		}
		changed = true
	}
	for i := 0; i < len(lines); i++ {
		rest := lines[i][len(beforeText.FindString(lines[i])):]
		switch {
		case fence != "":
			if strings.HasPrefix(rest, fence) && strings.Trim(rest, fence[:1]+" \t") == "" {
				fence = ""
			}
		case strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~"):
			fence = rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))]
		case strings.HasPrefix(rest, "$$"):
			end, whole := mathEnd(lines, i, rest[2:])
			if !whole {
				hide(i, max(end, i))
			}
			i = max(end, i)
		}
	}
	if !changed {
		return markdown
	}
	return strings.Join(lines, "\n")
}

// mathEnd is the line in which the formulas that begin in a line have all ended, -1 if none, and whether that was one
// formula, which ends with that line.
func mathEnd(lines []string, at int, rest string) (end int, whole bool) {
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
