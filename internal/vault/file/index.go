package file

import (
	"maps"
	"path"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// upsertIndexes adds .sy files that were written as files to the tree of notes. Paths begin with the notebook:
// /<notebook>/<document>.sy. Files that cannot be added are ignored, as in SiYuan.
func upsertIndexes(tx *workspace.Tx, req api.Request) api.Reply {
	paths := req.Strs("paths")
	slices.Sort(paths) // parents before children
	for _, p := range slices.Compact(paths) {
		if !escapes(p) {
			adoptAsDocument(tx, path.Join("/data", p))
		}
	}
	return api.Done()
}

// adoptAsDocument replaces a .sy file by the document in it.
func adoptAsDocument(tx *workspace.Tx, p string) {
	boxID, rest, ok := splitNote(p)
	f := tx.Stat(p)
	if !ok || f == nil || f.Dir || !strings.HasSuffix(rest, ".sy") {
		return
	}
	box := tx.OpenNotebook(boxID)
	root, err := markup.ParseSY(tx.ReadFile(p))
	if box == nil || err != nil || root.ID != strings.TrimSuffix(path.Base(p), ".sy") || !tree.ValidID(root.ID) || tx.BlockExists(root.ID) {
		return
	}
	var parent *tree.Document
	if up := path.Dir(rest); up != "/" {
		if parent = tx.DocumentAt(boxID, up+".sy"); parent == nil || parent.Hidden() || parent.Depth() >= tree.MaxDepth {
			return
		}
	}
	tx.RemoveFile(p)
	blocks := root.Children
	for _, b := range blocks {
		b.Parent = nil
	}
	d := tx.AddDocument(box, parent, root.Attrs["title"], root.ID, tx.Identify(blocks))
	attrs := maps.Clone(root.Attrs)
	for _, name := range []string{"id", "title", "type"} {
		delete(attrs, name)
	}
	maps.Copy(d.Root.Attrs, attrs)
}
