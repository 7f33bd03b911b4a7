package folder

import (
	"strings"

	"collie/internal/lazyregexp"
)

// line is a line of a file.
type line struct {
	n    int // line number in the file, from 1
	text string
	code bool // part of a code block or a formula, fences included
	// kinds has the ways in which the text differs from the file.
	kinds changeKinds
	// underlined means that the line stands for two lines of the file: a heading and its underline.
	underlined bool
}

// containerPrefix matches what precedes the text of a line: indentation, marks of quotes and items.
var containerPrefix = lazyregexp.New(`^(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))*`)

// prefixOf splits a line into the marks of its containers and its text.
func prefixOf(text string) (prefix, rest string) {
	end := len(containerPrefix.FindString(text))
	return text[:end], text[end:]
}

// continuationPrefix returns the prefix for further lines in the same containers: marks of items become blanks.
func continuationPrefix(prefix string) string {
	return strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, prefix)
}

// fenceTracker follows code blocks and formulas through the lines of a file.
type fenceTracker struct {
	open         string // the open fence, "" for none
	quote        bool   // opened in a quote
	openColumn   int    // column of the opening
	excessIndent int    // columns of indentation that must be removed, or lute would read text instead of code
}

// code reports whether a line is part of a code block or a formula.
func (f *fenceTracker) code(text string) bool {
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
		return signs == 2 && strings.HasSuffix(strings.TrimRight(rest, " \t"), "$$") // a formula on one line, or several in a text
	}
	f.open, f.quote = fence, strings.Contains(prefix, ">")
	return true
}

// fenceOf returns the fence with which a text opens a block, "" for none.
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

// Lines that begin an item, underline a heading, or define the address of a link: [name]: address "title".
var (
	item       = lazyregexp.New(`^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]`)
	underlined = lazyregexp.New(`^ {0,3}(=+|-{2,})[ \t]*$`)
	definition = lazyregexp.New(`^ {0,3}\[([^\]^]+)\]:[ \t]+<?(\S+?)>?(?:[ \t]+["'(](.*)["')])?[ \t]*$`)
)

// listTracker follows which list the lines of a text are in.
type listTracker struct {
	inList     bool // in a list or footnote
	textColumn int  // column where the text of the last item begins
	listColumn int  // column where the list begins
}

// footnote matches the beginning of a footnote, [^name]:.
var footnote = lazyregexp.New(`^ {0,3}\[\^[^\]]+\]:`)

// observe updates the state for a line that is not code. afterBlank says that the line before it is blank.
func (p *listTracker) observe(text string, afterBlank bool) {
	switch {
	case item.MatchString(text):
		if blanks := len(text) - len(strings.TrimLeft(text, " ")); !p.inList || blanks < p.listColumn {
			p.listColumn = blanks
		}
		prefix, _ := prefixOf(p.unindent(text))
		p.inList, p.textColumn = true, columns(prefix)
	case footnote.MatchString(text):
		p.inList, p.textColumn, p.listColumn = true, 4, 0
	case text != "" && text[0] != ' ' && (afterBlank || heading.MatchString(text)):
		*p = listTracker{}
	}
}

// unindent removes the list's indentation from a line: lute does not recognize code in a list that is indented far.
func (p *listTracker) unindent(text string) string {
	if p.listColumn == 0 {
		return text
	}
	return text[min(p.listColumn, len(text)-len(strings.TrimLeft(text, " "))):]
}

// code reports whether a line is indented so far that it is code.
func (p *listTracker) code(text string) bool {
	return len(text)-len(strings.TrimLeft(text, " ")) >= p.textColumn+4 && strings.TrimSpace(text) != ""
}

// cutDefinitions removes link definitions, [name]: address, that some line uses. It returns the remaining lines and the
// addresses by name.
func cutDefinitions(list []line, onCut func(line)) (remaining []line, defs map[string]string) {
	defs = map[string]string{}
	var text strings.Builder
	for _, l := range list {
		if definition.MatchString(l.text) && !l.code {
			for _, l := range list {
				if !definition.MatchString(l.text) {
					text.WriteString(foldName(l.text))
				}
			}
			break
		}
	}
	if text.Len() == 0 {
		return list, nil
	}
	for _, l := range list {
		m := definition.FindStringSubmatch(l.text)
		if m == nil || l.code || !strings.Contains(text.String(), "["+foldName(m[1])+"]") {
			remaining = append(remaining, l)
			continue
		}
		onCut(l)
		address := m[2]
		if m[3] != "" {
			address += ` "` + m[3] + `"`
		}
		if defs[foldName(m[1])] == "" {
			defs[foldName(m[1])] = address
		}
	}
	return remaining, defs
}

