package block

import (
	"html"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// recentLimit is the number of blocks that getRecentUpdatedBlocks returns.
const recentLimit = 16

// getRecentUpdatedBlocks lists the paragraphs of more than one character that were changed last, newest first. Texts
// are escaped, since the answer is for a web page.
func getRecentUpdatedBlocks(tx *workspace.Tx, _ api.Request) api.Reply {
	var ids []string
	tx.Rows(func(row workspace.Row) bool {
		ids = append(ids, row.Text(0))
		return true
	}, `SELECT node.id FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		WHERE node.type = 'p' AND length(node.markdown) > 1 AND notebook.closed = 0
		ORDER BY node.updated DESC, node.n DESC LIMIT ?`, recentLimit)
	list := []*api.FoundBlock{}
	for _, id := range ids {
		if b := tx.Block(id); b != nil {
			block := api.NewFoundBlock(b)
			block.Content, block.HPath = html.EscapeString(block.Content), html.EscapeString(block.HPath)
			list = append(list, block)
		}
	}
	return api.OK(list)
}
