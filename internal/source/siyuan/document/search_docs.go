package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action document.search_docs, which finds documents of a notebook by title.

type searchDocsArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Query    string    `json:"query" about:"words of the title" req:"true" min:"1"`
	Path     string    `json:"path" about:"only below this human or storage path"`
}

// hit is a document whose title was found.
type hit struct {
	ID       kernel.ID `json:"id" about:"document id"`
	Notebook kernel.ID `json:"notebook" about:"notebook id" verbose:"yes"`
	Path     string    `json:"path" about:"storage path"`
	HPath    string    `json:"hPath" about:"human path in the notebook"`
	Name     string    `json:"name" about:"title"`
}

type searchDocsResult struct {
	Docs        []hit  `json:"docs" about:"documents found, those of other notebooks left out"`
	Total       int    `json:"total" about:"how many"`
	Path        string `json:"path,omitempty" about:"the scope that was given"`
	PathApplied bool   `json:"pathApplied" about:"whether a scope was given"`
	Outside     int    `json:"pathFilteredOutCount,omitempty" about:"how many were outside of it"`
	Truncated   bool   `json:"truncated,omitempty" about:"true where not all are shown"`
	Hint        string `json:"hint,omitempty" about:"what to do about it"`
}

const (
	shownDocs    = 200  // maximum number of hits in one result
	longestQuery = 3000 // bytes; it gets longer as an SQL pattern
)

// searchDocs returns the action search_docs of the tool document.
func searchDocs() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "search_docs", Purpose: "Find documents of a notebook by their titles",
		Guide: "Each word must be in the title, or in the name or alias of the document, or in a title above it. " +
			`Text in documents: search(action="fulltext").`,
		Common: true,
		Class:  action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{needsOpenNotebook(access.Read, "notebook")},
		Endpoints:  []string{"query/sql", "sqlite/flushTransaction", "filetree/searchDocs"},
		Positional: []string{"notebook", "query"},
		Result:     searchDocsResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","query":"meeting"}`,
	}, func(ctx context.Context, r *action.Request, a searchDocsArgs) (any, error) {
		query := strings.TrimSpace(a.Query)
		switch {
		case query == "":
			return nil, r.Invalid("query", "must not be empty")
		case len(query) > longestQuery:
			return nil, r.Invalid("query", "is longer than any title: give a word or two of it")
		}
		hits, err := searchTitles(ctx, r, query)
		if err != nil {
			return nil, err
		}
		inScope := slices.DeleteFunc(slices.Clone(hits), func(h hit) bool { return !isInScope(&h, a.Path) })
		out := searchDocsResult{
			Docs: append([]hit{}, inScope...), Total: len(inScope), Path: a.Path, PathApplied: a.Path != "", Outside: len(hits) - len(inScope),
		}
		if len(inScope) > shownDocs {
			out.Docs, out.Truncated = out.Docs[:shownDocs], true
			out.Hint = fmt.Sprintf("the first %d are shown: give more words, or path", shownDocs)
		}
		return out, nil
	})
}

// searchTitles returns the documents of the notebook whose title, name or alias matches a query, each once, exact
// titles first. It reads them from the index, because filetree/searchDocs stops after a configured number of hits,
// which may all be in other notebooks. It uses searchDocs only for a read-only kernel, which refuses SQL.
func searchTitles(ctx context.Context, r *action.Request, query string) ([]hit, error) {
	n := r.Target("notebook")
	rows, err := kernel.SQL[resultPlace](ctx, r.Kernel, titleQuery(n.ID, strings.Fields(query)))
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Code == kernel.CodeReadOnly {
		var all []kernel.FoundDocument
		all, err = r.Kernel.SearchDocuments(ctx, query)
		rows = keepNotebook(all, n)
	}
	if err != nil {
		return nil, err
	}
	hits := make([]hit, 0, len(rows))
	seen := map[kernel.ID]bool{n.ID: true} // the notebook's own page is not a document
	for _, p := range rows {
		if !seen[p.ID] {
			seen[p.ID] = true
			hits = append(hits, hit{p.ID, n.ID, p.Path, p.HPath, lastTitle(p.HPath)})
		}
	}
	sorting.Stable(hits, func(a, b hit) int {
		if x, y := strings.EqualFold(a.Name, query), strings.EqualFold(b.Name, query); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a.HPath, b.HPath)
	})
	return hits, nil
}

// titleQuery selects the documents of a notebook that contain all words, at least one of them in their own title, name
// or alias. A word with a slash is a part of a path.
func titleQuery(notebook kernel.ID, words []string) string {
	const ownNames = "(content || char(10) || name || char(10) || alias)"
	const pathOrNames = "(hpath || char(10) || name || char(10) || alias)"
	var every, some []string
	for _, word := range words {
		every = append(every, kernel.Contains(pathOrNames, word))
		if strings.Contains(word, "/") {
			some = append(some, kernel.Contains("hpath", word))
		} else {
			some = append(some, kernel.Contains(ownNames, word))
		}
	}
	return "SELECT DISTINCT id, path, hpath FROM blocks WHERE type = 'd' AND box = " + kernel.Quote(string(notebook)) +
		" AND " + strings.Join(every, " AND ") + " AND (" + strings.Join(some, " OR ") + ") LIMIT 100000"
}

// keepNotebook filters the documents that the kernel found in all notebooks.
func keepNotebook(all []kernel.FoundDocument, n action.Target) []resultPlace {
	var out []resultPlace
	for _, f := range all {
		if f.Notebook == n.ID && storagePath.MatchString(f.Path) {
			out = append(out, resultPlace{lastID(f.Path), n.ID, f.Path, strings.TrimPrefix(f.HPath, n.Title)})
		}
	}
	return out
}

// isInScope reports whether a hit is at or below a scope, which is a storage path, the id of a
// document or of the notebook, a human path, or empty for everywhere.
func isInScope(h *hit, scope string) bool {
	scope = strings.TrimSpace(scope)
	id := kernel.ID(scope)
	if storagePath.MatchString(scope) {
		id = lastID(scope)
	}
	if id.Valid() {
		return id == h.Notebook || h.isAtOrBelow(id)
	}
	scope = "/" + strings.Trim(scope, "/")
	return scope == "/" || h.HPath == scope || strings.HasPrefix(h.HPath, scope+"/")
}

// isAtOrBelow reports whether a hit is the document with this id, or a descendant of it.
func (h *hit) isAtOrBelow(id kernel.ID) bool {
	return h.ID == id || strings.Contains(h.Path, "/"+string(id)+"/")
}
