package folder

import (
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/vault/tree"
)

// writer converts a page to SiYuan's Markdown, line by line. The state of the current line is in its [reader], which
// converts what is inside a line.
type writer struct {
	*reader
	in   []line
	out  []writtenLine
	next int // next line of in
	// comments is the index of the line up to which comments stay text, because one of them contains code.
	comments int
}

// writtenLine is a line of a page in SiYuan's Markdown.
type writtenLine struct {
	n    int // number of the line in the file
	text string
	id   bool // an attribute list with an id for the block above, which the import added
}

// convert converts the lines of a page to SiYuan's Markdown. numbers has, for each line of the result, the number of its
// line in the file, or 0 for an attribute list with an id that a heading got.
func (r *reader) convert(list []line) (text string, numbers []int) {
	w := writer{reader: r, in: list}
	for w.next < len(list) {
		first, begin := w.next, len(w.out)
		l := list[w.next]
		w.next++
		r.line, r.kinds = l.n, l.kinds
		if l.code {
			w.writeLines(l.text)
		} else {
			w.convertLine(l.text)
		}
		w.reportChanges(list[first:w.next], begin)
	}
	lines := make([]string, len(w.out))
	numbers = make([]int, len(w.out))
	for i, o := range w.out {
		lines[i] = o.text
		if !o.id {
			numbers[i] = o.n
		}
	}
	return strings.Join(lines, "\n"), numbers
}

// reportChanges compares input, lines of the file, with the lines written for them from index begin on. A difference
// without a recorded kind is a problem.
func (w *writer) reportChanges(input []line, begin int) {
	begin = min(begin, len(w.out)) // an anchor replaces blank lines before it
	output := slices.DeleteFunc(slices.Clone(w.out[begin:]), func(o writtenLine) bool { return o.id })
	if len(output) == len(input) {
		unchanged := true
		for i, l := range input {
			unchanged = unchanged && output[i].text == l.text && l.kinds == 0
		}
		if unchanged {
			return
		}
	}
	if w.kinds == 0 {
		w.line = input[0].n
		w.problem(codeChanged, strings.TrimSpace(input[0].text), "the line is written otherwise")
		return
	}
	for _, l := range input {
		w.im.recordChange(w.pg.path(), l.n, w.kinds)
		if l.underlined {
			w.im.recordChange(w.pg.path(), l.n+1, w.kinds)
		}
	}
}

// markKind records how the current line is written differently.
func (r *reader) markKind(k changeKinds) { r.kinds |= k }

var (
	calloutHead = lazyregexp.New(`^\[![ \t]*([^\]|\n]*[^\]|\s])[ \t]*(?:\|[^\]]*)?\]([+-]?)[ \t]*(.*)$`)
	embedAlone  = lazyregexp.New(`^!\[\[([^\]]+)\]\][ \t]*$`)
	queryBegin  = lazyregexp.New(`(?i)^#\+BEGIN_(QUERY|SRC|EXAMPLE)\b[ \t]*(\S*)`)
	queryEnd    = lazyregexp.New(`(?i)^#\+END_(QUERY|SRC|EXAMPLE)\b`)
)

// convertLine converts one line, and the following ones if they belong to the same comment, link or tag.
func (w *writer) convertLine(text string) {
	prefix, rest := prefixOf(text)
	w.row = strings.HasPrefix(rest, "|")
	w.markup = rest != "" && (w.markup || strings.HasPrefix(rest, "<div"))
	switch {
	case rest == "" && !(w.pg.dialect == logseqDialect && bullet.MatchString(prefix)):
		w.writeLines(text)
	case w.comment(prefix, rest), w.convertByProgram(prefix, rest):
	case strings.Contains(prefix, ">") && calloutHead.MatchString(rest):
		m := calloutHead.FindStringSubmatch(rest)
		w.markKind(asCallout)
		w.writeLines(prefix + strings.TrimRight("[!"+strings.ToUpper(m[1])+"] "+w.inline(m[3]), " "))
		if m[2] != "" || strings.Contains(rest[:strings.IndexByte(rest, ']')], "|") {
			w.problem(codeCallout, rest, "whether a callout is folded, and what stands behind its kind, is not kept")
		}
		if !w.quoteContinues(prefix) { // only a title: an empty paragraph makes it a callout
			created, _ := w.pg.stamps()
			w.writeLines(prefix + tree.IAL(map[string]string{"id": w.im.newID(created)}))
		}
	case heading.MatchString(rest):
		w.heading(prefix, rest)
	case w.embed(prefix, rest):
	default:
		w.text(prefix, w.joinedText(rest), nil)
	}
}

