package file

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
)

// This file decides what level a call needs for an asset, which belongs to every notebook that uses it.

// assetUse holds the notebooks that are known to use an asset.
type assetUse struct {
	owners   []kernel.ID // notebooks of the documents that show it, and the notebook whose folder it is in
	mentions []kernel.ID // notebooks with blocks that have its path in their text or attributes
}

// usersOf finds the notebooks that use an asset.
func usersOf(ctx context.Context, r *action.Request, a assetPath) (assetUse, error) {
	var u assetUse
	if a.notebook != "" {
		u.owners = append(u.owners, a.notebook)
	}
	found, err := r.Kernel.AssetUses(ctx, a.spellings())
	if err != nil {
		return assetUse{}, err
	}
	for _, f := range found {
		if a.isAddress(f.Path) && !slices.Contains(u.owners, f.Notebook) {
			u.owners = append(u.owners, f.Notebook)
		}
	}
	mentioned, err := r.Kernel.NotebooksMentioning(ctx, a.spellings())
	if err != nil {
		return assetUse{}, err
	}
	for _, n := range mentioned {
		if !slices.Contains(u.owners, n) {
			u.mentions = append(u.mentions, n)
		}
	}
	removed, err := removedNotebooks(ctx, r)
	u.owners, u.mentions = slices.DeleteFunc(u.owners, removed), slices.DeleteFunc(u.mentions, removed)
	return u, err
}

// removedNotebooks returns a function that reports whether a notebook no longer exists. The index keeps rows of a
// removed notebook for a while; these do not count. A hidden notebook never counts as removed: what it used stays hidden.
func removedNotebooks(ctx context.Context, r *action.Request) (func(kernel.ID) bool, error) {
	all, err := r.Levels.All(ctx)
	return func(n kernel.ID) bool {
		return r.Readable(n) && kernel.FindNotebook(all, n) == nil
	}, err
}

// needsAsset returns an [action.Need] for a level on an asset, which means a level in all notebooks that use or mention it. An asset used by a
// hidden notebook is treated as missing, because otherwise naming it in one's own note would reveal it.
func needsAsset(level access.Level, param string) action.Need {
	return action.On(level, "every notebook that uses "+param, param, func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		var out []action.Target
		for _, text := range r.Strings(param) {
			a, wrong := parseAsset(text)
			if wrong != "" {
				return nil, datafile.BadPathError(text, wrong, assetHint)
			}
			e, err := locateAsset(ctx, r, a)
			if err != nil {
				return nil, err
			}
			targets, err := assetTargets(ctx, r, level, a, e, text)
			if err != nil {
				return nil, err
			}
			out = append(out, targets...)
		}
		return out, nil
	})
}

// assetTargets returns, as targets, the notebooks that must have a level for an asset; none for an asset that nothing
// restricts. e is its file, and subject the caller's name for it.
func assetTargets(ctx context.Context, r *action.Request, level access.Level, a assetPath, e *datafile.Entry, subject string) ([]action.Target, error) {
	u, err := usersOf(ctx, r, a)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(u.owners), u.mentions...)
	if len(all) == 0 {
		return nil, checkUnowned(ctx, r, level, e, subject)
	}
	usedByHidden := slices.ContainsFunc(all, func(n kernel.ID) bool { return !r.Readable(n) })
	onlyMentioned := len(u.owners) == 0 // anybody can write its path into a note, which must not make it readable
	if usedByHidden || level == access.Read && onlyMentioned {
		return nil, access.NotFound(access.Asset, subject)
	}
	if err := checkUnseenUsers(ctx, r, level, e, subject); err != nil {
		return nil, err
	}
	return []action.Target{{What: access.Asset, Subject: subject, Path: e.Path, Notebook: all[0], Also: all[1:]}}, nil
}

// checkUnowned decides about an asset that no document is known to use. If the kernel lists it as unused, it belongs
// to nobody. Otherwise it is used where the index does not look, such as in a database, so it may belong to any
// notebook. The same holds while a hidden notebook is closed, because the index does not cover closed notebooks.
func checkUnowned(ctx context.Context, r *action.Request, level access.Level, e *datafile.Entry, subject string) error {
	blind, err := hasHiddenClosed(ctx, r)
	if err != nil {
		return err
	}
	if !blind {
		unused, err := r.Kernel.UnusedAssets(ctx)
		if err != nil || slices.Contains(unused, e.Path) {
			return err
		}
	}
	restricted, err := r.Levels.Restricted(ctx)
	switch {
	case err != nil:
		return err
	case restricted:
		return access.NotFound(access.Asset, subject)
	}
	return r.Levels.Everywhere(ctx, level)
}

// hasHiddenClosed reports whether a hidden notebook is closed.
func hasHiddenClosed(ctx context.Context, r *action.Request) (bool, error) {
	all, err := r.Levels.All(ctx)
	return slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed && !r.Readable(n.ID) }), err
}

// checkUnseenUsers checks uses of an asset that the index of documents does not show. An asset named by a database of a
// hidden notebook is treated as missing. To change an asset, a caller needs the level in closed notebooks and in all
// notebooks with databases that name it, because the kernel changes both when it renames an asset. Databases are read
// only if some notebook lacks the level.
func checkUnseenUsers(ctx context.Context, r *action.Request, level access.Level, e *datafile.Entry, subject string) error {
	denied := r.Levels.Everywhere(ctx, level)
	if denied == nil {
		return nil
	}
	all, err := r.Levels.All(ctx)
	if err != nil {
		return err
	}
	hidden, err := r.HiddenDatabases(ctx)
	if err != nil {
		return err
	}
	relevant := hidden // databases that matter to a reader
	lacks := func(id kernel.ID) bool { return r.Levels.Of(id) < level }
	if level > access.Read {
		if slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed && lacks(n.ID) }) {
			return denied
		}
		relevant = nil
	}
	databases, err := databasesNaming(ctx, r, e.Path, relevant)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(databases, func(id kernel.ID) bool { return hidden[id] }) {
		return access.NotFound(access.Asset, subject)
	}
	if level == access.Read {
		return nil
	}
	visible, err := r.Kernel.DatabaseNotebooks(ctx, databases)
	if err != nil {
		return err
	}
	for _, id := range databases {
		if len(visible[id]) == 0 || slices.ContainsFunc(visible[id], lacks) { // no visible owner: it may belong to any notebook
			return denied
		}
	}
	return nil
}

// databasesNaming returns which databases name an asset, among those in only; nil means all databases.
func databasesNaming(ctx context.Context, r *action.Request, asset string, only map[kernel.ID]bool) (list []kernel.ID, err error) {
	err = r.Kernel.DatabaseTexts(ctx, only, func(database kernel.ID, text string) {
		n := action.NewAssetMentions([]string{asset})
		if n.AddText(text); n.Has(asset) && !slices.Contains(list, database) {
			list = append(list, database)
		}
	})
	return list, err
}