// fileText is the text of a file by lines, with their ends.
type fileText struct {
	bom   string
	lines []string // without ends
	ends  []string
	end   string // the end that new lines get
}

// splitFile splits a file into lines. Texts in other encodings than UTF-8 are converted.
func splitFile(data []byte) fileText {
	f := fileText{end: "\n"}
	text := string(data)
	if rest, found := strings.CutPrefix(text, "\ufeff"); found {
		f.bom, text = "\ufeff", rest
	} else if decoded, guessed, code := decode(data); guessed != "" && code == "" {
		text = decoded
	}
	crlf := 0
	for text != "" {
		at := strings.IndexAny(text, "\r\n")
		if at < 0 {
			f.lines, f.ends = append(f.lines, text), append(f.ends, "")
			break
		}
		end := text[at : at+1]
		if strings.HasPrefix(text[at:], "\r\n") {
			end = "\r\n"
			crlf++
		}
		f.lines, f.ends = append(f.lines, text[:at]), append(f.ends, end)
		text = text[at+len(end):]
	}
	if crlf*2 > len(f.lines) {
		f.end = "\r\n"
	}
	return f
}

// text returns lines of the file, from 1, inclusive, as they are.
func (f *fileText) text(from, to int) string {
	var out strings.Builder
	for i := from; i <= to && i <= len(f.lines); i++ {
		out.WriteString(f.lines[i-1] + f.ends[i-1])
	}
	return out.String()
}

// fresh returns a text with the line ends of the file.
func (f *fileText) fresh(text string) string {
	if f.end == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", f.end)
}

// maxAligned bounds the work of finding the longest common sequence, in pairs.
const maxAligned = 4 << 20

// alignHashes returns for each text of a its partner in b, -1 for none: a longest common sequence, if the lists are not
// too long.
func alignHashes(a, b []string) []int {
	partner := make([]int, len(a))
	for i := range partner {
		partner[i] = -1
	}
	// The equal texts at the beginning and the end are partners. Between them, table has the length of the longest common
	// sequence of each pair of rests.
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		partner[lo] = lo
		lo++
	}
	endA, endB := len(a), len(b)
	for endA > lo && endB > lo && a[endA-1] == b[endB-1] {
		endA--
		endB--
		partner[endA] = endB
	}
	n, m := endA-lo, endB-lo
	if n == 0 || m == 0 {
		return partner
	}
	if n*m > maxAligned {
		alignGreedily(a, b, partner, lo, endA, endB)
		return partner
	}
	table := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a[lo+i] == b[lo+j] {
				table[i*(m+1)+j] = table[(i+1)*(m+1)+j+1] + 1
			} else {
				table[i*(m+1)+j] = max(table[(i+1)*(m+1)+j], table[i*(m+1)+j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case a[lo+i] == b[lo+j]:
			partner[lo+i] = lo + j
			i++
			j++
		case table[(i+1)*(m+1)+j] >= table[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
	return partner
}

// maxSkipped bounds how many texts alignGreedily may skip to find an equal one.
const maxSkipped = 2000

// alignGreedily sets partner for the texts of a from lo to endA, with partners in b from lo to endB: from the beginning, each text
// gets the next equal one that is near. It is for lists that are too long for alignHashes.
func alignGreedily(a, b []string, partner []int, lo, endA, endB int) {
	places := map[string][]int{}
	for j := lo; j < endB; j++ {
		places[b[j]] = append(places[b[j]], j)
	}
	next := lo
	for i := lo; i < endA; i++ {
		list := places[a[i]]
		for len(list) > 0 && list[0] < next {
			list = list[1:]
		}
		places[a[i]] = list
		if len(list) > 0 && list[0]-next < maxSkipped {
			partner[i], next = list[0], list[0]+1
		}
	}
}
