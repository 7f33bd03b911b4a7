package kerneltest

import (
	"fmt"
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
