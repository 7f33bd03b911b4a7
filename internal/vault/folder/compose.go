package folder

import (
	"slices"
	"strings"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
)

// This file composes the text that a sync writes into the file of a document. Lines of unchanged blocks stay as they are.

// section is a part of a file that can be written or kept on its own: the lines of some blocks at the top of the document.
type section struct {
	from, to int // lines of the file, from 1, inclusive
	tail     int // the last line before the next section: blank lines, definitions of links
	blocks   []*tree.Block
	hashes   []string
}

// compose returns the text of the file for a document. old is the present text, if the file exists; its lines of unchanged
// blocks stay. made is the hash of what an import would make of the new text. lost lists what Markdown cannot express.
func (x *exportPhase) compose(pg *page, root *tree.Block, old []byte, exists bool) (text []byte, made string, lost []string) {
	want := contentHash(root.Attrs, root.Children)
	if exists {
		kept, made := x.followLinks(pg, root, old, want)
		if made != "" {
			return kept, made, nil
		}
		old = kept
	}
	w := x.writer(pg, !x.o.Plain, func(what string) { lost = append(lost, what) })
	front := func(yamlText string) string {
		title := ""
		if pg.title != stem(pg.file) || pg.front.title != "" {
			title = pg.title
		}
		return obsidianFront(root.Attrs, title, yamlText)
	}
	children := root.Children
	if len(children) == 1 && children[0].Kind == tree.Paragraph && children[0].Text == "" && len(contentAttrs(children[0].Attrs)) == 0 {
		children = nil
	}
	whole := func() []byte {
		body := w.blocks(children)
		if body != "" {
			body += "\n"
		}
		head := front("")
		if head != "" && body != "" && !exists {
			head += "\n"
		}
		return []byte(head + body)
	}
	unsaid := func() []string { // what to report if an import of the text would not give the document
		if len(lost) == 0 {
			return []string{"Markdown cannot say some block of it exactly: the notebook keeps it as it is"}
		}
		return lost
	}
	if !exists {
		data := whole()
		made = x.ex.importedHash(pg, data)
		if made == want {
			return data, made, nil
		}
		return data, made, unsaid()
	}
	var best []byte
	bestMade := ""
	for _, how := range []patchMode{{refine: true}, {}, {refine: true, neighbors: true}, {neighbors: true}} {
		if data := x.patch(pg, root, children, old, front, w, how); data != nil {
			hash := x.ex.importedHash(pg, data)
			if hash == want {
				return data, hash, nil
			}
			if best == nil {
				best, bestMade = data, hash
			}
		}
	}
	f := splitFile(old)
	data := []byte(f.bom + f.fresh(string(whole())))
	hash := x.ex.importedHash(pg, data)
	if hash == want {
		return data, hash, nil
	}
	if best == nil {
		return data, hash, unsaid()
	}
	return best, bestMade, unsaid()
}

// followLinks returns the text of a file with only two kinds of changes: links follow targets that have moved, and blocks to
// which links refer get their ^name. made is the hash of what an import makes of that text. If the document has other
// changes too, made is "", and compose writes the changed blocks into text.
func (x *exportPhase) followLinks(pg *page, root *tree.Block, old []byte, want string) (text []byte, made string) {
	text, made = old, x.ex.importedHash(pg, old)
	if made != want {
		r := x.relink(pg, old)
		if r == nil {
			return old, ""
		}
		switch text = r.text; {
		case r.before == want && r.open:
			made = want // the next import takes the file for a changed one, and reads these links again
		case r.before == want:
			made = r.after
		case r.after != want:
			return text, ""
		}
	}
	if !x.titleFits(pg, text) {
		return text, ""
	}
	if x.needsName(root, x.namesIn(pg, text)) {
		if text = x.addNames(pg, root, text); x.needsName(root, x.namesIn(pg, text)) {
			return text, ""
		}
	}
	return text, made
}

// titleFits reports whether an import of a file would give the title of its page.
func (x *exportPhase) titleFits(pg *page, data []byte) (fits bool) {
	x.ex.readAs(pg, data, func(p *page) { fits = x.ex.titleOf(p) == tidied(pg.title) })
	return fits
}

// importedHash returns the hash of what an import would make of a text for a page.
func (im *importer) importedHash(pg *page, data []byte) string {
	hash := ""
	im.readAs(pg, data, func(p *page) { hash = contentHash(im.rootAttrs(p), im.blocks(p)) })
	return hash
}

