package search

import (
	"context"
	"maps"
	"slices"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// The types of blocks whose text in the index is what they collect, as a search is narrowed to them: of databases what
// their rows say, of embedded queries what they found. That may be of any notebook, with nothing that tells which.
const (
	databaseType = "databaseBlock"
	queryType    = "embedBlock"
	databaseNode = "NodeAttributeView"
)

// usualTypes are those that a kernel looks in where nobody has changed that, without databases.
var usualTypes = []string{"document", "heading", "paragraph", "codeBlock", "mathBlock", "table", "htmlBlock"}

// withoutCollections are types of blocks without those that collect, for where some notebook may not be read.
func withoutCollections(types map[string]bool) map[string]bool {
	out := maps.Clone(types)
	if out == nil {
		out = map[string]bool{}
		for _, name := range usualTypes {
			out[name] = true
		}
	}
	out[databaseType], out[queryType] = false, false
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
