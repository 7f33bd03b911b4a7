package content

import (
	"slices"
	"strings"
	"unicode/utf8"

	"collie/internal/source/siyuan/kernel"
)

// This file edits the text of one block, so that its attribute list stays.

// editedBlock is a block being edited: its text, and separately its attribute list, which the edit keeps.
type editedBlock struct {
	block    kernel.Block
	before   string    // original kramdown
	attrList string    // its attribute list, "" if it has none on a line of its own
	body     string    // kramdown without attrList
	first    string    // original body
	view     *view     // of body
	skipped  string    // the block type that cannot be edited; "" if the block can
	updated  bool      // it was written
	redactor *Redactor // what its reader must not see
}

func newEditedBlock(b kernel.Block, kramdown string, redactor *Redactor) *editedBlock {
	p := &editedBlock{block: b, before: kramdown, body: kramdown, redactor: redactor}
	if listSpan, ok := attrListSpan(kramdown, b.ID); ok {
		p.attrList, p.body = strings.TrimSpace(kramdown[listSpan.from:listSpan.to]), kramdown[:listSpan.from]
	}
	switch {
	case isNotText(b.Type):
		p.skipped = b.Type
	case isContainer(b.Type):
		p.skipped = firstComplexType(kramdown)
	}
	p.first, p.view = p.body, viewOf(p.body, p.redactor)
	return p
}

// attrListSpan returns the span of a block's own attribute list, the last line of its kramdown.
func attrListSpan(kramdown string, id kernel.ID) (at span, ok bool) {
	for _, s := range slices.Backward(hiddenSpans(kramdown)) {
		if s.kind == listLine && attrsOf(kramdown[s.from:s.to])["id"] == string(id) && strings.Trim(kramdown[s.to:], " \t\n") == "" {
			return s, true
		}
	}
	return span{}, false
}

func (p *editedBlock) text() string { return p.view.text }

// kramdown returns the current state of the block.
func (p *editedBlock) kramdown() string { return withAttrList(p.body, p.attrList) }

func withAttrList(body, own string) string {
	switch {
	case own == "":
		return body
	case body == "":
		return own
	}
	return body + "\n" + own
}

// editRefusal is the reason why an edit cannot be made.
type editRefusal string

const (
	touchesAttributes editRefusal = "it would touch attributes that stand between the words and are not shown, such as a style or the ids of list items"
	losesAttributes   editRefusal = "it would remove a block inside that has attributes of its own, such as a name, a memo or a bookmark"
)

// replace replaces text[i:j], which is not empty. If there are attribute lists in between, it works line by line, so
// that each inner block keeps its own.
func (p *editedBlock) replace(i, j int, with string) editRefusal {
	v := p.view
	from, to := v.rawStart(i), v.rawEnd(j)
	want := v.text[:i] + with + v.text[j:]
	if !v.hasListBetween(from, to) && (!strings.Contains(with, "\n") || !v.hasListLine()) {
		p.setBody(p.body[:from] + with + p.body[to:])
		return p.checkText(want)
	}
	a := strings.LastIndexByte(v.text[:i], '\n') + 1
	b := len(v.text)
	if n := strings.IndexByte(v.text[j:], '\n'); n >= 0 {
		b = j + n
	}
	if reason := p.replaceLines(a, strings.Split(v.text[a:b], "\n"), strings.Split(v.text[a:i]+with+v.text[j:b], "\n")); reason != "" {
		return reason
	}
	return p.checkText(want)
}

// setBody replaces the body.
func (p *editedBlock) setBody(body string) { p.body, p.view = body, viewOf(body, p.redactor) }

// checkText verifies that readers now see want, and that no attribute list was added or removed, also by several edits
// together.
func (p *editedBlock) checkText(want string) editRefusal {
	if hasID(p.view.text) && !hasID(viewOf(p.first, p.redactor).text) {
		return touchesAttributes
	}
	if strings.TrimRight(p.view.text, " \t\n>") != strings.TrimRight(Clean(p.redactor.Text(want)), " \t\n>") {
		return touchesAttributes
	}
	return ""
}

// rawChange is one change of raw text.
type rawChange struct {
	from, to int
	with     string
}

