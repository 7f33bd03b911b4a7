package folder

import (
	"maps"
	"path"
	"strings"

	"collie/internal/vault/tree"
)

// linkGoal is where a link leads: to a document, to a block in it, or to a file. The zero value is nowhere.
type linkGoal struct {
	doc, block string // ids
	file       string // path in the folder
	byName     bool   // the file is not at the address: it only has its name
}

// isMet reports whether a link that leads to other is as good as one that leads to g. If g was found only by its name, it
// does not matter how other was found.
func (g linkGoal) isMet(other linkGoal) bool {
	other.byName = other.byName && !g.byName
	g.byName = false
	return g == other
}

func goalOf(t target) linkGoal { return linkGoal{doc: t.page.id, block: t.id} }

// relinker updates the links in the text of one file. A sync may move files; relinker replaces the targets of links that
// would lead elsewhere after that, and leaves every other byte as it is.
type relinker struct {
	x       *exportPhase
	was, is reader // resolve links in the folder as it was read, and as it will be
	text    string // the text that is scanned
	base    int    // the offset of text in the file
	edits   []textEdit
	// loose are links that an import will read differently afterwards, even if their target is the same. Only from and to,
	// the offsets of the link, are set.
	loose []textEdit
	// open means that a loose link led nowhere before, or leads nowhere now, so that the next import must read it again.
	open bool
	// stuck means that no name or address leads to the target of some link.
	stuck bool
}

// textEdit replaces the bytes of a text between two offsets.
type textEdit struct {
	from, to int
	with     string
}

// relinked is a file whose links have followed their targets.
type relinked struct {
	text []byte
	// before is the hash of what an import made of the file, and after of what it makes of text.
	before, after string
	open          bool // some links are to be read again by the next import
}

// relink returns the text of a file in which links lead to what they led to when the folder was read. It returns nil if that
// takes more than changes of links. old is the text of the file as it was read.
func (x *exportPhase) relink(pg *page, old []byte) *relinked {
	from := x.read[pg.id]
	f := splitFile(old)
	text := f.text(1, len(f.lines))
	if from == nil || f.bom+text != string(old) {
		return nil // not UTF-8
	}
	if x.before == nil {
		x.before = x.readerBefore()
	}
	l := &relinker{x: x, was: reader{im: x.before, pg: from, quiet: true}, is: reader{im: x.ex, pg: pg, quiet: true}}
	l.file(&f, len(f.bom))
	if l.stuck {
		return nil
	}
	moved := apply(string(old), l.edits, nil)
	r := &relinked{text: []byte(moved), open: l.open}
	r.before, r.after = x.before.importedHash(from, old), x.ex.importedHash(pg, r.text)
	if len(l.loose) == 0 {
		if r.before != r.after {
			return nil
		}
		return r
	}
	if x.before.importedHash(from, []byte(apply(string(old), nil, l.loose))) != x.ex.importedHash(pg, []byte(apply(string(old), l.edits, l.loose))) {
		return nil
	}
	return r
}

// readerBefore returns an importer that reads pages of the folder as it was read, and never writes.
func (x *exportPhase) readerBefore() *importer {
	im := newImporter(x.w, ImportOptions{DryRun: true})
	im.renamed, im.memory, im.program, im.index, im.assets = x.im.renamed, x.im.memory, x.im.program, x.im.index, x.ex.assets
	s := *x.im.s
	s.files, s.texts = maps.Clone(x.im.s.files), map[string][]byte{}
	im.s = &s
	return im
}

// apply returns a text with edits made. Each link in loose becomes the letter x, and edits inside such links are dropped.
func apply(text string, edits, loose []textEdit) string {
	var out strings.Builder
	at := 0
	put := func(e textEdit) {
		if e.from >= at {
			out.WriteString(text[at:e.from] + e.with)
			at = e.to
		}
	}
	for len(edits)+len(loose) > 0 {
		if len(loose) == 0 || len(edits) > 0 && edits[0].from < loose[0].from {
			put(edits[0])
			edits = edits[1:]
			continue
		}
		put(textEdit{loose[0].from, loose[0].to, "x"})
		loose = loose[1:]
	}
	return out.String() + text[at:]
}

