package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// recentLimit is how many blocks the recent list holds.
const recentLimit = 16

// getRecentUpdatedBlocks lists the paragraphs that were written last, the newest first.
func getRecentUpdatedBlocks(tx *workspace.Tx, _ api.Request) api.Reply {
	var ids []string
	tx.Rows(func(row workspace.Row) bool {
		ids = append(ids, row.Text(0))
		return true
	}, `SELECT node.id FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		WHERE node.type = 'p' AND node.markdown <> '' AND notebook.closed = 0
		ORDER BY node.updated DESC, node.n DESC LIMIT ?`, recentLimit)
	found := []*api.FoundBlock{}
	for _, id := range ids {
		if b := tx.Block(id); b != nil {
			found = append(found, api.Found(b))
		}
	}
	return api.OK(found)
}