// convertByProgram lets the program that wrote the page convert the line, and reports whether it did.
func (w *writer) convertByProgram(prefix, rest string) bool {
	program := w.im.program
	return program.line != nil && w.pg.dialect == program.dialect && program.line(w, prefix, rest)
}

// quoteContinues reports whether the next line continues the quote that prefix opens, with text.
func (w *writer) quoteContinues(prefix string) bool {
	if w.next >= len(w.in) {
		return false
	}
	next, rest := prefixOf(w.in[w.next].text)
	return strings.Count(next, ">") >= strings.Count(prefix, ">") && rest != ""
}

// writeLines appends lines to the result.
func (w *writer) writeLines(lines ...string) {
	for _, l := range lines {
		n := w.line
		for part := range strings.SplitSeq(l, "\n") {
			w.out = append(w.out, writtenLine{n: n, text: part})
			n++
		}
	}
}

// heading writes a heading, with an id if links refer to it.
func (w *writer) heading(prefix, rest string) {
	m := heading.FindStringSubmatch(rest)
	text, anchor := cutAnchor(m[1])
	if anchor != "" {
		w.markKind(asAttribute)
	}
	id := w.pg.headings[headingKey(text)]
	level := rest[:len(rest)-len(strings.TrimLeft(rest, "#"))]
	if strings.Contains(rest, text) && strings.TrimRight(rest, " \t#") != strings.TrimRight(rest, " \t") {
		w.markKind(asHeading)
	}
	w.writeLines(prefix + level + " " + w.inline(text))
	if w.next < len(w.in) && strings.HasPrefix(strings.TrimLeft(w.in[w.next].text, "> \t"), "{:") {
		return // it has an attribute list
	}
	if id != "" && w.claimID(id) {
		containers, _, _ := strings.Cut(prefix, "{:") // the attributes of an item are not part of the containers
		w.out = append(w.out, writtenLine{n: w.line, text: continuationPrefix(containers) + tree.IAL(map[string]string{"id": id}), id: true})
	}
}

// claimID marks an id as used, and reports whether it was free: of several equal headings, only the first gets the id.
func (w *writer) claimID(id string) bool {
	if slices.Contains(w.usedIDs, id) {
		return false
	}
	w.usedIDs = append(w.usedIDs, id)
	return true
}

// text writes a line of text. attrs are the attributes of the item that it begins, nil for none.
func (w *writer) text(prefix, rest string, attrs map[string]string) {
	original := rest
	rest, anchor := cutAnchor(rest)
	if rest == "" && w.isEmpty() {
		rest, anchor = original, "" // no block comes before it, so it is text
	}
	id := ""
	if anchor != "" || len(attrs) > 0 {
		w.markKind(asAttribute)
	}
	if anchor != "" {
		if id = w.pg.anchors[foldName(anchor)]; !w.claimID(id) {
			id = ""
		}
	}
	marks := strings.Fields(strings.ReplaceAll(prefix, ">", " ")) // list markers
	switch {
	case rest == "" && id != "":
		w.attachID(id)
		return
	case rest == "" && anchor != "":
		return
	case len(marks) == 1 && !strings.HasPrefix(rest, "{:") && (id != "" || len(attrs) > 0):
		if attrs == nil {
			attrs = map[string]string{}
		}
		if id != "" && attrs["id"] == "" {
			attrs["id"] = id
		}
		w.writeLines(prefix + tree.IAL(attrs) + w.inlineMultiline(prefix, rest))
	default:
		w.writeLines(prefix + w.inlineMultiline(prefix, rest))
		if id != "" {
			w.writeLines(continuationPrefix(prefix) + tree.IAL(map[string]string{"id": id}))
		}
	}
}

// inlineMultiline is inline for text that may continue on further lines of the same containers.
func (w *writer) inlineMultiline(prefix, text string) string {
	text = w.inline(text)
	if strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\n", "\n"+continuationPrefix(prefix))
	}
	return text
}

// maxWrapped bounds the lines over which a link or tag may extend.
const maxWrapped = 20