// file scans the lines of a file. offset is the offset of its first line.
func (l *relinker) file(f *fileText, offset int) {
	_, _, front, found := cutFront(strings.Join(f.lines, "\n"))
	if !found {
		front = 0
	}
	var fences fenceTracker
	comment := "" // the mark that ends the open comment, "" for none
	for i := 0; i < len(f.lines); {
		text, next := f.lines[i]+f.ends[i], i+1
		code := fences.code(f.lines[i])
		_, rest := prefixOf(f.lines[i])
		switch {
		case i < front, code:
		case comment != "":
			if strings.Contains(text, comment) {
				comment = ""
			}
		case strings.HasPrefix(rest, "%%") && !strings.Contains(rest[2:], "%%"):
			comment = "%%"
		case strings.HasPrefix(rest, "<!--") && !strings.Contains(rest, "-->"):
			comment = "-->"
		default:
			if hasUnclosed(f.lines[i]) {
				text, next = l.joined(f, i, &fences)
			}
			row := strings.HasPrefix(rest, "|")
			l.text, l.base, l.was.row, l.is.row = text, offset, row, row
			if m := definition.FindStringSubmatchIndex(f.lines[i]); m != nil {
				l.followAddress(f.lines[i], m[4], m[5], link, m[0], m[1], "")
			} else {
				l.scan(text)
			}
		}
		offset += len(text)
		i = next
	}
}

// joined returns line i together with the lines over which a link that begins in it extends, and the index of the next line.
func (l *relinker) joined(f *fileText, i int, fences *fenceTracker) (text string, next int) {
	look, all := *fences, f.lines[i]+f.ends[i]
	text, next = all, i+1
	for k := i + 1; k < min(i+maxWrapped, len(f.lines)); k++ {
		if strings.TrimSpace(f.lines[k]) == "" || look.code(f.lines[k]) {
			break
		}
		if all += f.lines[k] + f.ends[k]; !hasUnclosed(all) {
			*fences = look
			return all, k + 1
		}
	}
	return text, next
}

// addressKind is the kind of markup that an address is in.
type addressKind int

const (
	link addressKind = iota
	image
	element // of HTML
)

// bracket is an opening bracket whose closing bracket has not been found yet.
type bracket struct {
	at    int
	image bool
}

// scan follows the links in a text.
func (l *relinker) scan(text string) {
	var open []bracket
	for i := 0; i < len(text); {
		rest, n := text[i:], 1
		switch rest[0] {
		case '\\':
			n = 2
		case '`':
			n = len(rest) - len(strings.TrimLeft(rest, "`"))
			if end := closingBackticks(rest[n:], n); end >= 0 {
				n += end + n
			}
		case '$':
			n = max(1, formulaLength(rest))
		case '%':
			if end := strings.Index(rest[min(2, len(rest)):], "%%"); strings.HasPrefix(rest, "%%") && end > 0 {
				n = end + 4
			}
		case '<':
			if link := autoLink.FindString(rest); link != "" {
				n = len(link)
			} else if tag := htmlElement.FindString(rest); tag != "" {
				l.followElement(text, i, tag)
				n = len(tag)
			}
		case '{':
			if end := strings.IndexByte(rest, '}'); strings.HasPrefix(rest, "{:") && end > 0 {
				n = end + 1
			}
		case '(':
			n = max(1, len(ownRef.FindString(rest)))
		case '!', '[':
			embed := rest[0] == '!'
			body := strings.TrimPrefix(rest, "!")
			end := strings.Index(body, "]]")
			switch {
			case strings.HasPrefix(body, "[[") && end > 0:
				n = len(rest) - len(body) + end + 2
				l.followWiki(text, i, i+n, embed)
			case strings.HasPrefix(body, "["):
				n = len(rest) - len(body) + 1
				open = append(open, bracket{i + n - 1, embed})
			}
		case ']':
			if len(open) == 0 {
				break
			}
			b := open[len(open)-1]
			open = open[:len(open)-1]
			address, _, length := destinationOf(rest[1:])
			if length == 0 {
				break
			}
			n = 1 + length
			at := i + 1 + strings.Index(rest[1:], address)
			begin := b.at
			if b.image {
				begin--
			}
			of := link
			if b.image {
				of = image
			}
			l.followAddress(text, at, at+len(address), of, begin, i+n, text[b.at+1:i])
		}
		i += min(n, len(text)-i)
	}
}

