package kerneltest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// history holds copies of documents, oldest first.
type history struct{ copies []*historyCopy }

type historyCopy struct {
	created         int64 // seconds; no two copies have the same
	op, path, title string
	doc, notebook   string
	root            *block // as it was
}

// historyFamily answers the history of documents. The index of the real one is some seconds late. What is removed is
// not kept.
func historyFamily(k *Kernel) {
	h := &history{}
	k.handle("/api/history/createDocHistory", h.create)
	k.handle("/api/history/searchHistory", h.search)
	k.handle("/api/history/getHistoryItems", h.items)
	k.handle("/api/history/getDocHistoryContent", h.content)
	k.handle("/api/history/rollbackDocHistory", h.rollback)
	k.handle("/api/history/reindexHistory", func(*Kernel, request) reply { return done() })
}

func (h *history) create(k *Kernel, req request) reply {
	id := req.needID("id")
	b := k.openBlock(id)
	if b == nil {
		return fail(-1, "tree not found")
	}
	d := b.doc
	created := time.Now().Unix()
	if n := len(h.copies); n > 0 {
		created = max(created, h.copies[n-1].created+1)
	}
	dir := "/history/" + time.Unix(created, 0).Format("2006-01-02-150405") + "-update"
	c := &historyCopy{
		created: created, op: "update", path: dir + "/" + d.box.id + d.path(), title: d.title(), doc: d.id(), notebook: d.box.id,
		root: cloneTree(d.root),
	}
	h.copies = append(h.copies, c)
	k.makeDirs(dir + "/" + d.box.id)
	k.files[c.path] = &storedFile{data: syFile(d), changed: time.Now()}
	return done()
}

// matching are the copies that a request asks for, newest first.
func (h *history) matching(req request) []*historyCopy {
	query, op := strings.ToLower(req.optStr("query")), cmp.Or(req.optStr("op"), "all")
	box := strings.ReplaceAll(req.optStr("notebook"), "%", "")
	byID := req.optNum("type", 0) == 3
	var found []*historyCopy
	for _, c := range slices.Backward(h.copies) {
		text := strings.ToLower(c.title + " " + markdownOf(c.root))
		switch {
		case op != "all" && op != c.op, box != "" && box != c.notebook:
		case byID && query != c.doc, !byID && !strings.Contains(text, query):
		default:
			found = append(found, c)
		}
	}
	return found
}

func (h *history) search(_ *Kernel, req request) reply {
	times := []string{}
	for _, c := range h.matching(req) {
		times = append(times, strconv.FormatInt(c.created, 10))
	}
	return ok(map[string]any{"histories": times, "pageCount": (len(times) + 31) / 32, "totalCount": len(times)})
}

func (h *history) items(_ *Kernel, req request) reply {
	created := req.needText("created")
	items := []any{}
	for _, c := range h.matching(req) {
		if strconv.FormatInt(c.created, 10) == created {
			items = append(items, map[string]any{"title": c.title, "path": c.path, "op": c.op, "notebook": c.notebook})
		}
	}
	return ok(map[string]any{"items": items})
}

func (h *history) copyAt(path string) *historyCopy {
	for _, c := range h.copies {
		if c.path == path {
			return c
		}
	}
	return nil
}

func (h *history) content(_ *Kernel, req request) reply {
	id, dom := "", ""
	if c := h.copyAt(req.needText("historyPath")); c != nil {
		id, dom = c.doc, keptDOM(c.root)
	}
	return ok(map[string]any{"content": dom, "id": id, "isLargeDoc": false, "rootID": id})
}

// keptDOM is the DOM of a document that is kept, which nobody can edit.
func keptDOM(root *block) string {
	return strings.ReplaceAll(domsOf(root.children), `contenteditable="true"`, `contenteditable="false"`)
}

func (h *history) rollback(k *Kernel, req request) reply {
	path := req.needText("historyPath")
	req.needText("notebook")
	c := h.copyAt(path)
	if c == nil {
		return fail(-1, "history path ["+path+"] not exist")
	}
	k.restore(c.doc, c.root)
	return done()
}

// restore puts the blocks of a document back. The real kernel deletes the file of a document that is the same already,
// so a test that gets there fails.
func (k *Kernel) restore(id string, kept *block) {
	d := k.documents[id]
	if d == nil {
		return
	}
	if kramdownOf(d.root) == kramdownOf(kept) && !k.lenient {
		k.t.Errorf("kerneltest: rolled back to what is there already, which deletes the file of %s", id)
	}
	k.forget(d.root)
	kept = cloneTree(kept)
	d.root.attrs, d.root.children = kept.attrs, kept.children
	for _, child := range d.root.children {
		child.parent = d.root
		child.walk(func(b *block) { b.doc = d })
	}
	d.changed = time.Now()
	k.register(d.root)
}
