package kerneltest

import (
	"fmt"
	"slices"
)

// blockFamily answers the endpoints below /api/block that change blocks.
func blockFamily(k *Kernel) {
	k.handle("/api/block/insertBlock", func(k *Kernel, req request) reply { return transacted(k.insert(req)) })
	k.handle("/api/block/appendBlock", func(k *Kernel, req request) reply { return transacted(k.addChild(req, true)) })
	k.handle("/api/block/prependBlock", func(k *Kernel, req request) reply { return transacted(k.addChild(req, false)) })
	k.handle("/api/block/batchInsertBlock", batch((*Kernel).insert))
	k.handle("/api/block/batchAppendBlock", batch(func(k *Kernel, req request) doOperation { return k.addChild(req, true) }))
	k.handle("/api/block/batchPrependBlock", batch(func(k *Kernel, req request) doOperation { return k.addChild(req, false) }))
	k.handle("/api/block/updateBlock", updateBlock)
	k.handle("/api/block/batchUpdateBlock", batchUpdateBlock)
	k.handle("/api/block/deleteBlock", deleteBlock)
	k.handle("/api/block/moveBlock", moveBlock)
	k.handle("/api/block/foldBlock", func(k *Kernel, req request) reply { return k.fold(req, true) })
	k.handle("/api/block/unfoldBlock", func(k *Kernel, req request) reply { return k.fold(req, false) })
	k.handle("/api/block/transferBlockRef", transferBlockRef)
	k.handle("/api/block/updateTaskListItemMarker", updateTaskListItemMarker)
	k.handle("/api/block/batchUpdateTaskListItemMarker", batchUpdateTaskListItemMarker)
}

// batch applies a write to each entry of blocks.
func batch(write func(*Kernel, request) doOperation) handler {
	return func(k *Kernel, req request) reply {
		var ops []doOperation
		for _, entry := range req.list("blocks") {
			ops = append(ops, write(k, entry))
		}
		if len(ops) == 0 {
			return done()
		}
		return transacted(ops...)
	}
}

// addChild appends or prepends blocks to a container.
func (k *Kernel) addChild(req request, last bool) doOperation {
	data, dataType, parentID := req.str("data"), req.str("dataType"), req.id("parentID")
	parent := k.openBlock(parentID)
	if parent == nil {
		panic(fail(-1, "parent block not found: "+parentID))
	}
	if !parent.container() {
		panic(leafParent(parent))
	}
	return k.place(dataType, data, parent, last)
}

func (k *Kernel) place(dataType, data string, parent *block, last bool) doOperation {
	blocks := k.identify(parseData(dataType, data))
	op := doOperation{Action: "insert", Data: renderData(dataType, data, blocks), ID: blocks[0].id, ParentID: parent.id}
	at := 0
	if last {
		at = len(parent.children)
		if at > 0 {
			op.PreviousID = parent.children[at-1].id
		}
	}
	if parent.kind == kindList {
		op.ParentID, op.PreviousID = "", ""
	}
	k.putBlocks(parent, at, blocks)
	if item := blocks[0].parent; parent.kind == kindList && item != nil && item.kind == kindItem {
		op.ParentID = item.id
	}
	return op
}

// putBlocks adds blocks to a container. A list takes the items of a list, and other blocks as items of their own.
func (k *Kernel) putBlocks(parent *block, at int, blocks []*block) {
	if parent.kind == kindList {
		var items []*block
		for _, b := range blocks {
			switch b.kind {
			case kindList:
				items = append(items, b.children...)
			case kindItem:
				items = append(items, b)
			default:
				item := &block{kind: kindItem, marker: "-", children: []*block{b}}
				if len(parent.children) > 0 {
					item.marker = parent.children[0].marker
				}
				items = append(items, k.identify([]*block{item}, b.id)...)
			}
		}
		blocks = items
	}
	parent.insertAt(at, blocks...)
	k.register(parent)
	parent.stampUpdated()
}

