package document

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints that rename, remove, copy and sort documents.

// renameDocByID sets the title of a document. For the page of a notebook, the notebook is renamed too.
func renameDocByID(tx *workspace.Tx, req api.Request) api.Reply {
	id, title := req.ID("id"), req.Str("title")
	d := tx.Document(id)
	switch {
	case d == nil:
		return api.Notice(treeNotFound, longError)
	case utf8.RuneCountInString(title) > edit.MaxTitle:
		return api.Fail(-1, titleTooLong)
	}
	edit.SaveBefore(tx, d)
	edit.Rename(d, title)
	d.Root.Stamp()
	return api.Done()
}

// removeDocByID saves a document and those below it in the history, and removes them.
func removeDocByID(tx *workspace.Tx, req api.Request) api.Reply {
	d := tx.Document(req.ID("id"))
	switch {
	case d == nil:
		return api.Notice("indexing", longError)
	case d.Hidden():
		return api.Fail(-1, pageIsFixed)
	}
	edit.Remove(tx, d)
	return api.Done()
}

// duplicateDoc copies a document next to itself, without the documents below it. The hPath in the answer is not exact:
// it has two blanks where the title has one, as in SiYuan.
func duplicateDoc(tx *workspace.Tx, req api.Request) api.Reply {
	d := tx.Document(req.ID("id"))
	if d == nil {
		return api.Notice(treeNotFound, longError)
	}
	blocks := make([]*tree.Block, len(d.Root.Children))
	for i, b := range d.Root.Children {
		blocks[i] = edit.Copy(tx, b)
	}
	mark := "(Duplicated " + time.Now().Format(time.DateTime) + ")"
	hpath := "/" + d.Title() + "  " + mark
	if d.Parent != nil {
		hpath = d.Parent.HPath() + hpath
	}
	c := tx.AddDocument(d.Box, d.Parent, d.Title()+" "+mark, "", blocks)
	for name, value := range d.Root.Attrs {
		if _, isSet := c.Root.Attrs[name]; !isSet && !isUnique(name) {
			c.Root.Attrs[name] = value
		}
	}
	return api.OK(map[string]any{"hPath": hpath, "id": c.ID(), "notebook": c.Box.ID, "path": c.Path()})
}

// isUnique reports whether an attribute belongs to one document only and must not be copied.
func isUnique(name string) bool {
	return name == "custom-hidden" || name == "title-empty" ||
		strings.HasPrefix(name, "custom-dailynote-") || name == "custom-riff-decks"
}

// changeSort moves the documents in paths to the front and numbers their siblings after them, in the order of the times in
// their ids.
func changeSort(tx *workspace.Tx, req api.Request) api.Reply {
	notebook, paths := req.Str("notebook"), req.Strs("paths")
	if len(paths) == 0 {
		return api.Done()
	}
	first := tx.DocumentAt(notebook, paths[0])
	if first == nil {
		return api.Done()
	}
	place := make(map[string]int, len(paths))
	for i, path := range paths {
		place[path] = i + 1
	}
	siblings := tx.Children(first.Box, first.Parent)
	slices.SortFunc(siblings, func(a, b *tree.Document) int {
		return cmp.Or(strings.Compare(a.ID()[:14], b.ID()[:14]), cmp.Compare(a.Number, b.Number))
	})
	next := len(paths)
	for _, d := range siblings {
		if at := place[d.Path()]; at > 0 {
			d.Sort = at
			continue
		}
		next++
		d.Sort = next
	}
	return api.Done()
}