// replaceLines replaces whole lines, which begin at text[a], by others.
func (p *editedBlock) replaceLines(a int, old, with []string) editRefusal {
	for len(old) > 0 && len(with) > 0 && old[0] == with[0] {
		a += len(old[0]) + 1
		old, with = old[1:], with[1:]
	}
	for len(old) > 0 && len(with) > 0 && old[len(old)-1] == with[len(with)-1] {
		old, with = old[:len(old)-1], with[:len(with)-1]
	}
	var changes []rawChange
	for len(old) > 0 && len(with) > 0 {
		c, reason := p.changeWithinLine(a, old[0], with[0])
		if reason != "" {
			return reason
		}
		changes = append(changes, c)
		a += len(old[0]) + 1
		old, with = old[1:], with[1:]
	}
	for ; len(old) > 0; old = old[1:] {
		c, reason := p.removeLine(a, old[0])
		if reason != "" {
			return reason
		}
		changes = append(changes, c)
		a += len(old[0]) + 1
	}
	if len(with) > 0 {
		changes = append(changes, p.insertLines(a, with))
	}
	body := p.body
	end := len(body)
	for _, c := range slices.Backward(changes) {
		if c.to > end {
			return touchesAttributes
		}
		body = body[:c.from] + c.with + body[c.to:]
		end = c.from
	}
	p.setBody(body)
	return ""
}

// changeWithinLine returns the change that turns the line old, which begins at text[a], into the line with. It covers
// only what differs, whole characters, and fails if an attribute list is in between.
func (p *editedBlock) changeWithinLine(a int, old, with string) (rawChange, editRefusal) {
	i, j, k := 0, len(old), len(with) // in the end, old[i:j] becomes with[i:k]
	for i < j && i < k && old[i] == with[i] {
		i++
	}
	for i > 0 && i < len(old) && !utf8.RuneStart(old[i]) {
		i--
	}
	for j > i && k > i && old[j-1] == with[k-1] {
		j, k = j-1, k-1
	}
	for j < len(old) && !utf8.RuneStart(old[j]) {
		j, k = j+1, k+1
	}
	v := p.view
	from := v.rawEnd(a + i)
	if a+j < len(v.text) && v.text[a+j] != '\n' || j > i {
		from = v.rawStart(a + i)
	}
	to := from
	if j > i {
		to = v.rawEnd(a + j)
	}
	if v.hasListBetween(from, to) {
		return rawChange{}, touchesAttributes
	}
	return rawChange{from, to, with[i:k]}, ""
}

// removeLine removes a line and its attribute lists, which belong to an inner block without attributes other than its
// id.
func (p *editedBlock) removeLine(a int, text string) (rawChange, editRefusal) {
	v := p.view
	from, to := v.rawLineStart(a), v.rawLineEnd(a+len(text))
	depth, marked := depthOf(text)
	for _, s := range v.spans {
		if s.kind != listLine || s.from != to {
			continue
		}
		d := listDepth(p.body[s.from:s.to])
		isOuter := d < depth || d == depth && marked // of a block around the line; for a list item, of its list
		if isOuter {
			break
		}
		to = s.to
	}
	for _, attrs := range Attributes(p.body[from:to]) {
		for name := range attrs {
			if name != "id" && name != "updated" {
				return rawChange{}, losesAttributes
			}
		}
	}
	switch { // one line break goes too: the one before the line, or the one after the first line
	case from > 0:
		from--
	case to < len(p.body):
		to++
	}
	return rawChange{from, to, ""}, ""
}

// insertLines inserts lines before the line that begins at text[a], after the line above and its attribute lists.
func (p *editedBlock) insertLines(a int, with []string) rawChange {
	if a == 0 {
		return rawChange{0, 0, strings.Join(with, "\n") + "\n"}
	}
	v := p.view
	at := v.rawLineEnd(a - 1)
	blank := strings.Trim(with[0], " \t>") == ""
	first := with[0]
	for _, text := range with {
		if strings.Trim(text, " \t>") != "" {
			first = text
			break
		}
	}
	depth, marked := depthOf(first)
	for _, s := range v.spans {
		if s.kind != listLine || s.from != at {
			continue
		}
		d := listDepth(p.body[s.from:s.to])
		isOuter := d < depth || d == depth && marked // of a block around the new lines
		goesOn := d == depth && !blank               // of the block above, which the new lines continue
		if isOuter || goesOn {
			break
		}
		at = s.to
	}
	return rawChange{at, at, "\n" + strings.Join(with, "\n")}
}

// depthOf returns how deep a line is nested in quotes and lists, and whether it begins a list item.
func depthOf(text string) (depth int, marked bool) {
	rest := strings.TrimLeft(text, " \t>")
	return len(text) - len(rest), bulletItem.MatchString(rest) || orderedItem.MatchString(rest)
}

// listDepth returns depthOf for a span that is an attribute list.
func listDepth(span string) int {
	depth, _ := depthOf(strings.TrimLeft(span, "\n"))
	return depth
}