// leafParent is the answer to blocks put into a leaf.
func leafParent(b *block) reply {
	if b.kind == kindHeading {
		return fail(-1, fmt.Sprintf("heading [%s] is a leaf block and cannot have children; to place a block below this heading, pass previousID=<heading id> or previousID=<last block below the heading> instead of parentID", b.id))
	}
	return fail(-1, fmt.Sprintf("block [%s] type %q is a leaf block and cannot have children; use previousID to place the block as its sibling instead", b.id, b.kind))
}

// insert puts blocks before nextID, after previousID or first into parentID, in this order of priority. Without an
// anchor that exists it answers code 0 and writes nothing.
func (k *Kernel) insert(req request) doOperation {
	data, dataType := req.str("data"), req.str("dataType")
	parentID, previousID, nextID := req.optStr("parentID"), req.optStr("previousID"), req.optStr("nextID")
	for _, id := range []string{parentID, previousID, nextID} {
		if id != "" && !validID(id) {
			panic(fail(-1, "invalid ID argument"))
		}
	}
	blocks := k.identify(parseData(dataType, data))
	op := doOperation{
		Action: "insert", Data: renderData(dataType, data, blocks), ID: blocks[0].id,
		ParentID: parentID, PreviousID: previousID, NextID: nextID,
	}
	next, previous, parent := k.openBlock(nextID), k.openBlock(previousID), k.openBlock(parentID)
	switch {
	case nextID != "" && next != nil && next.parent != nil:
		op.ParentID = next.parent.id
		k.putBlocks(next.parent, next.index(), blocks)
	case nextID == "" && previous != nil && previous.kind == kindDocument:
		// Echoed with an id, and yet nothing is written.
	case nextID == "" && previous != nil && previous.parent != nil:
		op.ParentID = previous.parent.id
		k.putBlocks(previous.parent, previous.index()+1, blocks)
	case nextID == "" && previousID == "" && parent != nil:
		if !parent.container() {
			panic(leafParent(parent))
		}
		k.putBlocks(parent, 0, blocks)
	default:
		op.ID = ""
	}
	return op
}

func updateBlock(k *Kernel, req request) reply {
	data, dataType, id := req.str("data"), req.str("dataType"), req.id("id")
	b := k.openBlock(id)
	if b == nil {
		return fail(-1, "get block failed: tree not found")
	}
	return ok([]transaction{{DoOperations: k.update(b, dataType, data)}})
}

func batchUpdateBlock(k *Kernel, req request) reply {
	entries := req.needList("blocks")
	for _, entry := range entries {
		if k.openBlock(entry.id("id")) == nil {
			return fail(-1, "get block failed: tree not found")
		}
	}
	var ops []doOperation
	for _, entry := range entries {
		ops = append(ops, k.update(k.openBlock(entry.id("id")), entry.str("dataType"), entry.str("data"))...)
	}
	return ok([]transaction{{DoOperations: ops}})
}

// update replaces b by the first block of data, which takes b's id and loses b's other attributes. For a document it
// replaces all children.
func (k *Kernel) update(b *block, dataType, data string) []doOperation {
	if b.kind == kindDocument {
		return k.updateDocument(b, dataType, data)
	}
	keep := []string{b.id}
	b.walk(func(c *block) { keep = append(keep, c.id) })
	parsed := parseData(dataType, data)
	if b.kind == kindItem && parsed[0].kind == kindList && len(parsed[0].children) > 0 {
		parsed[0] = parsed[0].children[0]
	}
	if parsed[0].attrs == nil {
		parsed[0].attrs = map[string]string{}
	}
	parsed[0].attrs["id"] = b.id
	delete(parsed[0].attrs, "updated")
	parsed = k.identify(parsed, keep...)
	op := doOperation{Action: "update", Data: data, ID: b.id}
	if dataType == "markdown" {
		op.Data = domsOf(parsed)
	}
	k.replace(b, parsed[0])
	return []doOperation{op}
}

