package action

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// A database has no notebook of its own: blocks of any notebooks may show it, and whoever can
// write a block can add one. So it belongs to all notebooks that show it, and the lowest of their
// levels is that of the database: another block that shows it gives nobody more than they had.

// DatabaseOwners are the places of the blocks that show a database, whatever their levels, and how
// many blocks are said to show it: some may be gone, or in a closed notebook.
func (r *Request) DatabaseOwners(ctx context.Context, id kernel.ID) (found []Target, candidates int, err error) {
	type row struct {
		ID       kernel.ID `json:"id"`
		Markdown string    `json:"markdown"`
	}
	rows, err := kernel.SQL[row](ctx, r.Kernel, "SELECT DISTINCT id, markdown FROM blocks WHERE type='av' AND markdown LIKE "+
		kernel.Quote(`%data-av-id="`+string(id)+`"%`)+" LIMIT 10000")
	if err != nil {
		return nil, 0, err
	}
	ids, err := r.Kernel.DatabaseBlocks(ctx, id) // after SQL, which flushes
	if err != nil && tool.KindOf(err) != kernel.NotInKernel {
		return nil, 0, err
	}
	for _, row := range rows {
		if ShowsDatabase(row.Markdown, id) && !slices.Contains(ids, row.ID) {
			ids = append(ids, row.ID)
		}
	}
	places, err := r.Places(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range ids {
		if at, ok := places[b]; ok {
			found = append(found, at)
		}
	}
	return found, len(ids), nil
}

// LowestOwner is the one of some places whose notebook has the lowest level, nil of none.
func (r *Request) LowestOwner(owners []Target) *Target {
	var lowest *Target
	for i := range owners {
		if lowest == nil || r.Levels.Of(owners[i].Notebook) < r.Levels.Of(lowest.Notebook) {
			lowest = &owners[i]
		}
	}
	return lowest
}

// Database finds a database as a target: at the place with the lowest level among those that show
// it. One that a notebook shows which may not be read, or none at all, is [access.NotFound].
func (r *Request) Database(ctx context.Context, id kernel.ID) (Target, error) {
	if !id.Valid() {
		return Target{}, access.NotFound(access.Database, string(id))
	}
	owners, _, err := r.DatabaseOwners(ctx, id)
	if err != nil {
		return Target{}, err
	}
	at := r.LowestOwner(owners)
	if at == nil || !r.Readable(at.Notebook) {
		return Target{}, access.NotFound(access.Database, string(id))
	}
	t := *at
	t.What, t.Subject, t.ID = access.Database, string(id), id
	return t, nil
}

// HiddenDatabases are those that a block of a notebook shows which may not be read.
func (r *Request) HiddenDatabases(ctx context.Context) (map[kernel.ID]bool, error) {
	shown, err := r.shownDatabases(ctx)
	maps.DeleteFunc(shown, func(_ kernel.ID, visible bool) bool { return visible })
	for id := range shown {
		shown[id] = true
	}
	return shown, err
}

// VisibleDatabases are those that only notebooks show which may be read, as the index has them.
func (r *Request) VisibleDatabases(ctx context.Context) (map[kernel.ID]bool, error) {
	shown, err := r.shownDatabases(ctx)
	maps.DeleteFunc(shown, func(_ kernel.ID, visible bool) bool { return !visible })
	return shown, err
}

// shownDatabases are all databases that blocks show, and whether all of these may be read.
func (r *Request) shownDatabases(ctx context.Context) (map[kernel.ID]bool, error) {
	type row struct {
		Notebook kernel.ID `json:"box"`
		Markdown string    `json:"markdown"`
	}
	rows, err := kernel.SQL[row](ctx, r.Kernel, "SELECT DISTINCT box, markdown FROM blocks WHERE type='av' LIMIT 1000000")
	if err != nil {
		return nil, err
	}
	out := map[kernel.ID]bool{}
	for _, row := range rows {
		id := shownDatabase(row.Markdown)
		before, known := out[id]
		out[id] = (before || !known) && r.Readable(row.Notebook)
	}
	return out, nil
}

// ShowsDatabase reports whether the first block of a DOM or of Markdown shows a database.
func ShowsDatabase(text string, id kernel.ID) bool {
	head, _, _ := strings.Cut(text, ">")
	return strings.Contains(head, `data-type="NodeAttributeView"`) && strings.Contains(head, fmt.Sprintf(`data-av-id="%s"`, id))
}

// shownDatabase is the database that the first block of a DOM or of Markdown shows, as it is written there.
func shownDatabase(text string) kernel.ID {
	head, _, _ := strings.Cut(text, ">")
	_, after, _ := strings.Cut(head, `data-av-id="`)
	id, _, _ := strings.Cut(after, `"`)
	return kernel.ID(id)
}
