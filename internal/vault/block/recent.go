package block

import (
	"html"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// recentLimit is how many blocks the recent list holds.
const recentLimit = 16

// getRecentUpdatedBlocks lists the paragraphs of more than one character that were written last, the newest first. It
// is made for a web page.
func getRecentUpdatedBlocks(tx *workspace.Tx, _ api.Request) api.Reply {
	var ids []string
	tx.Rows(func(row workspace.Row) bool {
		ids = append(ids, row.Text(0))
		return true
	}, `SELECT node.id FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		WHERE node.type = 'p' AND length(node.markdown) > 1 AND notebook.closed = 0
		ORDER BY node.updated DESC, node.n DESC LIMIT ?`, recentLimit)
	found := []*api.FoundBlock{}
	for _, id := range ids {
		if b := tx.Block(id); b != nil {
			shown := api.Found(b)
			shown.Content, shown.HPath = html.EscapeString(shown.Content), html.EscapeString(shown.HPath)
			found = append(found, shown)
		}
	}
	return api.OK(found)
}
