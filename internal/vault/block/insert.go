package block

import (
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that insert blocks.

// appendBlock and prependBlock insert blocks at the end or the start of a container.
func appendBlock(tx *workspace.Tx, req api.Request) api.Reply  { return addChild(tx, req, true) }
func prependBlock(tx *workspace.Tx, req api.Request) api.Reply { return addChild(tx, req, false) }

// addChild inserts blocks at the start or end of a container.
func addChild(tx *workspace.Tx, req api.Request, last bool) api.Reply {
	data, dataType, parentID := req.Str("data"), req.Str("dataType"), req.ID("parentID")
	parent := tx.Block(parentID)
	switch {
	case parent == nil:
		return api.Fail(-1, "parent block not found: "+parentID)
	case !parent.Container():
		return refuseLeaf(parent)
	}
	return api.Transacted(edit.Place(tx, dataType, data, parent, last))
}

// refuseLeaf returns the error for inserting blocks into a leaf.
func refuseLeaf(b *tree.Block) api.Reply {
	if b.Kind == tree.Heading {
		return api.Fail(-1, fmt.Sprintf("heading [%s] is a leaf block and cannot have children; to place a block below this heading, "+
			"pass previousID=<heading id> or previousID=<last block below the heading> instead of parentID", b.ID))
	}
	return api.Fail(-1, fmt.Sprintf("block [%s] type %q is a leaf block and cannot have children; "+
		"use previousID to place the block as its sibling instead", b.ID, b.Kind))
}

// insertBlock inserts blocks at an anchor. If the anchor does not exist, it answers code 0 with an empty id and writes
// nothing, as SiYuan does.
func insertBlock(tx *workspace.Tx, req api.Request) api.Reply {
	return api.Transacted(insert(tx, req))
}

// batchInsertBlock is like insertBlock for several entries. It fails if one of the anchors does not exist.
func batchInsertBlock(tx *workspace.Tx, req api.Request) api.Reply {
	var ops []api.DoOperation
	for i, entry := range req.List("blocks") {
		op := insert(tx, entry)
		if op.ID == "" {
			return api.Fail(-1, fmt.Sprintf("no block to insert before, after or into was found for blocks[%d]; nothing was inserted", i))
		}
		ops = append(ops, op)
	}
	if len(ops) == 0 {
		return api.Done()
	}
	return api.Transacted(ops...)
}

// insert makes one insertion and returns its operation for the answer. The id in it is empty if there was nowhere to
// insert.
func insert(tx *workspace.Tx, req api.Request) api.DoOperation {
	data, dataType := req.Str("data"), req.Str("dataType")
	anchor := insertAnchor{parent: optID(req, "parentID"), previous: optID(req, "previousID"), next: optID(req, "nextID")}
	blocks := tx.Identify(edit.Parse(dataType, data))
	op := api.DoOperation{
		Action: "insert", Data: edit.Echo(dataType, data, blocks), ID: blocks[0].ID,
		ParentID: anchor.parent, PreviousID: anchor.previous, NextID: anchor.next,
	}
	parent, at := anchor.find(tx)
	switch {
	case parent == nil && anchor.afterDocument(tx): // SiYuan answers with an id, but writes nothing
	case parent == nil:
		op.ID = ""
	case !parent.Container():
		req.End(refuseLeaf(parent))
	default:
		op.ParentID = parent.ID
		edit.Put(tx, parent, at, blocks)
	}
	return op
}

// optID returns the id at key, "" if there is none. A malformed id ends the request.
func optID(req api.Request, key string) string {
	id := req.OptStr(key)
	if id != "" && !tree.ValidID(id) {
		req.End(api.Fail(-1, "invalid ID argument"))
		return ""
	}
	return id
}

// insertAnchor is where to insert blocks: before next, else after previous, else at the start of parent. Only the first
// of these that is set counts, even if that block does not exist.
type insertAnchor struct{ parent, previous, next string }

// find returns the parent and the index to insert at. The parent is nil if the anchor does not exist, or if it is a
// document and next or previous. It may be a leaf.
func (a insertAnchor) find(tx *workspace.Tx) (parent *tree.Block, at int) {
	switch {
	case a.next != "":
		if next := tx.Block(a.next); next != nil && next.Parent != nil {
			return next.Parent, next.Index()
		}
		return nil, 0
	case a.previous != "":
		if previous := tx.Block(a.previous); previous != nil && previous.Parent != nil {
			return previous.Parent, previous.Index() + 1
		}
		return nil, 0
	}
	return tx.Block(a.parent), 0
}

// afterDocument reports whether previous is a document, after which no block can follow.
func (a insertAnchor) afterDocument(tx *workspace.Tx) bool {
	if a.next != "" || a.previous == "" {
		return false
	}
	previous := tx.Block(a.previous)
	return previous != nil && previous.Kind == tree.Doc
}