// followElement follows the addresses in an HTML element at offset i of a text.
func (l *relinker) followElement(text string, i int, tag string) {
	for _, m := range sourceAttr.FindAllStringSubmatchIndex(tag, -1) {
		from, to := m[6], m[7]
		if from < 0 {
			from, to = m[8], m[9]
		}
		if from >= 0 && !strings.HasPrefix(tag, "<!--") {
			l.followAddress(text, i+from, i+to, element, i, i+len(tag), "")
		}
	}
}

// replace adds an edit of the scanned text.
func (l *relinker) replace(from, to int, with string) {
	l.edits = append(l.edits, textEdit{l.base + from, l.base + to, with})
}

// addLoose adds the link between two offsets of the scanned text to loose.
func (l *relinker) addLoose(from, to int) {
	l.loose = append(l.loose, textEdit{from: l.base + from, to: l.base + to})
}

// foundLink is a link in the scanned text.
type foundLink struct {
	from, to         int                        // the whole link
	nameFrom, nameTo int                        // the name or address of its target
	was, is          linkGoal                   // where it led when the folder was read, and where it will lead if it stays as it is
	label            string                     // the text that it shows
	candidates       func() []string            // returns other names for the target, those like its present name first
	leads            func(name string) linkGoal // returns where a name will lead
}

// follow decides what to do with one link: nothing, another name for its target, or adding it to loose.
func (l *relinker) follow(f foundLink) {
	from, to, was, is, label := f.from, f.to, f.was, f.is, f.label
	switch {
	case was == (linkGoal{}):
		if is != (linkGoal{}) {
			l.addLoose(from, to)
			l.open = true
		}
		return
	case was.doc != "" && l.x.pages[was.doc] == nil:
		l.addLoose(from, to) // the next import finds that it leads nowhere
		l.open = true
		return
	case !was.isMet(is):
		found := false
		for _, name := range f.candidates() {
			if found = name != "" && was.isMet(f.leads(name)); found {
				l.replace(f.nameFrom, f.nameTo, name)
				break
			}
		}
		switch {
		case found:
		case was.doc != "" && strings.HasPrefix(l.text[from:], "[["): // no name leads there, but its id does
			l.replace(from, to, l.is.reference(l.targetOf(l.is.im, was), label))
		default:
			l.stuck = true
			return
		}
	}
	if was.doc != "" && dynamicRef.ReplaceAllString(l.was.reference(l.targetOf(l.was.im, was), label), "(($1))") !=
		dynamicRef.ReplaceAllString(l.is.reference(l.targetOf(l.is.im, was), label), "(($1))") {
		l.addLoose(from, to) // its label was the title of the target and is not any more, or the reverse
	}
}

// targetOf returns the target for a goal, in the folder that im reads.
func (l *relinker) targetOf(im *importer, goal linkGoal) target {
	if im == l.x.ex {
		return target{l.x.pages[goal.doc], goal.block}
	}
	return target{l.x.read[goal.doc], goal.block}
}

