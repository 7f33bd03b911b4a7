package kerneltest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

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