// replace puts fresh, which has b's id, into b's place.
func (k *Kernel) replace(b, fresh *block) {
	parent, at := b.parent, b.index()
	k.forget(b)
	parent.children[at] = fresh
	fresh.parent = parent
	fresh.walk(func(c *block) { c.doc = parent.doc })
	k.register(fresh)
	fresh.stampUpdated()
	k.redefined(fresh)
}

func (k *Kernel) updateDocument(root *block, dataType, data string) []doOperation {
	var ops []doOperation
	for _, child := range root.children {
		ops = append(ops, doOperation{Action: "delete", Data: map[string]any{"createEmptyParagraph": false}, ID: child.id})
		k.forget(child)
	}
	root.children = nil
	blocks := k.identify(parseData(dataType, data))
	root.insertAt(0, blocks...)
	k.register(root)
	root.stampUpdated()
	return append(ops, doOperation{Action: "insert", Data: renderData(dataType, data, blocks), ID: blocks[0].id, ParentID: root.id})
}

// deleteBlock answers before the block is gone: it stays until the next flush or write.
func deleteBlock(k *Kernel, req request) reply {
	id := req.id("id")
	k.pending = append(k.pending, func() {
		if b := k.openBlock(id); b != nil && b.kind != kindDocument {
			k.detach(b, true)
			k.forget(b)
		}
	})
	return transacted(doOperation{Action: "delete", ID: id})
}

func moveBlock(k *Kernel, req request) reply {
	id, parentID, previousID := req.id("id"), req.optStr("parentID"), req.optStr("previousID")
	b := k.openBlock(id)
	if b == nil {
		return fail(-1, fmt.Sprintf("block not found [id=%s]", id))
	}
	targetID := previousID
	if targetID == "" {
		targetID = parentID
	}
	target := k.openBlock(targetID)
	if target == nil {
		return fail(-1, fmt.Sprintf("target block not found [id=%s]", targetID))
	}
	if b.kind == kindDocument {
		return done()
	}
	if previousID == "" && !target.container() {
		return leafParent(target)
	}
	k.moveTo(b, target, previousID != "")
	return done()
}

// moveTo puts b after target, or first into it. Into itself or below itself it stays.
func (k *Kernel) moveTo(b, target *block, after bool) {
	for up := target; up != nil; up = up.parent {
		if up == b {
			return
		}
	}
	if after && target.kind == kindDocument {
		return
	}
	k.detach(b, true)
	if after {
		target.parent.insertAt(target.index()+1, b)
	} else {
		target.insertAt(0, b)
	}
	k.register(b)
	b.stampUpdated()
}

func (k *Kernel) fold(req request, folded bool) reply {
	id := req.id("id")
	b := k.openBlock(id)
	if b == nil {
		return fail(-1, fmt.Sprintf("block tree not found [id=%s]", id))
	}
	if folded {
		b.attrs["fold"] = "1"
	} else {
		delete(b.attrs, "fold")
	}
	return done()
}

// transferBlockRef turns references to one block into references to another.
func transferBlockRef(k *Kernel, req request) reply {
	from, to := req.id("fromID"), req.id("toID")
	only := req.optStrs("refIDs")
	for _, b := range k.blocks {
		if only == nil || slices.Contains(only, b.id) {
			b.text = retarget(b.text, from, to)
		}
	}
	return done()
}

func updateTaskListItemMarker(k *Kernel, req request) reply {
	return transacted(k.setTask(req))
}

func batchUpdateTaskListItemMarker(k *Kernel, req request) reply {
	var ops []doOperation
	for _, item := range req.list("items") {
		ops = append(ops, k.setTask(item))
	}
	return ok([]transaction{{DoOperations: ops}})
}

func (k *Kernel) setTask(req request) doOperation {
	id, marker := req.id("id"), req.str("marker")
	b := k.openBlock(id)
	if b == nil || b.kind != kindItem {
		panic(fail(-1, "block is not a list item"))
	}
	b.task = marker
	b.stampUpdated()
	return doOperation{Action: "update", Data: domOf(b, 0), ID: id}
}
