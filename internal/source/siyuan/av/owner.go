package av

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// The owners of a database are the blocks that show it; see [action.Request.DatabaseOwners]. The blocks to which its
// rows are bound do not matter: they may be in any notebook.

// Error codes for a database that no block shows.
const (
	codeOwnerMissing = "av_owner_missing" // no such block is known
	codeOwnerStale   = "av_owner_stale"   // such a block existed, but is gone
)

// needsDatabase returns an [action.Need] for a level on the database that an argument names.
func needsDatabase(level access.Level, param string) action.Need {
	return action.On(level, "database "+param, param, func(ctx context.Context, r *action.Request) ([]action.Target, error) {
		t, err := resolveDatabase(ctx, r, kernel.ID(r.Text(param)))
		if err != nil {
			return nil, err
		}
		return []action.Target{t}, nil
	})
}

// resolveDatabase finds the database of a call and the notebook whose level applies to it. If the call also names a
// block, the block must show the database; it does not change which level applies.
func resolveDatabase(ctx context.Context, r *action.Request, id kernel.ID) (action.Target, error) {
	if err := checkExists(ctx, r, id); err != nil {
		return action.Target{}, explainBlockID(ctx, r, id, err)
	}
	t, err := owningTarget(ctx, r, id)
	if err != nil {
		return action.Target{}, err
	}
	if block := r.Strings("blockID"); len(block) > 0 {
		at, err := blockShowing(ctx, r, id, block[0])
		if err != nil {
			return action.Target{}, err
		}
		t.Also = append(t.Also, at.Notebook) // the block may not be indexed yet
	}
	return t, nil
}

// checkExists must run before every request that would create a missing database.
func checkExists(ctx context.Context, r *action.Request, id kernel.ID) error {
	if !id.Valid() {
		return access.NotFound(access.Database, string(id))
	}
	names, err := databaseIDs(ctx, r)
	if err != nil {
		return err
	}
	if !slices.Contains(names, id) {
		return access.NotFound(access.Database, string(id))
	}
	return nil
}

// shownDatabase matches the id of the database that a block shows.
var shownDatabase = lazyregexp.New(`data-av-id="([^"]*)"`)

// explainBlockID returns the error of [checkExists] for an id that is not a database but a block that shows one, as lists
// of blocks return it. The hint names the database.
func explainBlockID(ctx context.Context, r *action.Request, id kernel.ID, err error) error {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.NotFound || !id.Valid() {
		return err
	}
	at, wrong := r.Place(ctx, access.Block, string(id))
	if wrong != nil {
		return err
	}
	dom, wrong := r.Kernel.DOM(ctx, at.ID)
	if wrong != nil {
		return err
	}
	if m := shownDatabase.FindStringSubmatch(dom); m != nil && at.ID != at.Root && action.ShowsDatabase(dom, kernel.ID(m[1])) {
		e.Hint = fmt.Sprintf("this is the id of a block; a database that it shows is %q", m[1])
	}
	return e
}

// databaseIDs returns the ids of all databases, including hidden ones.
func databaseIDs(ctx context.Context, r *action.Request) ([]kernel.ID, error) {
	files, err := r.Kernel.ReadDir(ctx, siyuanapi.Databases)
	if err != nil {
		if tool.KindOf(err) == tool.NotFound {
			return nil, nil // the folder is created with the first database
		}
		return nil, err
	}
	var ids []kernel.ID
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name, ".json"); ok && !f.IsDir && kernel.ID(id).Valid() {
			ids = append(ids, kernel.ID(id))
		}
	}
	return ids, nil
}

// blockShowing returns a block, after checking that it shows the database.
func blockShowing(ctx context.Context, r *action.Request, id kernel.ID, block string) (action.Target, error) {
	at, err := r.Place(ctx, access.Block, block)
	if err != nil {
		return action.Target{}, err
	}
	dom, err := r.Kernel.DOM(ctx, at.ID)
	if err != nil {
		return action.Target{}, err
	}
	if !action.ShowsDatabase(dom, id) {
		return action.Target{}, r.Invalid("blockID", "is not a block that shows database "+string(id))
	}
	return at, nil
}

// firstTag returns the first HTML tag of a block, which has its type.
func firstTag(dom string) string {
	of, _, _ := strings.Cut(dom, ">")
	return of
}

// owningTarget returns the database as a target in the notebook whose level applies.
func owningTarget(ctx context.Context, r *action.Request, id kernel.ID) (action.Target, error) {
	t, err := r.Database(ctx, id)
	if tool.KindOf(err) != tool.NotFound {
		return t, err
	}
	restricted, wrong := r.Levels.Restricted(ctx)
	if wrong != nil || restricted { // it may belong to a hidden notebook
		return t, cmp.Or(wrong, err)
	}
	return t, ownerMissingError(ctx, r, id)
}

// ownerMissingError returns the error for a database that no block shows. It is used only if every notebook may be read.
func ownerMissingError(ctx context.Context, r *action.Request, id kernel.ID) error {
	_, candidates, err := r.DatabaseOwners(ctx, id)
	if err != nil {
		return err
	}
	e := access.NotFound(access.Database, string(id))
	e.Code, e.Message = codeOwnerMissing, "no block of an open notebook shows database "+string(id)
	e.Hint = `its notebook may be closed, which notebook(action="list") shows; or the block is gone, and it belongs to no notebook`
	if candidates > 0 {
		e.Code, e.Message = codeOwnerStale, "the blocks that showed database "+string(id)+" are gone, or in a closed notebook"
	}
	return e
}

// partTarget returns a row or column as a target, with a name for people.
func partTarget(r *action.Request, what access.What, id kernel.ID, name string) action.Target {
	return action.Target{What: what, Subject: fmt.Sprintf("%q", name), ID: id, Notebook: r.Target("avID").Notebook, Title: name}
}

// showingBlock returns the block through which a call addresses the database: the one given by the caller, or one in the notebook
// whose level applies.
func showingBlock(ctx context.Context, r *action.Request, t action.Target) (kernel.ID, error) {
	if named := r.Strings("blockID"); len(named) > 0 {
		return kernel.ID(named[0]), nil
	}
	found, _, err := r.DatabaseOwners(ctx, t.ID)
	if err != nil {
		return "", err
	}
	for _, at := range found {
		if at.Notebook == t.Notebook {
			return at.ID, nil
		}
	}
	return "", access.NotFound(access.Database, t.Subject)
}

// isReadable reports whether a database exists and may be read.
func isReadable(ctx context.Context, r *action.Request, id kernel.ID) (bool, error) {
	_, err := r.Database(ctx, id)
	if tool.KindOf(err) == tool.NotFound {
		return false, nil
	}
	return err == nil, err
}

// loadDatabase reads a database, which must exist.
func loadDatabase(ctx context.Context, r *action.Request, id kernel.ID) (*kernel.Database, error) {
	db, err := r.Kernel.Database(ctx, id)
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.NotFound {
		return nil, access.NotFound(access.Database, string(id))
	}
	return db, err
}
