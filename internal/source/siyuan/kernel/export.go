package kernel

import "context"

// This file has the endpoints for exports and templates.

// Markdown is a document as other programs read it.
type Markdown struct {
	HPath   string `json:"hPath" about:"human path in its notebook"`
	Content string `json:"content" about:"the Markdown"`
}

// ExportMarkdown returns the document of a block as standard Markdown, by the user's export settings. Those may make
// the kernel copy the targets of references and the results of embedded queries, from any notebook. With withAttrs set,
// references become links instead; queries are still run.
func (c *Client) ExportMarkdown(ctx context.Context, id ID, withAttrs bool) (Markdown, error) {
	body := map[string]any{"id": id}
	if withAttrs {
		body["refMode"], body["embedMode"], body["yfm"], body["addTitle"] = 2, 0, true, true
	}
	return callFor[Markdown](ctx, c, "/api/export/exportMdContent", readData, body)
}

// ExportResources packs files and folders of the workspace, such as "/data/assets/a.png", and returns the path of the
// archive in the workspace. name becomes part of its name and may be empty. The kernel packs anything in the
// workspace, without checks.
func (c *Client) ExportResources(ctx context.Context, paths []string, name string) (string, error) {
	body := map[string]any{"paths": paths}
	if name != "" {
		body["name"] = name
	}
	return callFor[string](ctx, c, "/api/export/exportResources", writeData.withMember("path"), body)
}

// Template is a template of the workspace.
type Template struct {
	Path     string `json:"path"`         // on the kernel's machine
	Relative string `json:"relativePath"` // below data/templates
	Content  string `json:"content"`      // its name, with <mark> around the searched words
}

// Templates finds templates by words of their paths; "" finds all.
func (c *Client) Templates(ctx context.Context, words string) ([]Template, error) {
	return callFor[[]Template](ctx, c, "/api/search/searchTemplate", readData.withMember("templates"), map[string]any{"k": words})
}

// RenderTemplate renders a template for a document as blocks in the editor's form. path is a [Template.Path]; preview
// leaves out what only an insertion needs.
func (c *Client) RenderTemplate(ctx context.Context, id ID, path string, preview bool) (content string, err error) {
	return callFor[string](ctx, c, "/api/template/render", readData.withMember("content"), map[string]any{"id": id, "path": path, "preview": preview})
}

// RenderSprig renders a text with actions in {{ }}, which may read the whole workspace. Like [Client.RenderTemplate]
// it is never repeated, since a loop in a template keeps the kernel busy.
func (c *Client) RenderSprig(ctx context.Context, template string) (string, error) {
	return callFor[string](ctx, c, "/api/template/renderSprig", requestKind{data: true, once: true}, map[string]any{"template": template})
}