// importedBlocks returns the blocks that an import would make of a text for a page.
func (im *importer) importedBlocks(pg *page, data []byte) (blocks []*tree.Block) {
	im.readAs(pg, data, func(p *page) { blocks = im.blocks(p) })
	return blocks
}

// readAs calls use with a copy of a page, as if data were the text of its file. If data cannot be read, it does not call
// use.
func (im *importer) readAs(pg *page, data []byte, use func(p *page)) {
	p := *pg
	p.front = frontMatter{}
	im.s.texts[pg.file] = data
	defer delete(im.s.texts, pg.file)
	im.s.files[pg.file] = foundFile{size: int64(len(data)), changed: pg.modified}
	if _, ok := im.open(&p, true); ok {
		use(&p)
	}
}

// writer returns a writer of blocks for the file of a page. With exact, what Obsidian does not know is written in
// SiYuan's form.
func (x *exportPhase) writer(pg *page, exact bool, lost func(string)) *obsidianWriter {
	return &obsidianWriter{
		link: func(id string) string { return x.link(pg, id) },
		shown: func(id string) string {
			if p := x.pages[id]; p != nil {
				return p.title
			}
			return x.headings[id]
		},
		asset: func(address string) string {
			at := x.assets[address]
			if at == "" {
				return ""
			}
			return encodeAddress(relativeTo(pg.file, at))
		},
		anchor: func(id string) string { return x.anchors[id] },
		keepID: func(id string) bool { return x.keepIDs[id] },
		exact:  exact, lost: lost,
	}
}

// link returns the text inside a wiki link from a page to a document or block, "" if no wiki link can lead there.
func (x *exportPhase) link(from *page, id string) string {
	to, fragment := x.pages[id], ""
	if to == nil {
		to = x.pages[x.owner[id]]
		if to == nil {
			return ""
		}
		switch {
		case x.anchors[id] != "":
			fragment = "#^" + x.anchors[id]
		case x.headings[id] != "" && to.headings[headingKey(x.headings[id])] == id:
			fragment = "#" + x.headings[id]
		default:
			return ""
		}
		if got, ok := to.fragmentTarget(fragment[1:]); !ok || got != id {
			return ""
		}
	}
	if to == from && fragment != "" {
		return fragment
	}
	at := to.dir
	if to.file != "" {
		at = strings.TrimSuffix(to.file, ".md")
	}
	for _, name := range []string{stem(at + ".md"), at, relativeTo(from.file, at), "/" + at} {
		if !notInLink.MatchString(name) && name == strings.TrimSpace(name) && x.ex.index.wiki(from, name) == to {
			return name + fragment
		}
	}
	return ""
}

// patchMode says which lines of a file patch keeps: those of blocks that have not changed.
type patchMode struct {
	refine bool // also lines inside of changed blocks
	// neighbors means that blocks beside changed ones are written again too, since they may need a separator, such as
	// one between two lists.
	neighbors bool
}

// patch writes the changed blocks of a document into the text of its file, and keeps other lines as how says. It returns
// nil if the text cannot be split into sections.
func (x *exportPhase) patch(pg *page, root *tree.Block, children []*tree.Block, old []byte, front func(string) string, w *obsidianWriter, how patchMode) []byte {
	f := splitFile(old)
	sections, head, ok := x.sections(pg, old, &f)
	if !ok {
		return nil
	}
	yamlText, _, frontLines, found := cutFront(strings.Join(f.lines, "\n"))
	if !found {
		yamlText, frontLines = "", 0
	}
	var out strings.Builder
	out.WriteString(f.bom)
	p := *pg
	x.ex.s.texts[pg.file] = old
	_, opened := x.ex.open(&p, true)
	delete(x.ex.s.texts, pg.file)
	switch {
	case opened && slices.Equal(contentAttrs(x.ex.rootAttrs(&p)), contentAttrs(root.Attrs)) && x.titleFits(pg, old):
		out.WriteString(f.text(1, frontLines))
	default:
		out.WriteString(f.fresh(front(yamlText)))
	}
	out.WriteString(f.text(frontLines+1, head))
	want, had := make([]string, len(children)), x.namesIn(pg, old)
	for i, b := range children {
		want[i] = blockHash(b)
		if x.needsName(b, had) || x.needsID(b, pg) {
			want[i] += "+" // its line gets a ^name
		}
	}
	kept := keptSections(sections, want)
	if how.neighbors {
		loosenNeighbors(kept, sections, len(children))
	}
	text := x.patchBody(&f, sections, kept, children, w, how.refine)
	definitions := f.definitionsAfter(sections, text)
	open := len(f.ends) > 0 && f.ends[len(f.ends)-1] == "" // the file ends without an end of line
	if text != "" && !strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\r") && (definitions != "" || !open) {
		text += f.end
	}
	out.WriteString(text + definitions)
	return []byte(out.String())
}

