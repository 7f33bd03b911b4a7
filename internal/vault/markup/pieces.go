package markup

import "strings"

// pieceSize is how many bytes of Markdown lute gets at a time, since its tree takes about a hundred times the memory of
// the text.
const pieceSize = 64 << 10

// splitMarkdown cuts Markdown into parts of at least size bytes that can be parsed one by one with the same result. It
// decides by single lines: it cuts after a top-level paragraph or heading, if the next line is neither its attribute
// list nor indented, and never where something may be open that continues after a blank line.
func splitMarkdown(markdown string, size int) []string {
	if len(markdown) < 2*size {
		return []string{markdown}
	}
	var parts []string
	begin, fence, plain, blank := 0, "", false, true
	for at := 0; at < len(markdown); {
		end := len(markdown)
		if n := strings.IndexByte(markdown[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := strings.TrimRight(markdown[at:end], " \t\n")
		switch {
		case fence != "":
			if strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == "" {
				fence, plain = "", false
			}
		case line == "":
			blank = true
		default:
			if blank && plain && at-begin >= size && isIndependent(line) {
				parts, begin = append(parts, markdown[begin:at]), at
			}
			if mayOpen(line) {
				return append(parts, markdown[begin:])
			}
			if fence = fenceOf(line); fence != "" {
				break
			}
			plain = isPlain(line) && (plain || blank) || plain && !blank && strings.HasPrefix(line, "{:")
			blank = false
		}
		at = end
	}
	return append(parts, markdown[begin:])
}

// isIndependent reports whether a line after a blank one cannot belong to the block before.
func isIndependent(line string) bool {
	return line[0] != ' ' && line[0] != '\t' && !strings.HasPrefix(line, "{:")
}

// mayOpen reports whether a line may open something that continues after a blank line, other than a top-level fence.
func mayOpen(line string) bool {
	inside := strings.TrimLeft(line, " \t>-*+.)0123456789[]xX")
	for _, mark := range []string{"<", "{{", "}}", "$$", "%%"} {
		if strings.HasPrefix(inside, mark) {
			return true
		}
	}
	return inside != line && fenceOf(inside) != ""
}

// fenceOf returns the code fence that a line opens, "" for none.
func fenceOf(line string) string {
	for _, char := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, char)); n >= 3 && !(char == "`" && strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// isPlain reports whether a line is part of a top-level paragraph or is a top-level heading.
func isPlain(line string) bool {
	return !strings.ContainsRune(" \t>-*+|0123456789:~`$<{}[!\\", rune(line[0]))
}
