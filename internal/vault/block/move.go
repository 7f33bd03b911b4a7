package block

import (
	"fmt"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// moveBlock moves a block after another one or to the start of a container. A document stays where it is, and so does
// a block that would end up inside itself or after a document.
func moveBlock(tx *workspace.Tx, req api.Request) api.Reply {
	id, parentID, previousID := req.ID("id"), req.OptStr("parentID"), req.OptStr("previousID")
	b := tx.Block(id)
	if b == nil {
		return api.Fail(-1, fmt.Sprintf("block not found [id=%s]", id))
	}
	after, targetID := previousID != "", parentID
	if after {
		targetID = previousID
	}
	target := tx.Block(targetID)
	switch {
	case target == nil:
		return api.Fail(-1, fmt.Sprintf("target block not found [id=%s]", targetID))
	case b.Kind == tree.Doc:
		return api.Done()
	case !after && !target.Container():
		return refuseLeaf(target)
	}
	edit.Move(tx, b, target, after)
	return api.Done()
}

// deleteBlock removes a block with everything in it. It is not an error if the block does not exist. A document is not
// removed.
func deleteBlock(tx *workspace.Tx, req api.Request) api.Reply {
	id := req.ID("id")
	remove(tx, id)
	return api.Transacted(api.DoOperation{Action: "delete", ID: id})
}

// remove removes a block, unless it does not exist or is a document.
func remove(tx *workspace.Tx, id string) {
	if b := tx.Block(id); b != nil && b.Kind != tree.Doc {
		edit.Detach(tx, b)
	}
}