// definitionsAfter returns lines for the end of the file: those after the last section, and before them the definitions of
// links between sections that patchBody did not keep. Of definitions it has those that body uses and does not define
// itself, as they are in the file; without any it returns "".
func (f *fileText) definitionsAfter(sections []section, body string) string {
	if len(sections) == 0 {
		return ""
	}
	var text strings.Builder // of body, without definitions
	defined := map[string]bool{}
	for l := range strings.SplitSeq(body, "\n") {
		if m := definition.FindStringSubmatch(strings.TrimSuffix(l, "\r")); m != nil {
			defined[foldName(m[1])] = true
		} else {
			text.WriteString(foldName(l))
		}
	}
	unused := func(m []string) bool {
		name := foldName(m[1])
		return defined[name] || !strings.Contains(text.String(), "["+name+"]")
	}
	var between, after strings.Builder
	found := false
	for i, s := range sections {
		isLast := i == len(sections)-1
		for n := s.to + 1; n <= s.tail; n++ {
			switch m := definition.FindStringSubmatch(f.lines[n-1]); {
			case m == nil && isLast:
				after.WriteString(f.text(n, n))
			case m == nil || unused(m):
			case isLast:
				found = true
				after.WriteString(f.text(n, n))
			default:
				between.WriteString(f.text(n, n))
			}
		}
	}
	if between.Len() > 0 { // in CommonMark a definition cannot interrupt a paragraph
		between.WriteString(strings.TrimLeft(after.String(), "\r\n"))
		return f.end + between.String()
	}
	if !found {
		return ""
	}
	return after.String()
}

// keptSections returns, for each section of a file, the index of its first block if all its blocks stay as they are, and
// -1 otherwise. want are the hashes of the blocks that are to be in the file.
func keptSections(sections []section, want []string) []int {
	var have []string
	for _, s := range sections {
		have = append(have, s.hashes...)
	}
	partner := alignHashes(have, want) // index in want by index in have, -1 for none
	kept := make([]int, len(sections))
	at := 0
	for i, s := range sections {
		kept[i] = -1
		if len(s.hashes) > 0 && partner[at] >= 0 {
			kept[i] = partner[at]
			for k := range s.hashes {
				if partner[at+k] != partner[at]+k {
					kept[i] = -1
				}
			}
		}
		at += len(s.hashes)
	}
	return kept
}

// patchBody returns the text of blocks, with the sections that stay as they are in the file. kept is as [keptSections]
// returns it. refine keeps lines inside of changed blocks too.
func (x *exportPhase) patchBody(f *fileText, sections []section, kept []int, children []*tree.Block, w *obsidianWriter, refine bool) string {
	var body pieces
	next := 0 // in children
	lastSection := -1
	write := func(to, until int) { // blocks up to "to", in the place of the sections before "until"
		if next >= to {
			return
		}
		text := ""
		if refine {
			text = x.keepEqualLines(children[next:to], sections[lastSection+1:until], f, w)
		}
		if text == "" {
			text = w.blocks(children[next:to])
		}
		body.addText(f, f.fresh(text), lastSection+1, until-1, sections)
	}
	for i, s := range sections {
		if len(s.hashes) == 0 {
			continue
		}
		if kept[i] < 0 {
			continue
		}
		write(kept[i], i)
		body.addUnchanged(f, i, sections)
		next, lastSection = kept[i]+len(s.hashes), i
	}
	write(len(children), len(sections))
	return body.text()
}

