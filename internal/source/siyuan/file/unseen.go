package file

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
)

// unseenUsers refuses an asset that is used where no index of documents tells. One that a database
// of a hidden notebook names is not there. To change one, all that may use it must have the level:
// closed notebooks without it, and databases of such notebooks, open or not. The kernel changes both
// when it renames. Databases are read only where some notebook lacks the level.
func unseenUsers(ctx context.Context, r *action.Request, level access.Level, e *datafile.Entry, subject string) error {
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
	some := hidden // those that matter to a reader
	lacks := func(id kernel.ID) bool { return r.Levels.Of(id) < level }
	if level > access.Read {
		if slices.ContainsFunc(all, func(n kernel.Notebook) bool { return n.Closed && lacks(n.ID) }) {
			return denied
		}
		some = nil
	}
	databases, err := databasesNaming(ctx, r, e.Path, some)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(databases, func(id kernel.ID) bool { return hidden[id] }) {
		return access.NotFound(access.Asset, subject)
	}
	if level == access.Read {
		return nil
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

// databasesNaming are those of some databases that name an asset; nil is all of them.
func databasesNaming(ctx context.Context, r *action.Request, asset string, some map[kernel.ID]bool) (list []kernel.ID, err error) {
	err = r.Kernel.DatabaseTexts(ctx, some, func(database kernel.ID, text string) {
		n := action.NewNaming([]string{asset})
		if n.Read(text); n.Has(asset) && !slices.Contains(list, database) {
			list = append(list, database)
		}
	})
	return list, err
}
