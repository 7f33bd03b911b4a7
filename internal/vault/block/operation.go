package block

import (
	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the operations on blocks for /api/transactions.

// domDataType is the data type of all operations: the editor's DOM.
const domDataType = "dom"

func registerTransactions(mux *api.Mux) {
	mux.Write("/api/transactions", performTransactions(mux))
	mux.Operation("insert", insertOperation)
	mux.Operation("appendInsert", childOperation(true))
	mux.Operation("prependInsert", childOperation(false))
	mux.Operation("update", updateOperation)
	mux.Operation("delete", deleteOperation)
	mux.Operation("move", moveOperation)
	mux.Operation("setAttrs", setAttrsOperation)
	mux.Operation("doUpdateUpdated", updatedOperation)
}

func insertOperation(tx *workspace.Tx, op *api.DoOperation, _ gjson.Result) bool {
	data, isText := op.Data.(string)
	parent, at := insertAnchor{parent: op.ParentID, previous: op.PreviousID, next: op.NextID}.find(tx)
	if !isText || parent == nil || !parent.Container() {
		return false
	}
	blocks := tx.Identify(markup.ParseDOM(data))
	op.ID = blocks[0].ID // the requested id, unless another block has it
	edit.Put(tx, parent, at, blocks)
	return true
}

// childOperation returns the operation appendInsert (last) or prependInsert. Both are answered as an insert.
func childOperation(last bool) api.Operation {
	return func(tx *workspace.Tx, op *api.DoOperation, _ gjson.Result) bool {
		data, isText := op.Data.(string)
		parent := tx.Block(op.ParentID)
		if !isText || parent == nil || !parent.Container() {
			return false
		}
		*op = edit.Place(tx, domDataType, data, parent, last)
		return true
	}
}

func updateOperation(tx *workspace.Tx, op *api.DoOperation, _ gjson.Result) bool {
	data, isText := op.Data.(string)
	b := tx.Block(op.ID)
	if b == nil || !isText || b.Kind == tree.Doc {
		return false
	}
	edit.Update(tx, b, domDataType, data)
	return true
}

func deleteOperation(tx *workspace.Tx, op *api.DoOperation, _ gjson.Result) bool {
	remove(tx, op.ID)
	return true
}

func moveOperation(tx *workspace.Tx, op *api.DoOperation, _ gjson.Result) bool {
	after, targetID := op.PreviousID != "", op.ParentID
	if after {
		targetID = op.PreviousID
	}
	b, target := tx.Block(op.ID), tx.Block(targetID)
	if b == nil || target == nil || b.Kind == tree.Doc || !after && !target.Container() {
		return false
	}
	edit.Move(tx, b, target, after)
	return true
}

func setAttrsOperation(tx *workspace.Tx, op *api.DoOperation, _ gjson.Result) bool {
	text, isText := op.Data.(string)
	b := tx.Block(op.ID)
	return b != nil && isText && gjson.Valid(text) && setAttributes(tx, b, gjson.Parse(text)) == ""
}

// updatedOperation sets when a block was updated. It is not a failure if the block does not exist.
func updatedOperation(tx *workspace.Tx, op *api.DoOperation, _ gjson.Result) bool {
	at, isText := op.Data.(string)
	if b := tx.Block(op.ID); b != nil && isText && at != "" {
		b.Attrs["updated"] = at
	}
	return true
}
