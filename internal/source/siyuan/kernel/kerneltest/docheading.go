package kerneltest

import (
	"slices"
	"strings"
	"time"
)

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