// followWiki follows [[name#fragment|label]], or an embed, between from and to of a text.
func (l *relinker) followWiki(text string, from, to int, embed bool) {
	begin := from + 2
	if embed {
		begin++
	}
	inner := text[begin : to-2]
	end := strings.IndexByte(inner, '|')
	if end < 0 {
		end = len(inner)
	}
	if end > 0 && end < len(inner) && inner[end-1] == '\\' {
		end--
	}
	name, label := cutShown(inner)
	at := begin + strings.Index(inner[:end], name)
	if name == "" {
		return
	}
	leads := func(r *reader) func(string) linkGoal {
		return func(name string) linkGoal { return r.wikiGoal(name, embed) }
	}
	was := leads(&l.was)(name)
	l.follow(foundLink{
		from: from, to: to, nameFrom: at, nameTo: at + len(name), was: was, is: leads(&l.is)(name), label: label,
		candidates: func() []string { return l.wikiNames(was, name) }, leads: leads(&l.is),
	})
}

// wikiGoal returns where the name of a wiki link or an embed leads.
func (r *reader) wikiGoal(name string, embed bool) linkGoal {
	t, why := r.find(name)
	if why == "" {
		return goalOf(t)
	}
	file := name
	if embed {
		if file, _, _ = strings.Cut(name, "#"); r.im.index.wiki(r.pg, file) != nil {
			return linkGoal{}
		}
	}
	if at := r.file(file, true); at != "" && !isPage(at) {
		return linkGoal{file: at}
	}
	return linkGoal{}
}

// wikiNames returns the names that a wiki link may have for a target. Those that look like its present name come first.
func (l *relinker) wikiNames(goal linkGoal, name string) (list []string) {
	name, fragment, _ := strings.Cut(name, "#")
	if goal.file != "" {
		if fragment != "" {
			fragment = "#" + fragment
		}
		for _, at := range pathsLike(name, goal.file, l.is.pg.file, "") {
			list = append(list, at+fragment)
		}
		return list
	}
	fragments := []string{""}
	if goal.block != "" {
		fragments = l.fragments(goal, fragment)
	}
	names := []string{name}
	if name != "" {
		to, ext := l.x.pages[goal.doc], ""
		if isPage(name) {
			ext = path.Ext(name)
		}
		at := to.dir
		if to.file != "" {
			at = strings.TrimSuffix(to.file, path.Ext(to.file))
		}
		for _, at := range pathsLike(name, at, l.is.pg.file, ext) {
			if !notInLink.MatchString(at) && at == strings.TrimSpace(at) {
				names = append(names, at)
			}
		}
	}
	for _, name := range names {
		for _, fragment := range fragments {
			list = append(list, name+fragment)
		}
	}
	return list
}

// fragments returns the ways to name a block after a number sign. The present one comes first.
func (l *relinker) fragments(goal linkGoal, fragment string) []string {
	list := []string{"#" + fragment}
	if name := l.x.anchors[goal.block]; name != "" {
		list = append(list, "#^"+name)
	}
	if text := l.x.headings[goal.block]; text != "" {
		if at := strings.LastIndexByte(fragment, '#'); at >= 0 {
			list = append(list, "#"+fragment[:at+1]+text)
		}
		list = append(list, "#"+text)
	}
	return list
}

// pathsLike returns the ways in which a link in the file from can name the file at a path. Those that look like name come
// first. Each gets ext appended.
func pathsLike(name, at, from, ext string) []string {
	short, relative, full := path.Base(at), relativeTo(from, at), "/"+at
	var list []string
	switch {
	case strings.HasPrefix(name, "./"):
		list = []string{"./" + relative, relative, at, full}
	case strings.HasPrefix(name, "../"):
		list = []string{relative, at, full, short}
	case strings.HasPrefix(name, "/"):
		list = []string{full, at, relative, short}
	case strings.Contains(name, "/"):
		list = []string{at, relative, full, short}
	default:
		list = []string{short, at, relative, full}
	}
	for i := range list {
		list[i] += ext
	}
	return list
}

