package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file restricts searches to notebooks that may be read.

// scopePath matches the paths that restrict a search: a notebook, or a document with its descendants.
var scopePath = lazyregexp.New(`^\d{14}-[0-9a-z]{7}(/\d{14}-[0-9a-z]{7})*(\.sy)?$`)

// checkPaths returns paths in the kernel's form, and refuses those that it would not understand.
func checkPaths(r *action.Request, paths []string) ([]string, error) {
	var out []string
	for i, given := range paths {
		p := strings.TrimSuffix(strings.TrimPrefix(given, "/"), "/")
		if !scopePath.MatchString(p) {
			return nil, r.Invalid(fmt.Sprintf("paths/%d", i), `must be a notebook id, or one with the path of a document: "<notebook>/<id>/<id>.sy"`)
		}
		if strings.Contains(p, "/") && !strings.HasSuffix(p, ".sy") {
			p += ".sy"
		}
		out = append(out, p)
	}
	return out, nil
}

// notebookOf returns the notebook at the beginning of a path.
func notebookOf(path string) kernel.ID {
	id, _, _ := strings.Cut(path, "/")
	return kernel.ID(id)
}

// narrowPaths restricts paths to the readable ones. No paths means all readable notebooks. nothing reports that none may be
// read, so the result is empty.
func narrowPaths(ctx context.Context, r *action.Request, paths []string) (narrowed []string, nothing bool, err error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return paths, false, err
	}
	visible, err := r.VisibleNotebookIDs(ctx)
	if err != nil {
		return nil, false, err
	}
	if len(paths) > 0 { // an unknown path is treated like a hidden one
		paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return !slices.Contains(visible, notebookOf(p))
		})
		return paths, len(paths) == 0, nil
	}
	for _, id := range visible {
		narrowed = append(narrowed, string(id))
	}
	return narrowed, len(narrowed) == 0, nil
}

// Types of blocks whose text in the index is copied from elsewhere: databases contain the text of their rows, embedded
// queries that of their results. It may come from any notebook.
const (
	databaseType = "databaseBlock"
	queryType    = "embedBlock"
	databaseNode = "NodeAttributeView"
)

// usualTypes are the types that a kernel searches by default, except databases.
var usualTypes = []string{"document", "heading", "paragraph", "codeBlock", "mathBlock", "table", "htmlBlock"}

// withoutCopiedTypes returns types without databases and embedded queries, and the usual types if none are given. It is used if some
// notebook may not be read.
func withoutCopiedTypes(types map[string]bool) map[string]bool {
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

// searchedTypes returns the names of types that are true.
func searchedTypes(types map[string]bool) (names []string) {
	for name, on := range types {
		if on {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// dropDatabases removes databases from the hits of other kinds of search, if some notebook may not be read.
func dropDatabases(ctx context.Context, r *action.Request, found []kernel.Found) ([]kernel.Found, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return found, err
	}
	found = slices.DeleteFunc(found, func(f kernel.Found) bool { return f.Type == databaseNode })
	for i := range found {
		if found[i].Children, err = dropDatabases(ctx, r, found[i].Children); err != nil {
			return nil, err
		}
	}
	return found, nil
}
