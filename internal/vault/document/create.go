package document

import (
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that create documents.

// createDocWithMd creates a document from Markdown at a path of titles. Missing documents above it are created too.
func createDocWithMd(tx *workspace.Tx, req api.Request) api.Reply {
	notebook, path, text := req.Str("notebook"), req.Str("path"), req.Str("markdown")
	if !tree.ValidID(notebook) {
		return api.Fail(-1, "invalid ID argument")
	}
	box := tx.OpenNotebook(notebook)
	if box == nil {
		return api.Fail(-1, notebookFailed)
	}
	id := req.OptStr("id")
	if id != "" && tx.DocumentExists(id) {
		return api.Fail(-1, "Duplicated filename")
	}
	d := create(tx, box, path, text, id)
	if d == nil {
		return api.Fail(-1, treeTooDeep)
	}
	if tags := req.OptStr("tags"); tags != "" {
		d.Root.Attrs["tags"] = tags
	}
	return api.OK(d.ID())
}

// createDoc creates a document at a storage path. The document above it must exist.
func createDoc(tx *workspace.Tx, req api.Request) api.Reply {
	notebook, path, title, text := req.Str("notebook"), req.Str("path"), req.Str("title"), req.Str("md")
	box := tx.OpenNotebook(notebook)
	if box == nil {
		return api.Fail(-1, notebookFailed)
	}
	ids := strings.Split(strings.Trim(strings.TrimSuffix(path, ".sy"), "/"), "/")
	lastIndex := len(ids) - 1
	var parent *tree.Document
	for _, id := range ids[:lastIndex] {
		if parent = tx.Document(id); parent == nil || parent.Box.ID != box.ID {
			return api.Fail(-1, "block not found")
		}
	}
	switch {
	case !tree.ValidID(ids[lastIndex]):
		return api.Fail(-1, "invalid ID argument") // SiYuan creates a document that no list shows
	case tx.DocumentExists(ids[lastIndex]):
		return api.Fail(-1, "Duplicated filename")
	case len(ids) > tree.MaxDepth:
		return api.Fail(-1, treeTooDeep)
	}
	d := tx.AddDocument(box, parent, edit.CleanTitle(title), ids[lastIndex], tx.Identify(markup.Parse(text)))
	return api.OK(map[string]string{"id": d.ID()})
}

// create creates a document at a path of titles, and its parents where they are missing. Another document may have the
// same path. id may be "". It returns nil if the document would be too deep.
func create(tx *workspace.Tx, box *tree.Notebook, hpath, text, id string) *tree.Document {
	titles := strings.Split(strings.Trim(edit.VisibleText(hpath), "/"), "/")
	if len(titles) > tree.MaxDepth {
		return nil
	}
	lastIndex := len(titles) - 1
	var parent *tree.Document
	for _, title := range titles[:lastIndex] {
		next := childTitled(tx, box, parent, title)
		if next == nil {
			next = tx.AddDocument(box, parent, title, "", nil)
			next.Sort = 0
		}
		parent = next
	}
	return tx.AddDocument(box, parent, titles[lastIndex], id, tx.Identify(markup.Parse(text)))
}

// childTitled returns the oldest document with a title directly below parent, or nil.
func childTitled(tx *workspace.Tx, box *tree.Notebook, parent *tree.Document, title string) *tree.Document {
	parentPath := ""
	if parent != nil {
		parentPath = parent.HPath()
	}
	for _, d := range tx.DocumentsByHPath(box.ID, parentPath+"/"+title) {
		// A title may contain a slash, so the path alone is ambiguous.
		if d.Parent == parent && d.Title() == title && !d.Hidden() && tree.ValidID(d.ID()) {
			return d
		}
	}
	return nil
}
