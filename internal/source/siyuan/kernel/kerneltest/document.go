package kerneltest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// documentFamily answers the endpoints below /api/filetree that change documents.
func documentFamily(k *Kernel) {
	k.handle("/api/filetree/createDocWithMd", createDocWithMd)
	k.handle("/api/filetree/createDoc", createDoc)
	k.handle("/api/filetree/renameDoc", renameDoc)
	k.handle("/api/filetree/renameDocByID", renameDocByID)
	k.handle("/api/filetree/removeDoc", removeDoc)
	k.handle("/api/filetree/removeDocByID", removeDocByID)
	k.handle("/api/filetree/removeDocs", removeDocs)
	k.handle("/api/filetree/moveDocs", moveDocs)
	k.handle("/api/filetree/moveDocsByID", moveDocsByID)
	k.handle("/api/filetree/duplicateDoc", duplicateDoc)
	k.handle("/api/filetree/heading2Doc", heading2Doc)
	k.handle("/api/filetree/li2Doc", li2Doc)
	k.handle("/api/filetree/doc2Heading", doc2Heading)
	k.handle("/api/filetree/changeSort", changeSort)
}

const (
	maxDepth     = 7
	treeTooDeep  = "The current settings do not allow the creation of sub-documents under a document 7 levels deep"
	pageIsFixed  = "The top-level notebook document cannot be removed or moved"
	titleTooLong = "Maximum length is limited to 512 characters"
)

func createDocWithMd(k *Kernel, req request) reply {
	notebook, path, markdown := req.str("notebook"), req.str("path"), req.str("markdown")
	if !validID(notebook) {
		return fail(-1, "invalid ID argument")
	}
	box := k.openNotebook(notebook)
	if box == nil {
		return fail(-1, notebookFailed)
	}
	id := req.optStr("id")
	if id != "" && k.documents[id] != nil {
		return fail(-1, "Duplicated filename")
	}
	d, msg := k.createDocument(box, path, markdown, id)
	if msg != "" {
		return fail(-1, msg)
	}
	if tags := req.optStr("tags"); tags != "" {
		d.root.attrs["tags"] = tags
	}
	return ok(d.id())
}

// createDocument makes a document at a path by titles, with the parents that are missing. A path that is taken is no
// obstacle: two documents may share it. id may be "".
func (k *Kernel) createDocument(box *notebook, hpath, markdown, id string) (d *document, msg string) {
	titles := strings.Split(strings.Trim(hpath, "/"), "/")
	var parent *document
	for _, title := range titles[:len(titles)-1] {
		next := k.childTitled(box, parent, title)
		if next == nil {
			if parent != nil && parent.depth() >= maxDepth {
				return nil, treeTooDeep
			}
			next = k.newDocument(box, parent, title, "", "")
			next.sort = 0
		}
		parent = next
	}
	if parent != nil && parent.depth() >= maxDepth {
		return nil, treeTooDeep
	}
	return k.newDocument(box, parent, titles[len(titles)-1], markdown, id), ""
}

func (k *Kernel) childTitled(box *notebook, parent *document, title string) *document {
	for _, d := range k.children(box, parent) {
		if d.title() == title {
			return d
		}
	}
	return nil
}

// newDocument adds a document behind its siblings.
func (k *Kernel) newDocument(box *notebook, parent *document, title, markdown, id string) *document {
	if id == "" {
		id = k.newID()
	}
	updated := stamp(time.Now())
	if validID(id) {
		updated = id[:14]
	}
	root := &block{id: id, kind: kindDocument, attrs: map[string]string{"id": id, "title": title, "type": "doc", "updated": updated}}
	if runes := []rune(title); len(runes) > 512 {
		root.attrs["title"] = string(runes[:512])
	}
	if title == "" {
		root.attrs["title"] = "Untitled"
		root.attrs["title-empty"] = "true"
	}
	d := &document{root: root, box: box, parent: parent, changed: time.Now()}
	d.sort = 1
	if siblings := k.children(box, parent); len(siblings) > 0 {
		d.sort = siblings[len(siblings)-1].sort + 1
	}
	root.doc = d
	blocks := k.identify(parseMarkdown(markdown))
	if len(blocks) == 0 {
		blocks = []*block{k.emptyParagraph()}
	}
	root.insertAt(0, blocks...)
	k.adopt(d)
	return d
}

func createDoc(k *Kernel, req request) reply {
	notebook, path := req.str("notebook"), req.str("path")
	title, markdown := req.str("title"), req.str("md")
	box := k.openNotebook(notebook)
	if box == nil {
		return notice(notebookFailed, 7000)
	}
	id := documentID(path)
	if k.documents[id] != nil {
		return notice("Duplicated filename", 7000)
	}
	var parent *document
	if above := path[:max(strings.LastIndex(path, "/"), 0)]; above != "" {
		if parent = k.documentAt(notebook, above+".sy"); parent == nil {
			return notice("block not found", 7000)
		}
	}
	k.newDocument(box, parent, cleanTitle(title), markdown, id)
	return ok(map[string]any{"id": id})
}

