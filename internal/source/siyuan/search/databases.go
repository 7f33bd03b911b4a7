package search

import (
	"context"
	"maps"
	"slices"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// The type of blocks that show a database, as a search is narrowed to it and as a hit has it. The index holds as its
// text what its rows say, and those may be blocks of any notebook, with nothing that tells which.
const (
	databaseType = "databaseBlock"
	databaseNode = "NodeAttributeView"
)

// usualTypes are those that a kernel looks in where nobody has changed that, without databases.
var usualTypes = []string{"document", "heading", "paragraph", "codeBlock", "mathBlock", "table", "htmlBlock"}

// withoutDatabases are types of blocks without databases, for where some notebook may not be read (6.3).
func withoutDatabases(types map[string]bool) map[string]bool {
	out := maps.Clone(types)
	if out == nil {
		out = map[string]bool{}
		for _, name := range usualTypes {
			out[name] = true
		}
	}
	out[databaseType] = false
	return out
}

// noDatabases leaves databases out of what was found by other means, where some notebook may not be read.
func noDatabases(ctx context.Context, r *action.Request, found []kernel.Found) ([]kernel.Found, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return found, err
	}
	found = slices.DeleteFunc(found, func(f kernel.Found) bool { return f.Type == databaseNode })
	for i := range found {
		if found[i].Children, err = noDatabases(ctx, r, found[i].Children); err != nil {
			return nil, err
		}
	}
	return found, nil
}
