package document

import (
	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// blockLocation is the document that contains a block.
type blockLocation struct{ box, path, hpath string }

// locationOf finds the document that contains a block, in an open notebook, without loading it.
func locationOf(tx *workspace.Tx, id string) (loc blockLocation, found bool) {
	tx.Rows(func(row workspace.Row) bool {
		loc, found = blockLocation{row.Text(0), row.Text(1), row.Text(2)}, true
		return false
	}, `SELECT document.box, document.path, document.hpath
		FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		WHERE node.id = ? AND notebook.closed = 0`, id)
	return loc, found
}

func getHPathByID(tx *workspace.Tx, req api.Request) api.Reply {
	loc, found := locationOf(tx, req.ID("id"))
	if !found {
		return api.Fail(-1, treeNotFound)
	}
	return api.OK(loc.hpath)
}

func getPathByID(tx *workspace.Tx, req api.Request) api.Reply {
	loc, found := locationOf(tx, req.ID("id"))
	if !found {
		return api.Fail(-1, treeNotFound)
	}
	return api.OK(map[string]any{"notebook": loc.box, "path": loc.path})
}

func getIDsByHPath(tx *workspace.Tx, req api.Request) api.Reply {
	box, path := req.Str("notebook"), edit.VisibleText(req.Str("path"))
	ids := []string{}
	for _, d := range tx.DocumentsByHPath(box, path) {
		ids = append(ids, d.ID())
	}
	return api.OK(ids)
}

// manyBlocks is the number of blocks that an editor loads at a time; it loads more while scrolling.
const manyBlocks = 192

// getDoc returns the DOM of all blocks in a document. It ignores the requested size.
func getDoc(tx *workspace.Tx, req api.Request) api.Reply {
	b := tx.Block(req.Str("id"))
	if b == nil {
		return api.Fail(1, treeNotFound)
	}
	root := b.Doc.Root
	return api.OK(map[string]any{
		"blockCount": len(root.Children), "box": b.Doc.Box.ID, "content": markup.DOMs(root.Children), "eof": false,
		"id": b.ID, "isBacklinkExpand": false, "isSyncing": false, "keywords": nil, "mode": req.OptNum("mode", 0),
		"parent2ID": root.ID, "parentID": root.ID, "path": b.Doc.Path(), "reqId": nil, "rootID": root.ID,
		"scroll": len(root.Children) > manyBlocks, "type": tree.NodeType(b.Kind),
	})
}
