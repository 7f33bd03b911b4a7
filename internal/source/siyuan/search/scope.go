package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// scopePath is where a search looks: a notebook, or a document and what is below it.
var scopePath = lazyregexp.New(`^\d{14}-[0-9a-z]{7}(/\d{14}-[0-9a-z]{7})*(\.sy)?$`)

// checkPaths refuses paths that the kernel would not understand.
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

func notebookOf(path string) kernel.ID {
	id, _, _ := strings.Cut(path, "/")
	return kernel.ID(id)
}

// scope narrows paths to what may be read: without any, to all notebooks that may be.
// nothing says that none of them may, so that there is nothing to find.
func scope(ctx context.Context, r *action.Request, paths []string) (narrowed []string, nothing bool, err error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return paths, false, err
	}
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return nil, false, err
	}
	if len(paths) > 0 { // one that does not exist is as one that is hidden, though no level holds it back
		paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return !slices.ContainsFunc(visible, func(n kernel.Notebook) bool { return n.ID == notebookOf(p) })
		})
		return paths, len(paths) == 0, nil
	}
	for _, n := range visible {
		narrowed = append(narrowed, string(n.ID))
	}
	return narrowed, len(narrowed) == 0, nil
}
