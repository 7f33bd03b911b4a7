package kernel

import (
	"context"
	"strings"

	"collie/internal/tool"
)

// joiner is the character that makes one emoji of several (U+200D). The kernel keeps it in titles
// and takes it out of the human paths that it is asked about, so that it does not find what has
// it: neither a document, nor the parent of a new one, which it makes a second time then.
const joiner = "\u200d"

// indexedIDs are the documents of a human path as the index has them. It may have one that is gone, so each
// is looked for.
func (c *Client) indexedIDs(ctx context.Context, notebook ID, hpath string) ([]ID, error) {
	rows, err := SQL[struct{ ID ID }](ctx, c, "SELECT DISTINCT id FROM blocks WHERE type = 'd' AND box = "+Quote(string(notebook))+
		" AND hpath = "+Quote(hpath)+" ORDER BY id LIMIT 100")
	ids := make([]ID, 0, len(rows))
	for _, row := range rows {
		now, err := c.HPathByID(ctx, row.ID)
		if err != nil && tool.KindOf(err) != tool.Unknown {
			return nil, err
		}
		if now == hpath {
			ids = append(ids, row.ID)
		}
	}
	return ids, err
}

// createBelow makes a document at the top of a notebook and moves it below its parents, which
// are found, or made in the same way.
func (c *Client) createBelow(ctx context.Context, notebook ID, hpath, markdown string, id ID) (ID, error) {
	above, title := hpath[:strings.LastIndex(hpath, "/")], hpath[strings.LastIndex(hpath, "/"):]
	parents, err := c.IDsByHPath(ctx, notebook, above)
	if err == nil && len(parents) == 0 {
		var made ID
		made, err = c.CreateDocument(ctx, notebook, above, "", NewID())
		parents = []ID{made}
	}
	if err != nil {
		return "", err
	}
	if id, err = c.CreateDocument(ctx, notebook, title, markdown, id); err != nil {
		return id, err
	}
	return id, c.MoveDocuments(ctx, []ID{id}, parents[0])
}
