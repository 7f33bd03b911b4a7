package folder

import (
	"math"
	"strings"

	"collie/internal/lazyregexp"
)

// line is a line of a file.
type line struct {
	n    int // counted from 1 in the file
	text string
	code bool // it belongs to a block of code or a formula, its fences included
	// kinds says how the text is another one than in the file.
	kinds kinds
	// underlined says that it stands for the next line of the file too, the one below a heading.
	underlined bool
}

// container is what stands before the text of a line: indentation, marks of quotes, and the mark of an item.
var container = lazyregexp.New(`^(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))*`)

// prefixOf splits a line into what says where it lies and its text.
func prefixOf(text string) (prefix, rest string) {
	end := len(container.FindString(text))
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
	deep  int    // the column in which it was opened
	far   int    // how many of those are too many for a block of code: lute would read text
}

// code reports whether a line belongs to a block of code or a formula.
func (f *fences) code(text string) bool {
	if f.open == "" && !strings.Contains(text, "```") && !strings.Contains(text, "~~~") && !strings.Contains(text, "$$") {
		return false
	}
	prefix, rest := prefixOf(text)
	if f.open != "" {
		if f.quote && !strings.Contains(prefix, ">") {
			f.open = "" // the quote has ended, and the block with it
			return f.code(text)
		}
		body := strings.TrimSpace(strings.TrimLeft(text, "> \t"))
		if strings.HasPrefix(body, f.open) && strings.Trim(body, f.open[:1]) == "" || f.open == "$$" && strings.Count(body, "$$")%2 == 1 {
			f.open = ""
		}
		return true
	}
	fence := fenceOf(rest)
	if fence == "" {
		return false
	}
	if signs := strings.Count(rest, "$$"); fence == "$$" && signs%2 == 0 {
		return signs == 2 && strings.HasSuffix(strings.TrimRight(rest, " \t"), "$$") // one formula, or several in a text
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
	item       = lazyregexp.New(`^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]`)
	underlined = lazyregexp.New(`^ {0,3}(=+|-{2,})[ \t]*$`)
	definition = lazyregexp.New(`^ {0,3}\[([^\]^]+)\]:[ \t]+<?(\S+?)>?(?:[ \t]+["'(](.*)["')])?[ \t]*$`)
)

// normalized is a text as lines, with the forms that SiYuan has not written as those it has: underlined headings with
// number signs, and indented code between fences.
func normalized(text string, first int) []line {
	raw := strings.Split(text, "\n")
	found := make([]line, 0, len(raw))
	var f fences
	var in whereabouts
	blank := func(i int) bool { return i < 0 || i >= len(raw) || strings.TrimSpace(raw[i]) == "" }
	for i := 0; i < len(raw); i++ {
		l := line{n: first + i, text: raw[i]}
		opens := f.open == ""
		if l.code = f.code(l.text); l.code {
			if opens {
				prefix, _ := prefixOf(in.shifted(untabbed(l.text, math.MaxInt)))
				f.deep, f.far = columns(prefix), 0
				if strings.Trim(prefix, " ") == "" && f.deep >= in.deep+4 {
					f.far = f.deep - in.deep
				}
			}
			l.text = in.shifted(untabbed(l.text, in.base+f.deep))
			l.text = l.text[min(f.far, len(l.text)-len(strings.TrimLeft(l.text, " "))):]
		} else {
			l.text = untabbed(l.text, math.MaxInt)
			in.note(l.text, blank(i-1))
			l.text = in.shifted(l.text)
		}
		if l.text != raw[i] {
			l.kinds = asLayout
		}
		if l.code {
			found = append(found, l)
			continue
		}
		switch {
		case in.code(l.text) && blank(i-1):
			end := i + 1
			for j := i + 1; j < len(raw) && (blank(j) || in.code(in.shifted(untabbed(raw[j], math.MaxInt)))); j++ {
				if !blank(j) {
					end = j + 1
				}
			}
			pad, fence := strings.Repeat(" ", in.deep), "```"
			for strings.Contains(strings.Join(raw[i:end], "\n"), fence) {
				fence += "`"
			}
			found = append(found, line{n: l.n, text: pad + fence, code: true, kinds: asCode})
			for ; i < end; i++ {
				found = append(found, line{n: first + i, text: strings.TrimRight(pad, " "), code: true, kinds: asCode})
				if text := in.shifted(untabbed(raw[i], in.base+in.deep+4)); len(text) > in.deep+4 {
					found[len(found)-1].text = pad + text[in.deep+4:]
				}
			}
			i--
			found = append(found, line{n: first + i, text: pad + fence, code: true, kinds: asCode})
		case i+1 < len(raw) && underlined.MatchString(raw[i+1]) && blank(i-1) && headingText(l.text):
			mark := "## "
			if strings.Contains(raw[i+1], "=") {
				mark = "# "
			}
			l.text, l.kinds, l.underlined = mark+strings.TrimSpace(l.text), asHeading, true
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
		found[i] = line{n: first + i, text: text, code: f.code(text)}
	}
	return found
}

// whereabouts is where the lines of a text lie.
type whereabouts struct {
	inside bool // a list or footnote
	deep   int  // the column in which the text of the last item begins
	base   int  // the column in which the list begins
}

var footnote = lazyregexp.New(`^ {0,3}\[\^[^\]]+\]:`)

// note looks at a line that is not a code.
func (p *whereabouts) note(text string, afterBlank bool) {
	switch {
	case item.MatchString(text):
		if blanks := len(text) - len(strings.TrimLeft(text, " ")); !p.inside || blanks < p.base {
			p.base = blanks
		}
		prefix, _ := prefixOf(p.shifted(text))
		p.inside, p.deep = true, columns(prefix)
	case footnote.MatchString(text):
		p.inside, p.deep, p.base = true, 4, 0
	case text != "" && text[0] != ' ' && (afterBlank || heading.MatchString(text)):
		*p = whereabouts{}
	}
}

// shifted is a line of a list without the blanks before all of its lines: Lute reads no code in a list far from the margin.
func (p *whereabouts) shifted(text string) string {
	if p.base == 0 {
		return text
	}
	return text[min(p.base, len(text)-len(strings.TrimLeft(text, " "))):]
}

// code reports whether a line is indented so far that it is code.
func (p *whereabouts) code(text string) bool {
	return len(text)-len(strings.TrimLeft(text, " ")) >= p.deep+4 && strings.TrimSpace(text) != ""
}

// untabbed is a line with the tabs among the blanks that it begins with, up to a column, as blanks: Lute loses count of
// tabs in lists.
func untabbed(text string, to int) string {
	at, width := 0, 0
	for at < len(text) && width < to && (text[at] == ' ' || text[at] == '\t') {
		if text[at] == '\t' {
			width += 3 - width%4
		}
		width++
		at++
	}
	if !strings.Contains(text[:at], "\t") {
		return text
	}
	return strings.Repeat(" ", width) + text[at:]
}

// headingText reports whether a line is text that an underline makes a heading.
func headingText(text string) bool {
	text = strings.TrimSpace(text)
	prefix, _ := prefixOf(text)
	return text != "" && prefix == "" && !strings.ContainsAny(text[:1], "#|<{") && !strings.Contains(text, "::") && fenceOf(text) == ""
}

// definitions takes the definitions of links, [name]: address, out of lines if something uses them.
func definitions(list []line, taken func(line)) (kept []line, defs map[string]string) {
	defs = map[string]string{}
	var all strings.Builder
	for _, l := range list {
		if definition.MatchString(l.text) && !l.code {
			for _, l := range list {
				if !definition.MatchString(l.text) {
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
		m := definition.FindStringSubmatch(l.text)
		if m == nil || l.code || !strings.Contains(all.String(), "["+folded(m[1])+"]") {
			kept = append(kept, l)
			continue
		}
		taken(l)
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
