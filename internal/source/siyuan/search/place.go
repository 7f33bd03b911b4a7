package search

import (
	"context"
	"slices"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file converts the paths of hits, which the kernel writes in several ways, to those that callers use.

// document is the type of hits that are documents.
const document = "NodeDocument"

// addPaths adds to hits the paths that the fs tool accepts.
func addPaths(ctx context.Context, r *action.Request, hits []hit) (err error) {
	for i := range hits {
		h := &hits[i]
		if h.FSPath, err = r.HumanPath(ctx, h.Notebook, h.HPath); err != nil {
			return err
		}
		if err := addPaths(ctx, r, h.Children); err != nil {
			return err
		}
	}
	return nil
}

// documentHPath returns the human path of a hit's document within its notebook. For a document, the kernel gives the path of its
// parent, with a trailing slash.
func documentHPath(f *kernel.Found) string {
	path := parsePassage(f.HPath).fullText()
	switch {
	case f.ID == f.Notebook:
		return "/"
	case f.Type == document && strings.HasSuffix(path, "/"):
		return path + parsePassage(f.Content).fullText()
	}
	return path
}

// withoutNotebooks removes the names of notebooks from the beginning of paths.
func withoutNotebooks(ctx context.Context, r *action.Request, found []kernel.Found) error {
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		if n := kernel.FindNotebook(visible, f.Notebook); n != nil {
			f.HPath = strings.TrimPrefix(parsePassage(f.HPath).fullText(), n.Name)
		}
	}
	return nil
}

// dropParentDocs removes documents that a page contains only because hits are in them. A search for several words
// returns such documents. hits is the number of real hits on the page.
func dropParentDocs(found []kernel.Found, query string, hits int) []kernel.Found {
	inside := map[kernel.ID]bool{}
	for i := range found {
		if found[i].ID != found[i].Root {
			inside[found[i].Root] = true
		}
	}
	for i := len(found) - 1; i >= 0 && len(found) > hits; i-- {
		if f := &found[i]; f.ID == f.Root && inside[f.ID] && !containsAll(parsePassage(f.Content).fullText(), strings.Fields(query)) {
			found = slices.Delete(found, i, i+1)
		}
	}
	return found
}

// containsAll reports whether a text contains all words, ignoring case.
func containsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !containsFold(text, word) })
}
