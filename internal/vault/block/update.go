package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/workspace"
)

// updateBlock replaces a block by the first block in data. For a document it replaces all blocks by those in data.
func updateBlock(tx *workspace.Tx, req api.Request) api.Reply {
	return api.OK([]api.Transaction{{DoOperations: update(tx, req)}})
}

// batchUpdateBlock is like updateBlock for several blocks, in one transaction.
func batchUpdateBlock(tx *workspace.Tx, req api.Request) api.Reply {
	var ops []api.DoOperation
	for _, entry := range req.NeedList("blocks") {
		ops = append(ops, update(tx, entry)...)
	}
	return api.OK([]api.Transaction{{DoOperations: ops}})
}

// update replaces one block, and returns the operations for the answer.
func update(tx *workspace.Tx, req api.Request) []api.DoOperation {
	data, dataType, id := req.Str("data"), req.Str("dataType"), req.ID("id")
	b := tx.Block(id)
	if b == nil {
		req.End(api.Fail(-1, "get block failed: tree not found"))
		return nil
	}
	return edit.Update(tx, b, dataType, data)
}

func foldBlock(tx *workspace.Tx, req api.Request) api.Reply   { return setFolded(tx, req, "1") }
func unfoldBlock(tx *workspace.Tx, req api.Request) api.Reply { return setFolded(tx, req, "") }

// setFolded sets the attribute fold of a block; "" removes it.
func setFolded(tx *workspace.Tx, req api.Request, folded string) api.Reply {
	id := req.ID("id")
	b := tx.Block(id)
	switch {
	case b == nil:
		return api.Fail(-1, "block tree not found [id="+id+"]")
	case folded == "":
		delete(b.Attrs, "fold")
	default:
		b.Attrs["fold"] = folded
	}
	return api.Done()
}