// loosenNeighbors sets kept to -1 for the sections beside changed or new blocks, so that they are written again too. kept
// has, for each section, the index of its first block if it stays, and -1 otherwise. blocks is the number of blocks.
func loosenNeighbors(kept []int, sections []section, blocks int) {
	var stay []int // sections
	for i := range kept {
		if kept[i] >= 0 {
			stay = append(stay, i)
		}
	}
	was := slices.Clone(kept)
	end := func(i int) int { return was[i] + len(sections[i].hashes) }
	for n, i := range stay {
		before, after := 0, blocks // where the previous section that stays ends, and the next one begins
		if n > 0 {
			before = end(stay[n-1])
		}
		if n+1 < len(stay) {
			after = was[stay[n+1]]
		}
		if was[i] != before || end(i) != after {
			kept[i] = -1
		}
	}
}

// needsID reports whether a block, or a block inside it, must be written with an id that its file does not have yet.
func (x *exportPhase) needsID(b *tree.Block, pg *page) (needs bool) {
	b.Walk(func(b *tree.Block) { needs = needs || x.keepIDs[b.ID] && !slices.Contains(pg.definedIDs, b.ID) })
	return needs
}

// pieces collects the text of a file, section by section.
type pieces struct {
	out  strings.Builder
	last int // the last section that was written or replaced, -1 at the beginning
	any  bool
}

// addUnchanged adds a section as it is in the file.
func (p *pieces) addUnchanged(f *fileText, i int, sections []section) {
	p.addGap(f, i, sections)
	p.out.WriteString(f.text(sections[i].from, sections[i].to))
	p.last, p.any = i, true
}

// addText adds a text in the place of sections from first to last; last < first where it replaces none.
func (p *pieces) addText(f *fileText, text string, first, last int, sections []section) {
	if text == "" {
		return
	}
	p.addGap(f, first, sections)
	p.out.WriteString(text)
	p.any = true
	if last >= first {
		p.last = last
	} else {
		p.last = -2
	}
}

// addGap adds what separates the last piece from a section: the text that the file has there, or else a blank line.
func (p *pieces) addGap(f *fileText, next int, sections []section) {
	if !p.any {
		return
	}
	if p.last >= 0 && next == p.last+1 && next < len(sections) {
		if s := p.out.String(); !strings.HasSuffix(s, "\n") && !strings.HasSuffix(s, "\r") {
			p.out.WriteString(f.end)
		}
		p.out.WriteString(f.text(sections[p.last].to+1, sections[p.last].tail))
		return
	}
	s := p.out.String()
	for range 2 {
		if !strings.HasSuffix(s, f.end+f.end) {
			p.out.WriteString(f.end)
			s += f.end
		}
	}
}

func (p *pieces) text() string { return p.out.String() }

// keepEqualLines writes changed blocks in the place of sections, and keeps the lines that are the same. It returns "" if that
// is not possible.
func (x *exportPhase) keepEqualLines(blocks []*tree.Block, replaced []section, f *fileText, w *obsidianWriter) string {
	if len(replaced) == 0 {
		return ""
	}
	var before []*tree.Block
	for _, s := range replaced {
		before = append(before, s.blocks...)
	}
	from, to := replaced[0].from, replaced[len(replaced)-1].to
	was := strings.Split(w.blocks(before), "\n")
	lines := f.lines[from-1 : to]
	if len(was) != len(lines) {
		return ""
	}
	is := strings.Split(w.blocks(blocks), "\n")
	partner := alignHashes(is, was)
	for i, at := range partner {
		if at >= 0 {
			is[i] = lines[at]
		}
	}
	return strings.Join(is, "\n")
}