// followAddress follows the address between nameFrom and nameTo of a text. It belongs to the link, image or element between from
// and to.
func (l *relinker) followAddress(text string, nameFrom, nameTo int, of addressKind, from, to int, label string) {
	address := text[nameFrom:nameTo]
	leads := func(r *reader) func(string) linkGoal {
		return func(address string) linkGoal { return r.addressGoal(address, of) }
	}
	was := leads(&l.was)(address)
	angled := nameFrom > 0 && text[nameFrom-1] == '<'
	l.follow(foundLink{
		from: from, to: to, nameFrom: nameFrom, nameTo: nameTo, was: was, is: leads(&l.is)(address), label: unescapeBackslashes(label),
		candidates: func() []string { return l.addresses(was, address, angled) }, leads: leads(&l.is),
	})
}

// addressGoal returns where an address leads.
func (r *reader) addressGoal(address string, of addressKind) linkGoal {
	if isExternal(address) {
		if fragment, found := strings.CutPrefix(address, "#"); found && of == link {
			if t, why := r.inside(r.pg, unescapeFragment(fragment)); why == "" && t.id != "" {
				return goalOf(t)
			}
		}
		return linkGoal{}
	}
	file, fragment, _ := strings.Cut(address, "#")
	if of == link {
		if pg := r.pageAt(file); pg != nil {
			t, why := r.inside(pg, unescapeFragment(fragment))
			if why != "" {
				t = target{page: pg}
			}
			return goalOf(t)
		}
	}
	at := r.file(file, false)
	byName := at == ""
	if byName && (of == image || of == link && r.pg.dialect == plain && !strings.Contains(file, "/")) {
		at = r.file(file, true)
	}
	switch {
	case at != "" && !isPage(at):
		return linkGoal{file: at, byName: byName}
	case of != link, path.Ext(file) != "" && !isPage(file), strings.Contains(file, "/"), relativePath(r.pg.file, file) == "":
		return linkGoal{}
	}
	if pg := r.im.index.wiki(r.pg, unescapeFragment(file)); pg != nil {
		if t, why := r.inside(pg, unescapeFragment(fragment)); why == "" {
			return goalOf(t)
		}
	}
	return linkGoal{}
}

// addresses returns the addresses that a link may have for a target. Those that look like its present address come first.
// angled means that the address is in angle brackets.
func (l *relinker) addresses(goal linkGoal, address string, angled bool) (list []string) {
	file, fragment, _ := strings.Cut(address, "#")
	encode := encodeAddress
	if angled {
		encode = strings.NewReplacer("%", "%25", "<", "%3C", ">", "%3E", "\n", "%0A", "#", "%23", "?", "%3F").Replace
	}
	at, ext, fragments := goal.file, "", []string{""}
	if fragment != "" {
		fragments = []string{"#" + fragment}
	}
	if goal.doc != "" {
		to := l.x.pages[goal.doc]
		if at = to.dir; to.file != "" {
			at = strings.TrimSuffix(to.file, path.Ext(to.file))
			if isPage(file) {
				ext = path.Ext(to.file)
			}
		}
		if goal.block != "" {
			fragments = l.fragments(goal, fragment)
			for i := range fragments[1:] {
				fragments[i+1] = "#" + encode(fragments[i+1][1:])
			}
		}
	} else if query := strings.IndexByte(file, '?'); query >= 0 {
		ext = file[query:]
	}
	files := []string{file}
	if file != "" {
		like := pathsLike(file, encode(at), encode(l.is.pg.file), ext)
		if !strings.HasPrefix(file, "/") && path.Ext(file) != "" { // addresses are relative to their file
			like = append(pathsLike("../", encode(at), encode(l.is.pg.file), ext)[:1], like...)
		}
		if strings.HasPrefix(file, "./") && !strings.HasPrefix(like[0], "../") {
			like = append([]string{"./" + like[0]}, like...)
		}
		files = append(files, like...)
	}
	for _, file := range files {
		for _, fragment := range fragments {
			list = append(list, file+fragment)
		}
	}
	return list
}