// joinedText returns the text of a line. If a link, tag or code span is still open at its end, the next lines are
// joined to it up to where the span closes, provided that conversion then changes the text.
func (w *writer) joinedText(rest string) string {
	if !hasUnclosed(rest) {
		return rest
	}
	var joined strings.Builder
	joined.WriteString(rest)
	for n := w.next; n < min(w.next+maxWrapped, len(w.in)) && !w.in[n].code; n++ {
		prefix, next := prefixOf(w.in[n].text)
		if next == "" || strings.Trim(prefix, "> \t") != "" || heading.MatchString(next) || strings.HasPrefix(next, "{:") ||
			strings.HasPrefix(next, "|") || property.MatchString(next) && w.pg.dialect == logseqDialect {
			break
		}
		if joined.WriteString("\n" + next); hasUnclosed(joined.String()) {
			continue
		}
		if w.inlineQuietly(joined.String()) == joined.String() {
			break
		}
		w.next = n + 1
		w.markKind(asLayout)
		return joined.String()
	}
	return rest
}

// inlineQuietly is inline without reporting anything.
func (w *writer) inlineQuietly(text string) string {
	r := *w.reader
	r.quiet = true
	return r.inline(text)
}

// hasUnclosed reports whether a link, tag or code span begins in a text and does not end there.
func hasUnclosed(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
			end := closingBackticks(text[i+run:], run)
			if end < 0 {
				return true
			}
			i += run + end + run - 1
		case '[':
			end := closingBracket(text[i:])
			if end < 0 {
				return true
			}
			if after := text[i+end+1:]; strings.HasPrefix(after, "(") {
				_, _, length := destinationOf(after)
				if length == 0 {
					return true
				}
				i += end + length // the label contains no end of a link
			} else if after == "" && strings.Contains(text[i:i+end], "\n") {
				continue
			}
		case '<':
			if i+1 < len(text) && (isLetter(text[i+1]) || text[i+1] == '!') && !strings.Contains(text[i:], ">") {
				return true
			}
		}
	}
	return false
}

func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

// isEmpty reports whether nothing has been written yet.
func (w *writer) isEmpty() bool {
	return !slices.ContainsFunc(w.out, func(o writtenLine) bool { return strings.TrimSpace(o.text) != "" })
}

// attachID gives an id to the block above: a table, a list, a quote or code.
func (w *writer) attachID(id string) {
	for len(w.out) > 0 && strings.TrimSpace(w.out[len(w.out)-1].text) == "" {
		w.out = w.out[:len(w.out)-1]
	}
	if strings.HasPrefix(strings.TrimLeft(w.out[len(w.out)-1].text, " "), ">") {
		w.writeLines(">")
	}
	w.writeLines(tree.IAL(map[string]string{"id": id}), "")
}

// comment converts a comment over several lines, %% ... %%, to an HTML comment. It returns false if the line begins
// none, or if the comment must stay text.
func (w *writer) comment(prefix, rest string) bool {
	if !strings.HasPrefix(rest, "%%") || strings.Contains(rest[2:], "%%") || w.pg.dialect != plain || w.next <= w.comments {
		return false
	}
	body := []string{strings.TrimSpace(rest[2:])}
	code := strings.Contains(rest, "--")
	for at := w.next; at < len(w.in); at++ {
		code = code || w.in[at].code || strings.Contains(w.in[at].text, "--")
		inner, after, closed := strings.Cut(strings.TrimLeft(w.in[at].text, ">"), "%%")
		if inner = strings.TrimSpace(inner); inner != "" {
			body = append(body, inner)
		}
		if !closed {
			continue
		}
		if code { // an HTML comment cannot contain it, so it stays text
			w.comments = at + 1
			return false
		}
		w.markKind(asComment)
		text := strings.TrimSpace(strings.Join(body, "\n"+continuationPrefix(prefix)))
		w.writeLines(prefix + "<!-- " + text + " -->")
		w.next = at + 1
		if after = strings.TrimSpace(after); after != "" {
			w.text(continuationPrefix(prefix), after, nil)
		}
		return true
	}
	return false // it is not closed, so it is text
}

// embed converts an embedded page or block, alone on its line, to the block that shows it.
func (w *writer) embed(prefix, rest string) bool {
	m := embedAlone.FindStringSubmatch(rest)
	if m == nil {
		return false
	}
	name, _ := cutShown(m[1])
	t, why := w.find(name)
	if why != "" {
		return false
	}
	w.markKind(asEmbed)
	w.block(prefix, embedQuery(t.ref()))
	return true
}

// block writes a line that is a block, with blank lines around it unless it begins an item.
func (w *writer) block(prefix, text string) {
	blank := strings.TrimRight(continuationPrefix(prefix), " \t")
	if strings.TrimLeft(prefix, "> \t") == "" && len(w.out) > 0 {
		w.writeLines(blank)
	}
	w.writeLines(prefix+text, blank)
}
