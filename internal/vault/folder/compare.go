package folder

import (
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// This file checks what an import makes of a page: it compares the page's text with the Markdown of the blocks that were
// made from it, and tells lines that are only written differently from lines whose meaning has changed.

// comparedText is one of two texts that are compared line by line.
type comparedText struct {
	lines      []string
	code       []bool   // the line is part of a code block or a formula
	math       []bool   // the line is part of a formula
	codeIndent []int    // for code: the column of its fence
	meanings   []string // cache of meaning; "" if not computed
	at         int
}

// newComparedText splits a text into lines and finds the code blocks and formulas in it.
func newComparedText(text string) *comparedText {
	s := &comparedText{lines: strings.Split(text, "\n")}
	s.code = make([]bool, len(s.lines))
	s.math = make([]bool, len(s.lines))
	s.codeIndent = make([]int, len(s.lines))
	s.meanings = make([]string, len(s.lines))
	var f fenceTracker
	deep := 0
	for i, l := range s.lines {
		wasClosed := f.open == ""
		before := f.open
		if s.code[i] = f.code(l); s.code[i] {
			s.math[i] = before == "$$" || f.open == "$$" || before == "" && f.open == "" // opened and closed on one line
			if wasClosed {
				prefix, _ := prefixOf(l)
				deep = columns(prefix)
			}
			s.codeIndent[i] = deep
		}
	}
	return s
}

// meaning returns a normal form of line i, which does not depend on how the line is written.
func (s *comparedText) meaning(i int) string {
	if s.meanings[i] == "" {
		switch {
		case s.math[i]:
			_, text := prefixOf(s.lines[i])
			s.meanings[i] = "\x02" + strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(text), "$")), " ")
		case s.code[i]:
			s.meanings[i] = "\x00" + codeForm(s.lines[i], s.codeIndent[i])
		default:
			s.meanings[i] = "\x01" + textForm(s.lines[i])
		}
	}
	return s.meanings[i]
}

// hasContent reports whether a line has content: blank lines and attribute lists outside of code have none.
func (s *comparedText) hasContent(i int) bool {
	return s.code[i] && !s.math[i] || len(s.meaning(i)) > 1 && s.meaning(i) != "\x01- " // the text of an item may begin on the next line
}

// nextWithContent advances to the next line with content, and reports whether there is one. It calls passed for the
// skipped lines that are not blank.
func (s *comparedText) nextWithContent(passed func(i int)) bool {
	for ; s.at < len(s.lines) && (s.lines[s.at] == "" && !s.code[s.at] || !s.hasContent(s.at)); s.at++ {
		if s.lines[s.at] != "" {
			passed(s.at)
		}
	}
	return s.at < len(s.lines)
}

// lookAhead bounds the lines searched for the place where two texts agree again.
const lookAhead = 100

// compareTexts compares the text got, as it will be written, with the text want. It calls onSame with the index of each
// line of want that is only written differently, and onLost for each line whose meaning changed, with its index and the
// text that replaces it.
func compareTexts(want, got string, onSame func(i int), onLost func(i int, instead string)) {
	if want == got {
		return
	}
	c := &textComparison{want: newComparedText(want), got: newComparedText(got), onSame: onSame, onLost: onLost}
	for c.step() {
	}
}

// textComparison compares two texts line by line.
type textComparison struct {
	want, got *comparedText
	onSame    func(i int)
	onLost    func(i int, instead string)
	places    map[string][]int // indices in got by the meaning of a line; nil until needed
}

// step compares the next lines with content and advances past them. It returns false at the end.
func (c *textComparison) step() bool {
	want, got := c.want, c.got
	moreWanted, moreGot := want.nextWithContent(c.onSame), got.nextWithContent(func(int) {})
	switch {
	case !moreWanted && !moreGot:
		return false
	case !moreGot:
		c.onLost(want.at, "")
		want.at++
		return true
	case !moreWanted:
		c.onLost(len(want.lines)-1, got.lines[got.at])
		return false
	}
	isSameText := want.code[want.at] == got.code[got.at] && want.lines[want.at] == got.lines[got.at]
	switch {
	case isSameText:
		want.at, got.at = want.at+1, got.at+1
	case want.meaning(want.at) == got.meaning(got.at):
		c.onSame(want.at)
		want.at, got.at = want.at+1, got.at+1
	default:
		c.resync()
	}
	return true
}

