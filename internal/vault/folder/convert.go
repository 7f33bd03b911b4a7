package folder

import (
	"slices"
	"strings"

	"collie/internal/vault/tree"
)

// writer collects the lines of a page in SiYuan's Markdown.
type writer struct {
	*reader
	in   []line
	out  []string
	next int // of in
}

// convert turns the lines of a page into SiYuan's Markdown.
func (r *reader) convert(list []line) string {
	w := writer{reader: r, in: list}
	for w.next < len(list) {
		l := list[w.next]
		w.next++
		r.line = l.n
		if l.code {
			w.out = append(w.out, l.text)
			continue
		}
		w.take(l.text)
	}
	return strings.Join(w.out, "\n")
}

var (
	calloutHead = pattern(`^\[!([\p{L}\p{N}_-]+)(?:\|[^\]]*)?\]([+-]?)[ \t]*(.*)$`)
	embedAlone  = pattern(`^!\[\[([^\]]+)\]\][ \t]*$`)
	queryBegin  = pattern(`(?i)^#\+BEGIN_(QUERY|SRC|EXAMPLE)\b[ \t]*(\S*)`)
	queryEnd    = pattern(`(?i)^#\+END_(QUERY|SRC|EXAMPLE)\b`)
)

func (w *writer) take(text string) {
	prefix, rest := prefixOf(text)
	w.row = strings.HasPrefix(rest, "|")
	switch {
	case rest == "" && !(w.pg.dialect == logseq && bullet().MatchString(prefix)):
		w.put(text)
	case w.comment(prefix, rest), w.pg.dialect == logseq && w.logseqLine(prefix, rest):
	case strings.Contains(prefix, ">") && calloutHead().MatchString(rest):
		m := calloutHead().FindStringSubmatch(rest)
		w.put(prefix + strings.TrimRight("[!"+strings.ToUpper(m[1])+"] "+w.inline(m[3]), " "))
		if !w.quoteGoesOn(prefix) { // only a title: an empty paragraph makes it a callout
			created, _ := w.pg.stamps()
			w.put(prefix + tree.IAL(map[string]string{"id": w.im.mint(created)}))
		}
	case heading().MatchString(rest):
		w.heading(prefix, rest)
	case w.embed(prefix, rest):
	default:
		w.text(prefix, rest, nil)
	}
}

// quoteGoesOn reports whether the next line has text in the quote that a prefix opens.
func (w *writer) quoteGoesOn(prefix string) bool {
	if w.next >= len(w.in) {
		return false
	}
	next, rest := prefixOf(w.in[w.next].text)
	return strings.Count(next, ">") >= strings.Count(prefix, ">") && rest != ""
}

func (w *writer) put(lines ...string) { w.out = append(w.out, lines...) }

// heading writes a heading with the id that links to it name.
func (w *writer) heading(prefix, rest string) {
	m := heading().FindStringSubmatch(rest)
	text, _ := cutAnchor(m[1])
	id := w.pg.headings[headingKey(text)]
	level := rest[:len(rest)-len(strings.TrimLeft(rest, "#"))]
	w.put(prefix + level + " " + w.inline(text))
	if w.next < len(w.in) && strings.HasPrefix(strings.TrimLeft(w.in[w.next].text, "> \t"), "{:") {
		return // it has an attribute list
	}
	if id != "" && w.once(id) {
		containers, _, _ := strings.Cut(prefix, "{:") // those of an item are no part of where it lies
		w.put(continued(containers) + tree.IAL(map[string]string{"id": id}))
	}
}

// once reports whether no block was given an id yet: of headings with one text the first has it.
func (w *writer) once(id string) bool {
	if slices.Contains(w.given, id) {
		return false
	}
	w.given = append(w.given, id)
	return true
}

// text writes a line of text. attrs are those of the item it begins, nil for none.
func (w *writer) text(prefix, rest string, attrs map[string]string) {
	rest, anchor := cutAnchor(rest)
	id := ""
	if anchor != "" {
		if id = w.pg.anchors[folded(anchor)]; !w.once(id) {
			id = ""
		}
	}
	begins := strings.TrimLeft(prefix, "> \t") != "" // an item
	switch {
	case rest == "" && id != "":
		w.attach(id)
		return
	case rest == "" && anchor != "":
		return
	case begins && !strings.HasPrefix(rest, "{:") && (id != "" || len(attrs) > 0):
		if attrs == nil {
			attrs = map[string]string{}
		}
		if id != "" && attrs["id"] == "" {
			attrs["id"] = id
		}
		w.put(prefix + tree.IAL(attrs) + w.inline(rest))
	default:
		w.put(prefix + w.inline(rest))
		if id != "" {
			w.put(continued(prefix) + tree.IAL(map[string]string{"id": id}))
		}
	}
}

// attach gives an id to the block above: a table, a list, a quote or code.
func (w *writer) attach(id string) {
	for len(w.out) > 0 && strings.TrimSpace(w.out[len(w.out)-1]) == "" {
		w.out = w.out[:len(w.out)-1]
	}
	if len(w.out) == 0 {
		return
	}
	if strings.HasPrefix(strings.TrimLeft(w.out[len(w.out)-1], " "), ">") {
		w.put(">")
	}
	w.put(tree.IAL(map[string]string{"id": id}), "")
}

// comment writes %% a comment over several lines %%.
func (w *writer) comment(prefix, rest string) bool {
	if !strings.HasPrefix(rest, "%%") || strings.Contains(rest[2:], "%%") || w.pg.dialect != plain {
		return false
	}
	body := []string{strings.TrimSpace(rest[2:])}
	for at := w.next; at < len(w.in); at++ {
		inner, after, closed := strings.Cut(strings.TrimLeft(w.in[at].text, ">"), "%%")
		if inner = strings.TrimSpace(inner); inner != "" {
			body = append(body, inner)
		}
		if !closed {
			continue
		}
		text := strings.TrimSpace(strings.Join(body, "\n"+continued(prefix)))
		w.put(prefix + "<!-- " + strings.ReplaceAll(text, "--", "—") + " -->")
		w.next = at + 1
		if after = strings.TrimSpace(after); after != "" {
			w.text(continued(prefix), after, nil)
		}
		return true
	}
	return false // nothing closes it: it is text
}

// embed writes a page or block that is embedded on a line of its own as the block that shows it.
func (w *writer) embed(prefix, rest string) bool {
	m := embedAlone().FindStringSubmatch(rest)
	if m == nil {
		return false
	}
	name, _ := cutShown(m[1])
	t, why := w.find(name)
	if why != "" {
		return false
	}
	w.block(prefix, embedQuery(t.ref()))
	return true
}

// block writes a line that is a block of its own, with blank lines around it unless an item begins with it.
func (w *writer) block(prefix, text string) {
	blank := strings.TrimRight(continued(prefix), " \t")
	if strings.TrimLeft(prefix, "> \t") == "" && len(w.out) > 0 {
		w.put(blank)
	}
	w.put(prefix+text, blank)
}
