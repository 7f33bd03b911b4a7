package folder

import (
	"strings"
)

// line is a line of a file.
type line struct {
	n    int // counted from 1 in the file
	text string
	code bool // it belongs to a block of code or a formula, its fences included
}

// container is what stands before the text of a line: indentation, marks of quotes, and the mark of an item.
var container = pattern(`^(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))*`)

// prefixOf splits a line into what says where it lies and its text.
func prefixOf(text string) (prefix, rest string) {
	end := len(container().FindString(text))
	return text[:end], text[end:]
}

// continued is the prefix of further lines in the same containers: marks of items become blanks.
func continued(prefix string) string {
	return strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, prefix)
}

// fences follows blocks of code and formulas through the lines of a file.
type fences struct {
	open  string // the fence that is open, "" for none
	quote bool   // it was opened in a quote
}

// code reports whether a line belongs to a block of code or a formula.
func (f *fences) code(text string) bool {
	prefix, rest := prefixOf(text)
	if f.open != "" {
		if f.quote && !strings.Contains(prefix, ">") {
			f.open = "" // the quote has ended, and the block with it
			return f.code(text)
		}
		body := strings.TrimSpace(strings.TrimLeft(text, "> \t"))
		if strings.HasPrefix(body, f.open) && strings.Trim(body, f.open[:1]) == "" {
			f.open = ""
		}
		return true
	}
	fence := fenceOf(rest)
	if fence == "" {
		return false
	}
	if fence == "$$" && strings.Contains(rest[2:], "$$") {
		return true // opened and closed
	}
	f.open, f.quote = fence, strings.Contains(prefix, ">")
	return true
}

// fenceOf is the fence that a text opens a block with, "" for none.
func fenceOf(text string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(text, mark) {
			fence := text[:len(text)-len(strings.TrimLeft(text, mark[:1]))]
			if mark == "```" && strings.Contains(text[len(fence):], "`") {
				return ""
			}
			return fence
		}
	}
	if strings.HasPrefix(text, "$$") {
		return "$$"
	}
	return ""
}

var (
	item       = pattern(`^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]`)
	underlined = pattern(`^ {0,3}(=+|-{2,})[ \t]*$`)
	definition = pattern(`^ {0,3}\[([^\]^]+)\]:[ \t]+<?(\S+?)>?(?:[ \t]+["'(](.*)["')])?[ \t]*$`)
)

// normalized is a text as lines, with the forms that SiYuan has not written as those it has: underlined headings with
// number signs, and indented code between fences.
func normalized(text string, first int) []line {
	raw := strings.Split(text, "\n")
	found := make([]line, 0, len(raw))
	var f fences
	inList := false
	blank := func(i int) bool { return i < 0 || i >= len(raw) || strings.TrimSpace(raw[i]) == "" }
	for i := 0; i < len(raw); i++ {
		l := line{n: first + i, text: raw[i]}
		if l.code = f.code(l.text); l.code {
			found = append(found, l)
			continue
		}
		switch {
		case item().MatchString(l.text):
			inList = true
		case !blank(i) && l.text[0] != ' ' && l.text[0] != '\t' && blank(i-1):
			inList = false
		}
		switch {
		case !inList && indentedCode(l.text) && blank(i-1):
			end := i + 1
			for j := i + 1; j < len(raw) && (blank(j) || indentedCode(raw[j])); j++ {
				if !blank(j) {
					end = j + 1
				}
			}
			found = append(found, line{l.n, "```", true})
			for ; i < end; i++ {
				found = append(found, line{first + i, dedented(raw[i]), true})
			}
			i--
			found = append(found, line{first + i, "```", true})
		case i+1 < len(raw) && underlined().MatchString(raw[i+1]) && blank(i-1) && headingText(l.text):
			mark := "## "
			if strings.Contains(raw[i+1], "=") {
				mark = "# "
			}
			l.text = mark + strings.TrimSpace(l.text)
			found = append(found, l)
			i++
		default:
			found = append(found, l)
		}
	}
	return found
}

// normalizedAs is a text of ours as lines, as they are.
func normalizedAs(text string, first int) []line {
	raw := strings.Split(text, "\n")
	found := make([]line, len(raw))
	var f fences
	for i, text := range raw {
		found[i] = line{first + i, text, f.code(text)}
	}
	return found
}

func indentedCode(text string) bool {
	return (strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "\t")) && strings.TrimSpace(text) != ""
}

func dedented(text string) string {
	if rest, found := strings.CutPrefix(text, "\t"); found {
		return rest
	}
	if rest, found := strings.CutPrefix(text, "    "); found {
		return rest
	}
	return strings.TrimLeft(text, " ")
}

// headingText reports whether a line is text that an underline makes a heading.
func headingText(text string) bool {
	text = strings.TrimSpace(text)
	prefix, _ := prefixOf(text)
	return text != "" && prefix == "" && !strings.ContainsAny(text[:1], "#|<{") && !strings.Contains(text, "::") && fenceOf(text) == ""
}

// definitions takes the definitions of links, [name]: address, out of lines if something uses them.
func definitions(list []line) (kept []line, defs map[string]string) {
	defs = map[string]string{}
	var all strings.Builder
	for _, l := range list {
		if definition().MatchString(l.text) && !l.code {
			for _, l := range list {
				if !definition().MatchString(l.text) {
					all.WriteString(folded(l.text))
				}
			}
			break
		}
	}
	if all.Len() == 0 {
		return list, nil
	}
	for _, l := range list {
		m := definition().FindStringSubmatch(l.text)
		if m == nil || l.code || !strings.Contains(all.String(), "["+folded(m[1])+"]") {
			kept = append(kept, l)
			continue
		}
		address := m[2]
		if m[3] != "" {
			address += ` "` + m[3] + `"`
		}
		if defs[folded(m[1])] == "" {
			defs[folded(m[1])] = address
		}
	}
	return kept, defs
}