// sections splits a file into sections. head is the last line before the first section.
func (x *exportPhase) sections(pg *page, data []byte, f *fileText) (list []section, head int, ok bool) {
	p := *pg
	x.ex.s.texts[pg.file] = data
	defer delete(x.ex.s.texts, pg.file)
	x.ex.s.files[pg.file] = foundFile{size: int64(len(data)), changed: pg.modified}
	lines, ok := x.ex.open(&p, true)
	if !ok {
		return nil, 0, false
	}
	_, _, frontLines, _ := cutFront(strings.Join(f.lines, "\n"))
	if len(lines) > 0 && lines[0].n != frontLines+1 {
		return nil, 0, false // front matter that cannot be parsed
	}
	full := x.ex.blocks(&p)
	r := &reader{im: x.ex, pg: &p, quiet: true}
	lines, r.defs = cutDefinitions(lines, func(line) {})
	var groups [][]line
	for _, l := range lines {
		if len(groups) > 0 && !beginsSection(groups[len(groups)-1], l) {
			groups[len(groups)-1] = append(groups[len(groups)-1], l)
			continue
		}
		if strings.TrimSpace(l.text) == "" && !l.code {
			if len(groups) > 0 {
				groups[len(groups)-1] = append(groups[len(groups)-1], l)
			}
			continue
		}
		groups = append(groups, []line{l})
	}
	next := 0 // in full
	for i := 0; i < len(groups); {
		group := groups[i]
		taken := 1
		var s section
		for ; ; taken++ {
			s = x.parsed(r, group)
			if matchesHashes(s.hashes, full[next:]) {
				break
			}
			if taken >= maxJoined || i+taken >= len(groups) {
				for _, rest := range groups[i+taken:] { // the rest is one section
					group = append(group, rest...)
				}
				s = span(group)
				s.blocks = full[next:]
				s.hashes = hashesOf(s.blocks)
				taken = len(groups) - i
				break
			}
			group = append(slices.Clone(group), groups[i+taken]...)
		}
		s.blocks = full[next : next+len(s.hashes)]
		next += len(s.hashes)
		list = append(list, s)
		i += taken
	}
	if next != len(full) {
		return nil, 0, false
	}
	head = len(f.lines)
	if len(list) > 0 {
		head = list[0].from - 1
	}
	for i := range list {
		list[i].tail = len(f.lines)
		if i+1 < len(list) {
			list[i].tail = list[i+1].from - 1
		}
	}
	return list, head, true
}

// maxJoined bounds how many sections are joined to find one that is read like the whole file.
const maxJoined = 6

// beginsSection reports whether a line begins another section than the lines before it.
func beginsSection(group []line, l line) bool {
	last := group[len(group)-1]
	text := strings.TrimSpace(l.text)
	if l.code && last.code && !isBlankLine(last) {
		return false
	}
	if text == "" && !l.code {
		return false
	}
	if !isBlankLine(last) {
		first := group[len(group)-1]
		return heading.MatchString(first.text) && !first.code && !strings.HasPrefix(text, "{:") && !strings.HasPrefix(text, "^")
	}
	switch {
	case strings.HasPrefix(l.text, " "), strings.HasPrefix(l.text, "\t"), strings.HasPrefix(text, "{:"):
		return false
	case anchorOf(text) != "" && strings.HasPrefix(text, "^"):
		return false
	case listMarker(l.text) != "" && listMarker(l.text) == listMarker(firstOf(group)):
		return false
	case strings.HasPrefix(text, ">") && strings.HasPrefix(strings.TrimSpace(firstOf(group)), ">"):
		return false
	}
	return true
}

// listMarker returns the bullet of a list item, or what follows its number: an item with another one begins another list
// in CommonMark. It is "" for lines that are not items.
func listMarker(text string) string {
	return strings.TrimLeft(strings.TrimSpace(item.FindString(text)), "0123456789")
}

func isBlankLine(l line) bool { return strings.TrimSpace(l.text) == "" && !l.code }

func firstOf(group []line) string { return group[0].text }

// span returns a section with the lines of a group, without blank lines at the end.
func span(group []line) section {
	end := len(group)
	for end > 1 && isBlankLine(group[end-1]) {
		end--
	}
	s := section{from: group[0].n, to: group[end-1].n}
	if group[end-1].underlined {
		s.to++
	}
	return s
}

// parsed parses a group of lines on its own and returns it as a section.
func (x *exportPhase) parsed(r *reader, group []line) section {
	s := span(group)
	one := *r
	one.usedIDs = nil
	text, _ := one.convert(slices.Clone(group))
	s.blocks = markup.Parse(x.ex.rename(r.pg, text))
	s.hashes = hashesOf(s.blocks)
	return s
}

func hashesOf(blocks []*tree.Block) []string {
	list := make([]string, len(blocks))
	for i, b := range blocks {
		list[i] = blockHash(b)
	}
	return list
}

// matchesHashes reports whether the first of blocks have these hashes, in this order.
func matchesHashes(hashes []string, blocks []*tree.Block) bool {
	if len(hashes) > len(blocks) {
		return false
	}
	for i, h := range hashes {
		if blockHash(blocks[i]) != h {
			return false
		}
	}
	return true
}
