package kernel

import "context"

// Markdown is a document as other programs read it.
type Markdown struct {
	HPath   string `json:"hPath" about:"human path in its notebook"`
	Content string `json:"content" about:"the Markdown"`
}

// ExportMarkdown returns the document of a block as standard Markdown, by the user's export
// settings: they may have it copy what references point to and embedded queries find, from
// any notebook. With own set references become links instead; queries are still followed.
func (c *Client) ExportMarkdown(ctx context.Context, id ID, own bool) (Markdown, error) {
	body := map[string]any{"id": id}
	if own {
		body["refMode"], body["embedMode"], body["yfm"], body["addTitle"] = 2, 0, true, true
	}
	var out Markdown
	err := c.call(ctx, "/api/export/exportMdContent", readData, body, &out)
	return out, err
}

// ExportResources packs files and folders of the workspace, such as "/data/assets/a.png", and
// returns the path of the archive in the workspace. name becomes part of its name; it may be
// empty. The kernel packs whatever is in the workspace.
func (c *Client) ExportResources(ctx context.Context, paths []string, name string) (string, error) {
	body := map[string]any{"paths": paths}
	if name != "" {
		body["name"] = name
	}
	var out struct{ Path string }
	err := c.call(ctx, "/api/export/exportResources", writeData, body, &out)
	return out.Path, err
}
