package document

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type searchDocsArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Query    string    `json:"query" about:"words of the title" req:"true" min:"1"`
	Path     string    `json:"path" about:"only below this human or storage path"`
}

// hit is a document whose title was found.
type hit struct {
	place
	Name string `json:"name"`
}

func searchDocs() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "search_docs", Purpose: "Find documents of a notebook by their titles",
		Guide:      `Text in documents: search(action="fulltext").`,
		Common:     true,
		Class:      action.Reads,
		Needs:      []action.Need{action.OnNotebook(access.Read, "notebook")},
		Endpoints:  []string{"filetree/searchDocs"},
		Positional: []string{"notebook", "query"},
		Returns: []action.Field{
			{Name: "docs", About: "documents found, those of other notebooks left out"},
			{Name: "docs[].id", About: "document id"},
			{Name: "docs[].name", About: "title"},
			{Name: "docs[].hPath", About: "human path in the notebook"},
			{Name: "docs[].path", About: "storage path"},
			{Name: "docs[].notebook", About: "notebook id", Verbose: true},
			{Name: "total", About: "how many"},
			{Name: "path", About: "the scope that was given"},
			{Name: "pathApplied", About: "whether a scope was given"},
			{Name: "pathFilteredOutCount", About: "how many were outside of it"},
		},
		Example: `{"notebook":"20240101120000-abcdefg","query":"meeting"}`,
	}, func(ctx context.Context, r *action.Request, a searchDocsArgs) (any, error) {
		query := strings.TrimSpace(a.Query)
		if query == "" {
			return nil, r.Invalid("query", "must not be empty")
		}
		all, err := r.Kernel.SearchDocuments(ctx, query)
		if err != nil {
			return nil, err
		}
		hits := ofNotebook(all, r.Target("notebook"))
		kept := make([]hit, 0, len(hits))
		for _, h := range hits {
			if within(&h, a.Path) {
				kept = append(kept, h)
			}
		}
		return struct {
			Docs        []hit  `json:"docs"`
			Total       int    `json:"total"`
			Path        string `json:"path,omitempty"`
			PathApplied bool   `json:"pathApplied"`
			Outside     int    `json:"pathFilteredOutCount,omitempty"`
		}{kept, len(kept), a.Path, a.Path != "", len(hits) - len(kept)}, nil
	})
}

// ofNotebook are the hits in one notebook, each once: the kernel searches all of them (R-1-9),
// and may find a document twice.
func ofNotebook(all []kernel.FoundDocument, n action.Target) []hit {
	var out []hit
	seen := map[string]bool{}
	for _, f := range all {
		if f.Notebook != n.ID || seen[f.Path] || !storagePath.MatchString(f.Path) {
			continue
		}
		seen[f.Path] = true
		hpath := content.Clean(strings.TrimPrefix(f.HPath, n.Title))
		name := hpath[strings.LastIndex(hpath, "/")+1:]
		out = append(out, hit{place{lastID(f.Path), n.ID, f.Path, hpath}, name})
	}
	return out
}

// within reports whether a hit is at or below a scope, which is a storage path, a human path, or
// empty for everywhere.
func within(h *hit, scope string) bool {
	if scope == "" {
		return true
	}
	if storagePath.MatchString(scope) {
		return h.Path == scope || strings.HasPrefix(h.Path, folder(scope)+"/")
	}
	scope = "/" + strings.Trim(scope, "/")
	return scope == "/" || h.HPath == scope || strings.HasPrefix(h.HPath, scope+"/")
}
