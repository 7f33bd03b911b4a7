package document

import (
	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// blockPlace is where a block lies.
type blockPlace struct{ box, path, hpath string }

// placeOf finds the document a block of an open notebook lies in, without loading it.
func placeOf(tx *workspace.Tx, id string) (at blockPlace, found bool) {
	tx.Rows(func(row workspace.Row) bool {
		at, found = blockPlace{row.Text(0), row.Text(1), row.Text(2)}, true
		return false
	}, `SELECT document.box, document.path, document.hpath
		FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		WHERE node.id = ? AND notebook.closed = 0`, id)
	return at, found
}

func getHPathByID(tx *workspace.Tx, req api.Request) api.Reply {
	at, found := placeOf(tx, req.ID("id"))
	if !found {
		return api.Fail(-1, treeNotFound)
	}
	return api.OK(at.hpath)
}

func getPathByID(tx *workspace.Tx, req api.Request) api.Reply {
	at, found := placeOf(tx, req.ID("id"))
	if !found {
		return api.Fail(-1, treeNotFound)
	}
	return api.OK(map[string]any{"notebook": at.box, "path": at.path})
}

func getIDsByHPath(tx *workspace.Tx, req api.Request) api.Reply {
	box, path := req.Str("notebook"), visibleText(req.Str("path"))
	ids := []string{}
	for _, d := range tx.DocumentsByHPath(box, path) {
		ids = append(ids, d.ID())
	}
	return api.OK(ids)
}

// manyBlocks is how many blocks an editor loads at once; it scrolls to see more.
const manyBlocks = 192

// getDoc answers the DOM of all blocks of a document. It ignores the requested size.
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