func cleanTitle(title string) string {
	if title = strings.ReplaceAll(title, "/", ""); title == "" {
		return "Untitled"
	}
	return title
}

func renameDoc(k *Kernel, req request) reply {
	notebook, path, title := req.str("notebook"), req.str("path"), req.str("title")
	if k.openNotebook(notebook) == nil {
		return fail(-1, notebookFailed)
	}
	d := k.documentAt(notebook, path)
	if d == nil {
		return fail(-1, fmt.Sprintf("open %s/data/%s%s: no such file or directory", workspaceDir, notebook, path))
	}
	return k.rename(d, title)
}

func renameDocByID(k *Kernel, req request) reply {
	id, title := req.id("id"), req.str("title")
	d := k.openDocument(id)
	if d == nil {
		return notice("tree not found", 7000)
	}
	return k.rename(d, title)
}

func (k *Kernel) rename(d *document, title string) reply {
	if utf8.RuneCountInString(title) > 512 {
		return fail(-1, titleTooLong)
	}
	d.root.attrs["title"] = cleanTitle(title)
	k.redefined(d.root)
	delete(d.root.attrs, "title-empty")
	if d.hidden() {
		d.box.conf.Name = cleanTitle(title)
	}
	d.touched()
	return done()
}

func removeDoc(k *Kernel, req request) reply {
	notebook, path := req.str("notebook"), req.str("path")
	if k.openNotebook(notebook) == nil {
		return fail(-1, "notebook not found")
	}
	d := k.documentAt(notebook, path)
	switch {
	case d == nil:
		return fail(-1, "block not found")
	case d.hidden():
		return fail(-1, pageIsFixed)
	}
	k.drop(d)
	return done()
}

func removeDocByID(k *Kernel, req request) reply {
	d := k.openDocument(req.id("id"))
	switch {
	case d == nil:
		return notice("indexing", 7000)
	case d.hidden():
		return fail(-1, pageIsFixed)
	}
	k.drop(d)
	return done()
}

func removeDocs(k *Kernel, req request) reply {
	for _, path := range req.strs("paths") {
		d := k.openDocument(documentID(path))
		switch {
		case d == nil || d.path() != path:
			return fail(-1, "block not found")
		case d.hidden():
			return fail(-1, pageIsFixed)
		}
		k.drop(d)
	}
	return done()
}

func moveDocs(k *Kernel, req request) reply {
	from, toNotebook, toPath := req.strs("fromPaths"), req.str("toNotebook"), req.str("toPath")
	box := k.openNotebook(toNotebook)
	if box == nil {
		return notice(notebookFailed, 7000)
	}
	var parent *document
	if toPath != "/" {
		if parent = k.documentAt(toNotebook, toPath); parent == nil {
			return notice("block not found", 7000)
		}
	}
	for _, path := range from {
		d := k.openDocument(documentID(path))
		if d == nil {
			return notice("block not found", 7000)
		}
		if rep := k.moveDocument(d, box, parent); rep.code != 0 {
			return rep
		}
	}
	return done()
}

func moveDocsByID(k *Kernel, req request) reply {
	from, to := req.strs("fromIDs"), req.id("toID")
	box, parent := k.openNotebook(to), (*document)(nil)
	var moved []*document
	for _, id := range from {
		d := k.openDocument(id)
		if d == nil {
			return notice("tree not found", 7000)
		}
		moved = append(moved, d)
	}
	if box == nil {
		if parent = k.openDocument(to); parent == nil {
			return notice(fmt.Sprintf("can't found box or tree by id [%s]", to), 7000)
		}
		box = parent.box
	}
	for _, d := range moved {
		if rep := k.moveDocument(d, box, parent); rep.code != 0 {
			return rep
		}
	}
	return done()
}

// moveDocument hangs d with all below it under parent. Under itself it stays where it is, which is no error.
func (k *Kernel) moveDocument(d *document, box *notebook, parent *document) reply {
	if d.hidden() {
		return notice(pageIsFixed, 7000)
	}
	if parent != nil && parent.inside(d) {
		return done()
	}
	for _, below := range k.below(d) {
		below.box = box
	}
	d.parent = parent
	return done()
}

func duplicateDoc(k *Kernel, req request) reply {
	d := k.openDocument(req.id("id"))
	if d == nil {
		return notice("tree not found", 7000)
	}
	title := d.title() + "  (Duplicated " + time.Now().Format("2006-01-02 15:04:05") + ")"
	c := k.newDocument(d.box, d.parent, title, "", "")
	k.forget(c.root)
	c.root.children = nil
	for _, child := range d.root.children {
		c.root.insertAt(len(c.root.children), k.copyBlock(child))
	}
	k.adopt(c)
	answered := c.hpath()
	c.root.attrs["title"] = strings.ReplaceAll(title, "  (", " (")
	return ok(map[string]any{"hPath": answered, "id": c.id(), "notebook": c.box.id, "path": c.path()})
}

