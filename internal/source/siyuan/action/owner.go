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

// A database has no notebook of its own: any block in any notebook may show it, and whoever can write a block can add
// one that does. So it belongs to all notebooks that show it, and the lowest of their levels applies: showing it in
// another block gives nobody more access than before.

// DatabaseOwners returns the places of the blocks that show a database, whatever their levels. candidates is how many
// blocks the kernel names; some may be gone, or in a closed notebook.
func (r *Request) DatabaseOwners(ctx context.Context, id kernel.ID) (found []Target, candidates int, err error) {
	type row struct {
		ID       kernel.ID `json:"id"`
		Markdown string    `json:"markdown"`
	}
	// The LIMIT of this query and of the others here is more than there can be: without one the kernel cuts at 64 rows.
	rows, err := kernel.SQL[row](ctx, r.Kernel, "SELECT DISTINCT id, markdown FROM blocks WHERE type='av' AND markdown LIKE "+
		kernel.Quote(`%data-av-id="`+string(id)+`"%`)+" LIMIT 10000")
	if err != nil {
		return nil, 0, err
	}
	ids, err := r.Kernel.DatabaseBlocks(ctx, id) // after the SQL query, which makes the kernel flush
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

// lowestOwner returns the place whose notebook has the lowest level; nil if there are no places.
func (r *Request) lowestOwner(owners []Target) *Target {
	var lowest *Target
	for i := range owners {
		if lowest == nil || r.Levels.Of(owners[i].Notebook) < r.Levels.Of(lowest.Notebook) {
			lowest = &owners[i]
		}
	}
	return lowest
}

// Database returns a database as a target, at the place with the lowest level of those that show it. If a hidden
// notebook shows it, or nothing does, the error is [access.NotFound].
func (r *Request) Database(ctx context.Context, id kernel.ID) (Target, error) {
	if !id.Valid() {
		return Target{}, access.NotFound(access.Database, string(id))
	}
	owners, _, err := r.DatabaseOwners(ctx, id)
	if err != nil {
		return Target{}, err
	}
	at := r.lowestOwner(owners)
	if at == nil || !r.Readable(at.Notebook) {
		return Target{}, access.NotFound(access.Database, string(id))
	}
	t := *at
	t.What, t.Subject, t.ID = access.Database, string(id), id
	return t, nil
}

// HiddenDatabases returns the databases that some block in a hidden notebook shows.
func (r *Request) HiddenDatabases(ctx context.Context) (map[kernel.ID]bool, error) {
	hidden, err := r.shownDatabases(ctx)
	maps.DeleteFunc(hidden, func(_ kernel.ID, readableOnly bool) bool { return readableOnly })
	for id := range hidden {
		hidden[id] = true
	}
	return hidden, err
}

// VisibleDatabases returns the databases that only readable notebooks show, by the kernel's index.
func (r *Request) VisibleDatabases(ctx context.Context) (map[kernel.ID]bool, error) {
	visible, err := r.shownDatabases(ctx)
	maps.DeleteFunc(visible, func(_ kernel.ID, readableOnly bool) bool { return !readableOnly })
	return visible, err
}

// shownDatabases returns all databases that blocks show, with true for those that only readable notebooks show.
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

// shownDatabase returns the database that the first block of a DOM or of Markdown shows, as it is written there.
func shownDatabase(text string) kernel.ID {
	head, _, _ := strings.Cut(text, ">")
	_, after, _ := strings.Cut(head, `data-av-id="`)
	id, _, _ := strings.Cut(after, `"`)
	return kernel.ID(id)
}
