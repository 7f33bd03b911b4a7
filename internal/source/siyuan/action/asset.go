package action

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"collie/internal/source/siyuan/kernel"
)

// This file decides which assets (images and other files that notes show) a call may see or link to. Most assets are in
// one folder for all notebooks, so an asset belongs to every notebook that uses it. As with databases the lowest level
// counts: naming an asset in a note gives nobody more access than before.

// VisibleAssets returns a function that reports whether one of paths, as documents write them, may be seen. If every
// notebook may be read, all may. Otherwise these may: assets in the folder of a readable notebook, and assets used by
// a readable document, unless a hidden notebook uses or mentions them too. An asset without a known user may be
// anybody's, so it is not visible.
//
// Closed notebooks cannot be searched.
func (r *Request) VisibleAssets(ctx context.Context, paths []string) (func(path string) bool, error) {
	u, err := r.assetUsers(ctx, paths)
	if err != nil {
		return nil, err
	}
	return func(path string) bool { return u == nil || !u.usedInHidden(path) && u.visible[path] }, nil
}

// LinkableAssets returns a function that reports whether a note may link to one of paths: to a visible asset, to one
// uploaded by this process, and to one that nothing uses, provided every hidden notebook can be searched. Uses in the
// blocks or documents of except do not count.
func (r *Request) LinkableAssets(ctx context.Context, paths []string, except ...kernel.ID) (func(path string) bool, error) {
	u, err := r.assetUsers(ctx, paths, except...)
	if err != nil {
		return nil, err
	}
	unused := map[string]bool{}
	if u != nil && slices.ContainsFunc(paths, func(p string) bool { return !u.visible[p] && !u.usedInHidden(p) && !r.wasUploaded(p) }) {
		if unused, err = r.unusedAssets(ctx); err != nil {
			return nil, err
		}
	}
	return func(path string) bool {
		return u == nil || !u.usedInHidden(path) && (u.visible[path] || r.wasUploaded(path) || slices.ContainsFunc(AssetReadings(path), func(p string) bool { return unused[p] }))
	}, nil
}

// wasUploaded reports whether an asset was uploaded by this process.
func (r *Request) wasUploaded(path string) bool {
	return slices.ContainsFunc(AssetReadings(path), r.Workspace.Uploads().Has)
}

// unusedAssets returns the assets that nothing uses. It returns none while a hidden notebook is closed, since no
// index covers its documents.
func (r *Request) unusedAssets(ctx context.Context) (map[string]bool, error) {
	all, err := r.Levels.All(ctx)
	if err != nil || slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed && !r.Readable(n.ID) }) {
		return nil, err
	}
	list, err := r.Kernel.UnusedAssets(ctx)
	out := map[string]bool{}
	for _, path := range list {
		out[path] = true
	}
	return out, err
}

// assetUsers records which notes use an asset, as far as this is known.
type assetUsers struct {
	visible   map[string]bool // used in notebooks that may be read
	hiddenUse map[string]bool // used in hidden notebooks
	mentions  *AssetMentions  // mentioned in hidden notebooks
}

// usedInHidden reports whether a hidden notebook uses an asset or mentions it.
func (u *assetUsers) usedInHidden(path string) bool {
	return u.hiddenUse[path] || slices.ContainsFunc(AssetReadings(path), u.mentions.Has)
}

// assetUsers finds the users of assets; nil if every notebook may be read.
func (r *Request) assetUsers(ctx context.Context, paths []string, except ...kernel.ID) (*assetUsers, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	u := &assetUsers{visible: map[string]bool{}, hiddenUse: map[string]bool{}}
	names := map[string]string{} // assets by each form in which they may be written
	for _, path := range paths {
		for _, form := range AssetReadings(path) {
			names[form] = path
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if notebook := kernel.ID(folder); notebook.Valid() {
			u.visible[path], u.hiddenUse[path] = r.Readable(notebook), !r.Readable(notebook)
		}
	}
	forms := slices.Sorted(maps.Keys(names))
	const perStatement = 500 // keeps each SQL statement short
	for chunk := range slices.Chunk(forms, perStatement) {
		uses, err := r.Kernel.AssetUses(ctx, chunk, except...)
		if err != nil {
			return nil, err
		}
		for _, use := range uses {
			for _, form := range AssetReadings(use.Path) {
				if path, ok := names[form]; ok {
					u.visible[path] = u.visible[path] || r.Readable(use.Notebook)
					u.hiddenUse[path] = u.hiddenUse[path] || !r.Readable(use.Notebook)
				}
			}
		}
	}
	u.mentions, err = r.findHiddenMentions(ctx, forms)
	return u, err
}

// findHiddenMentions searches the texts, attributes and databases of hidden notebooks for assets.
func (r *Request) findHiddenMentions(ctx context.Context, paths []string) (*AssetMentions, error) {
	named := NewAssetMentions(paths)
	if len(paths) == 0 {
		return named, nil
	}
	ids, err := r.VisibleNotebookIDs(ctx)
	if err != nil {
		return nil, err
	}
	texts, err := r.Kernel.AssetTextsOutside(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		if !r.Readable(t.Notebook) {
			named.AddText(t.Text)
		}
	}
	databases, err := r.HiddenDatabases(ctx)
	if err != nil {
		return nil, err
	}
	return named, r.Kernel.DatabaseTexts(ctx, databases, func(_ kernel.ID, text string) { named.AddText(text) })
}

// AssetReadings returns the paths that an asset's address in a document may mean: as it is and decoded, with and
// without what looks like a query or fragment, since a file name may contain those characters.
func AssetReadings(address string) []string {
	out := []string{address}
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		out = append(out, address[:i])
	}
	for _, form := range out {
		if decoded, err := url.PathUnescape(form); err == nil && decoded != form {
			out = append(out, decoded)
		}
	}
	return out
}
