package kernel

import "context"

// Template is a template of the workspace.
type Template struct {
	Path     string `json:"path"`         // on the kernel's machine
	Relative string `json:"relativePath"` // below data/templates
	Content  string `json:"content"`      // its name, with <mark> around what was searched for
}

// Templates finds templates by words of their paths; all of them for "".
func (c *Client) Templates(ctx context.Context, words string) ([]Template, error) {
	var out struct{ Templates []Template }
	err := c.call(ctx, "/api/search/searchTemplate", readData, map[string]any{"k": words}, &out)
	return out.Templates, err
}

// RenderTemplate renders a template for a document as blocks in the editor's form. path is that
// of [Template.Path]; preview leaves out what only an insertion needs.
func (c *Client) RenderTemplate(ctx context.Context, id ID, path string, preview bool) (content string, err error) {
	var out struct{ Content string }
	err = c.call(ctx, "/api/template/render", readData, map[string]any{"id": id, "path": path, "preview": preview}, &out)
	return out.Content, err
}

// RenderSprig renders a text with actions in {{ }}. These may read the whole workspace. It is
// never tried again, nor is [Client.RenderTemplate]: a loop in a template keeps the kernel busy.
func (c *Client) RenderSprig(ctx context.Context, template string) (string, error) {
	var out string
	err := c.call(ctx, "/api/template/renderSprig", kind{data: true, once: true}, map[string]any{"template": template}, &out)
	return out, err
}