// resync advances past lines that differ, to the next lines that agree.
func (c *textComparison) resync() {
	want, got := c.want, c.got
	if c.places == nil {
		c.places = map[string][]int{}
		for i := range got.lines {
			c.places[got.meaning(i)] = append(c.places[got.meaning(i)], i)
		}
	}
	if n := want.wrappedLines(got.meaning(got.at)); n > 0 { // lines of a paragraph were joined
		for range n {
			c.onSame(want.at)
			want.at++
		}
		got.at++
		return
	}
	i, j := want.nextAgreement(got.at, c.places)
	if i < 0 { // no agreement nearby
		c.onLost(want.at, got.lines[got.at])
		want.at, got.at = want.at+1, got.at+1
		return
	}
	if i == want.at {
		c.onLost(want.at, got.lines[got.at])
	}
	for k := got.at; want.at < i; want.at++ {
		instead := ""
		if k < j {
			instead = got.lines[k]
			k++
		}
		if want.hasContent(want.at) {
			c.onLost(want.at, instead)
		}
	}
	got.at = j
}

// wrappedLines returns how many of the next lines, joined, equal one line of the other text; 0 if none do.
func (s *comparedText) wrappedLines(form string) int {
	joined := ""
	for n, at := 1, s.at; at < len(s.lines) && s.lines[at] != "" && !s.code[at] && len(joined) <= 2*len(form); n, at = n+1, at+1 {
		if joined += strings.TrimLeft(s.lines[at], " \t>") + " "; n > 1 && "\x01"+textForm(joined) == form {
			return n
		}
	}
	return 0
}

// nextAgreement returns the indices of the next two lines that agree, -1 if there are none.
func (s *comparedText) nextAgreement(from int, places map[string][]int) (i, j int) {
	best := 2 * lookAhead
	i, j = -1, -1
	for at := s.at; at < len(s.lines) && at-s.at < min(lookAhead, best); at++ {
		if !s.hasContent(at) {
			continue
		}
		for _, candidate := range places[s.meaning(at)] {
			if candidate < from {
				continue
			}
			if distance := at - s.at + candidate - from; distance < best {
				i, j, best = at, candidate, distance
			}
			break
		}
	}
	return i, j
}

// columns returns the column in which the text after a prefix begins. A tab goes to the next multiple of four.
func columns(text string) int {
	width := 0
	for i := range len(text) {
		if text[i] == '\t' {
			width += 4 - width%4
			continue
		}
		width++
	}
	return width
}

// codeForm returns a line of code without the indentation common to all its lines.
func codeForm(text string, deep int) string {
	width, at := 0, 0
	for at < len(text) && width < deep && strings.IndexByte(" \t>-*+.)0123456789", text[at]) >= 0 {
		width = columns(text[:at+1])
		at++
	}
	text = strings.TrimRight(strings.Repeat(" ", max(width-deep, 0))+text[at:], " \t")
	if fence := strings.TrimLeft(text, " "); strings.HasPrefix(fence, "```") || strings.HasPrefix(fence, "~~~") {
		text = "```" + strings.TrimSpace(strings.TrimLeft(fence, fence[:1]))
	}
	return strings.ReplaceAll(text, "\t", "    ")
}

var (
	ownList     = lazyregexp.New(`\{:[^{}\n]*?(?:id="\d{14}-[0-9a-z]{7}"|colgroup=")[^{}\n]*\}`)
	breakTag    = lazyregexp.New(`(?i)<br[ \t]*/?>`)
	backtickRun = lazyregexp.New("[ ]*`+[ ]*")
	dashRun     = lazyregexp.New(`-{2,}`)
	autoLinked  = lazyregexp.New(`<([A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*)>`)
)

// zeroWidth is a space that SiYuan adds around marks and removes again.
const zeroWidth = "\u200b"