// copyBlock copies b and all below it under new ids.
func (k *Kernel) copyBlock(b *block) *block {
	c := &block{id: k.newID(), kind: b.kind, text: b.text, marker: b.marker, task: b.task, attrs: map[string]string{}}
	for name, value := range b.attrs {
		c.attrs[name] = value
	}
	c.attrs["id"], c.attrs["updated"] = c.id, c.id[:14]
	for _, child := range b.children {
		c.insertAt(len(c.children), k.copyBlock(child))
	}
	return c
}

func heading2Doc(k *Kernel, req request) reply {
	h := k.openBlock(req.id("srcHeadingID"))
	if h == nil || h.kind != kindHeading {
		return notice("block not found", 5000)
	}
	box, parent := k.targetFolder(req)
	below := slices.Clone(h.section())
	for _, b := range below {
		k.detach(b, false)
	}
	k.becomeDocument(h, contentOf(h), below, box, parent)
	return done()
}

// li2Doc makes a list item a document: its first block gives the title, the others stay its blocks.
func li2Doc(k *Kernel, req request) reply {
	item := k.openBlock(req.id("srcListItemID"))
	if item == nil || item.kind != kindItem || len(item.children) == 0 {
		return notice("block not found", 5000)
	}
	box, parent := k.targetFolder(req)
	k.becomeDocument(item, contentOf(item.children[0]), item.children[1:], box, parent)
	return done()
}

// targetFolder is where heading2Doc and li2Doc put the document.
func (k *Kernel) targetFolder(req request) (box *notebook, parent *document) {
	if box = k.openNotebook(req.str("targetNoteBook")); box == nil {
		panic(notice(notebookFailed, 5000))
	}
	if path := req.optStr("targetPath"); path != "" && path != "/" {
		if parent = k.documentAt(box.id, path); parent == nil {
			panic(notice("block not found", 5000))
		}
	}
	return box, parent
}

// becomeDocument takes b out of its document and makes it one, with its id.
func (k *Kernel) becomeDocument(b *block, title string, blocks []*block, box *notebook, parent *document) {
	k.detach(b, true)
	k.forget(b)
	d := k.newDocument(box, parent, strings.TrimSpace(title), "", b.id)
	if len(blocks) > 0 {
		k.forget(d.root)
		d.root.children = nil
		d.root.insertAt(0, blocks...)
		k.adopt(d)
	}
}

func doc2Heading(k *Kernel, req request) reply {
	after := req.flag("after")
	d, target := k.openDocument(req.id("srcID")), k.openBlock(req.id("targetID"))
	switch {
	case d == nil || target == nil:
		return notice("block not found", 5000)
	case d.hidden():
		return notice(pageIsFixed, 5000)
	case target.kind == kindDocument:
		return k.destroyByHeading(d, target)
	}
	answer := map[string]any{"srcTreeBox": d.box.id, "srcTreePath": d.path()}
	blocks := d.root.children
	demoteHeadings(blocks)
	k.drop(d)
	h := &block{id: d.id(), kind: kindHeading, text: "# " + d.title(), attrs: map[string]string{"id": d.id(), "updated": stamp(time.Now())}}
	at := target.index()
	if after {
		at++
	}
	target.parent.insertAt(at, append([]*block{h}, blocks...)...)
	k.register(target.parent)
	return ok(answer)
}

// destroyByHeading is doc2Heading onto a document: the kernel answers code 0, removes the source and leaves the target
// unreadable. No test may go that far unnoticed.
func (k *Kernel) destroyByHeading(d *document, target *block) reply {
	if !k.lenient {
		k.t.Errorf("kerneltest: doc2Heading with a document as its target %s: the real kernel destroys that document", target.id)
	}
	answer := ok(map[string]any{"srcTreeBox": d.box.id, "srcTreePath": d.path()})
	k.drop(d)
	for _, child := range target.children {
		k.forget(child)
	}
	delete(k.blocks, target.id)
	target.children = nil
	return answer
}

// demoteHeadings brings the headings of a document that becomes a section to the levels below 1.
func demoteHeadings(blocks []*block) {
	top := 7
	for _, b := range blocks {
		if l := b.level(); l > 0 {
			top = min(top, l)
		}
	}
	for _, b := range blocks {
		if l := b.level(); l > 0 {
			b.text = strings.Repeat("#", min(6, l-top+2)) + strings.TrimLeft(b.text, "#")
		}
	}
}

// changeSort puts the named documents first and numbers their siblings behind them in the order of their ids.
func changeSort(k *Kernel, req request) reply {
	notebook, paths := req.str("notebook"), req.strs("paths")
	if len(paths) == 0 {
		return done()
	}
	first := k.documentAt(notebook, paths[0])
	if first == nil {
		return done()
	}
	siblings := k.children(first.box, first.parent)
	slices.SortFunc(siblings, func(a, b *document) int {
		return cmp.Or(strings.Compare(a.id()[:14], b.id()[:14]), cmp.Compare(a.made, b.made))
	})
	next := len(paths)
	for _, d := range siblings {
		if at := slices.Index(paths, d.path()); at >= 0 {
			d.sort = at + 1
			continue
		}
		next++
		d.sort = next
	}
	return done()
}
