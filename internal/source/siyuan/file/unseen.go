package file

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
)

// unseenUsers refuses to change an asset that may be used where no index of documents tells: in a
// closed notebook without the level, or in a database of such a notebook, open or not (R-1-24). The
// kernel changes both when it renames. Databases are read only where some notebook lacks the level.
func unseenUsers(ctx context.Context, r *action.Request, level access.Level, e *datafile.Entry) error {
	denied := r.Levels.Everywhere(ctx, level)
	if denied == nil {
		return nil
	}
	all, err := r.Levels.All(ctx)
	if err != nil {
		return err
	}
	lacks := func(id kernel.ID) bool { return r.Levels.Of(id) < level }
	if slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed && lacks(n.ID) }) {
		return denied
	}
	databases, err := databasesNaming(ctx, r, e.Path)
	if err != nil {
		return err
	}
	shown, err := r.Kernel.DatabaseNotebooks(ctx, databases)
	if err != nil {
		return err
	}
	for _, id := range databases {
		if len(shown[id]) == 0 || slices.ContainsFunc(shown[id], lacks) { // none: it may be anyone's
			return denied
		}
	}
	return nil
}

// databasesNaming are the databases that name an asset.
func databasesNaming(ctx context.Context, r *action.Request, asset string) (list []kernel.ID, err error) {
	err = r.Kernel.DatabaseTexts(ctx, func(database kernel.ID, text string) {
		n := newNaming([]string{asset})
		if n.read(text); n.has(asset) && !slices.Contains(list, database) {
			list = append(list, database)
		}
	})
	return list, err
}