// formatTags maps HTML elements to the marks with the same meaning.
var formatTags = strings.NewReplacer("<b>", "**", "</b>", "**", "<strong>", "**", "</strong>", "**", "<i>", "*", "</i>", "*", "<em>", "*", "</em>", "*",
	"<s>", "~~", "</s>", "~~", "<del>", "~~", "</del>", "~~", "<mark>", "==", "</mark>", "==")

// textForm returns a normal form of a line of text, the same for all ways to write it.
func textForm(text string) string {
	text = strings.Trim(text, " \t")
	if isRule(text) {
		return "---"
	}
	if strings.Contains(text, "{:") {
		text = ownList.ReplaceAllString(text, "")
	}
	prefix, rest := prefixOf(text)
	var marks strings.Builder
	for mark := range strings.FieldsSeq(strings.ReplaceAll(prefix, ">", " ")) {
		switch {
		case isDigit(mark[0]):
			marks.WriteString("1. ")
		default:
			marks.WriteString("- ")
		}
	}
	rest = strings.Trim(rest, " \t")
	if strings.HasPrefix(rest, "[x]") {
		rest = "[X]" + rest[3:]
	}
	if kind, title, found := strings.Cut(rest, "]"); found && strings.HasPrefix(kind, "[!") && strings.EqualFold(kind[2:], strings.TrimSpace(title)) {
		rest = kind + "]" // the title of a callout without one
	}
	if strings.Contains(rest, "|") {
		rest = cellsForm(rest)
	}
	if strings.Contains(rest, "<") {
		rest = breakTag.ReplaceAllString(rest, "<br>")
		rest = autoLinked.ReplaceAllString(rest, "[$1]($1)")
		rest = formatTags.Replace(rest)
	}
	if strings.Contains(rest, "`") {
		rest = backtickRun.ReplaceAllString(rest, "`")
	}
	if strings.Contains(rest, zeroWidth) {
		rest = strings.ReplaceAll(rest, zeroWidth, "")
	}
	if strings.Contains(rest, `\`) {
		rest = strings.TrimSuffix(unescapeBackslashes(rest), `\`) // a backslash at the end breaks the line
	}
	rest = strings.Join(strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
	return marks.String() + strings.ReplaceAll(rest, "_", "*")
}

// cellsForm returns a normal form of a table row, without blanks around cells.
func cellsForm(text string) string {
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "|"), "|"), "|")
	for i, cell := range cells {
		cells[i] = strings.Trim(cell, " \t")
	}
	for len(cells) > 1 && cells[len(cells)-1] == "" { // empty cells that a wider row below requires
		cells = cells[:len(cells)-1]
	}
	text = strings.Join(cells, "|")
	if text != "" && strings.Trim(text, "-:|") == "" {
		text = strings.TrimRight(dashRun.ReplaceAllString(text, "-"), "-|") + "-|"
	}
	return text
}

// isRule reports whether a line is a thematic break.
func isRule(text string) bool {
	text = strings.NewReplacer(" ", "", "\t", "").Replace(text)
	return len(text) >= 3 && strings.Trim(text, text[:1]) == "" && strings.Contains("-*_", text[:1])
}

// checkWritten compares the Markdown of blocks with the text that they were parsed from, and reports the differences.
// numbers has the line in the file for each line of text, 0 for lines that the import added.
func (r *reader) checkWritten(text string, numbers []int, blocks []*tree.Block) {
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		parts[i] = markup.Kramdown(b)
	}
	output := strings.Join(parts, "\n\n")
	input := strings.Split(text, "\n")
	compareTexts(text, output, func(i int) {
		if numbers[i] == 0 {
			return // added by the import
		}
		k := asLayout
		if strings.Contains(input[i], zeroWidth) {
			k |= asInvisible
		}
		r.im.recordChange(r.pg.path(), numbers[i], k)
	}, func(i int, instead string) {
		for r.line = numbers[i]; r.line == 0 && i > 0; r.line = numbers[i] {
			i--
		}
		original := strings.TrimSpace(input[i])
		if instead == "" {
			r.problem(codeChanged, original, "the vault cannot hold this line as it is")
			return
		}
		r.problem(codeChanged, original, "the vault holds this as: "+shortenText(strings.TrimSpace(instead)))
	})
}
