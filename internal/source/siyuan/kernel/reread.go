package kernel

import (
	"context"
	"strings"
)

// Reread makes the kernel read a document and all below it from their files again; path is its
// storage path. The kernel remembers documents by notebook and path, so that one which comes back
// to a notebook is as it was when it left: what was written elsewhere does not show, and is lost
// with the next write.
func (c *Client) Reread(ctx context.Context, notebook ID, path string) error {
	at := "/" + string(notebook) + path
	return c.call(ctx, "/api/filetree/upsertIndexes", write, map[string]any{
		"paths": []string{at, strings.TrimSuffix(at, ".sy") + "/"},
	}, nil)
}