// addNames returns the text of a file with a ^name for each block of the document to which links refer, unless the present
// lines have no place for it. text must have the same content as the document.
func (x *exportPhase) addNames(pg *page, root *tree.Block, text []byte) []byte {
	f := splitFile(text)
	if f.bom+f.text(1, len(f.lines)) != string(text) {
		return text
	}
	sections, _, ok := x.sections(pg, text, &f)
	if !ok {
		return text
	}
	had := x.namesIn(pg, text)
	at := 0
	for _, s := range sections {
		for range s.blocks {
			if at < len(root.Children) && x.needsName(root.Children[at], had) {
				x.nameLines(root.Children[at], s, &f, had)
			}
			at++
		}
	}
	out := []byte(f.bom + f.text(1, len(f.lines)))
	made := x.ex.importedBlocks(pg, out)
	if contentHash(nil, made) != contentHash(nil, root.Children) || !x.hasNames(made, root.Children, x.namesIn(pg, out)) {
		return text
	}
	return out
}

// nameLines adds the names of a block, and of items inside it, to the lines of its section.
func (x *exportPhase) nameLines(b *tree.Block, s section, f *fileText, had map[string]bool) {
	if len(s.blocks) != 1 {
		return
	}
	var items, owners []int // lines
	for n := s.from; n <= s.to; n++ {
		if item.MatchString(f.lines[n-1]) {
			items = append(items, n)
		}
	}
	b.Walk(func(inner *tree.Block) {
		if inner.Kind == tree.Item {
			owners = append(owners, 0)
		}
	})
	next := 0
	b.Walk(func(inner *tree.Block) {
		line := 0
		if inner.Kind == tree.Item && len(items) == len(owners) {
			line = items[next]
			next++
		}
		name := x.anchors[inner.ID]
		switch {
		case name == "" || had[foldName(name)]:
		case line > 0:
			f.lines[line-1] = strings.TrimRight(f.lines[line-1], " \t") + " ^" + name
		case inner == b && b.Kind == tree.Paragraph:
			f.lines[s.to-1] = strings.TrimRight(f.lines[s.to-1], " \t") + " ^" + name
		case inner == b && b.Kind != tree.Heading:
			f.lines[s.to-1] += f.end + f.end + "^" + name
		}
	})
}

// hasNames reports whether those blocks of a document that have one of names in its file got their ids when the file was
// read. made are the blocks that were read, blocks those of the document.
func (x *exportPhase) hasNames(made, blocks []*tree.Block, names map[string]bool) bool {
	if len(made) != len(blocks) {
		return false
	}
	for i, b := range blocks {
		if name := x.anchors[b.ID]; name != "" && names[foldName(name)] && made[i].Attrs["id"] != b.ID || !x.hasNames(made[i].Children, b.Children, names) {
			return false
		}
	}
	return true
}

// namesIn returns the ^names that a text has.
func (x *exportPhase) namesIn(pg *page, text []byte) map[string]bool {
	had := map[string]bool{}
	x.ex.readAs(pg, text, func(p *page) {
		lines, _ := x.ex.open(p, false)
		p.survey(lines, x.ex.newID)
		for name := range p.anchors {
			had[name] = true
		}
	})
	return had
}

// needsName reports whether a block, or a block inside it, gets a ^name that its file does not have yet. had has the names in
// the file.
func (x *exportPhase) needsName(b *tree.Block, had map[string]bool) (needs bool) {
	b.Walk(func(b *tree.Block) {
		name := x.anchors[b.ID]
		needs = needs || name != "" && !had[foldName(name)]
	})
	return needs
}
