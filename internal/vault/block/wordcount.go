package block

import (
	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/workspace"
)

// getBlocksWordCount counts words and more in blocks and returns the sums. blockCount is just the number of blocks in
// the request that exist.
func getBlocksWordCount(tx *workspace.Tx, req api.Request) api.Reply {
	var s edit.Stat
	for _, id := range req.Strs("ids") {
		if b := tx.Block(id); b != nil {
			s.BlockCount++
			s.Add(b)
		}
	}
	return api.OK(map[string]any{"reqId": nil, "stat": s})
}
