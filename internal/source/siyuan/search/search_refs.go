package search

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action search.search_refs, which finds blocks to refer to.

type searchRefsArgs struct {
	ID             string `json:"id" about:"block that the reference is to stand in" req:"true"`
	RootID         string `json:"rootID" about:"its document; found out if not given"`
	K              string `json:"k" about:"words to look for" max:"1000"`
	BeforeLen      int    `json:"beforeLen" about:"characters kept before a match" default:"512" min:"0" max:"4096"`
	SquareBrackets bool   `json:"isSquareBrackets" about:"as for [[, documents first"`
	Database       bool   `json:"isDatabase" about:"as for a database, to bind blocks"`
	ReqID          int    `json:"reqId" about:"number of the request" default:"0"`
}

type searchRefsResult struct {
	Data   []hit `json:"data" about:"blocks that were found"`
	Blocks []hit `json:"blocks" about:"the same as data" verbose:"yes"`
	Total  int   `json:"total" about:"how many"`
}

// searchRefs returns the action search_refs of the tool search.
func searchRefs() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "search_refs", Purpose: "Find blocks to refer to from a block, as the editor does after ((",
		Guide: "Without k nothing is searched. get_backlinks lists what refers to a block already.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnBlock(access.Read, "id"), action.OnDocument(access.Read, "rootID")},
		Endpoints:  []string{"search/searchRefBlock", "search/fullTextSearchBlock", "sqlite/flushTransaction", "notebook/lsNotebooks", "query/sql"},
		Aliases:    map[string]string{"keyword": "k", "query": "k"},
		Positional: []string{"id", "k"},
		Result:     searchRefsResult{},
		Example:    `{"id":"20240101120000-abcdefg","k":"carrot"}`,
	}, func(ctx context.Context, r *action.Request, a searchRefsArgs) (any, error) {
		root := r.Target("id").Root
		if in := r.Targets("rootID"); len(in) > 0 {
			root = in[0].Root
		}
		found, err := referableBlocks(ctx, r, kernel.RefSearch{
			ID: r.Target("id").ID, Root: root, Keyword: a.K, BeforeLen: a.BeforeLen, SquareBrackets: a.SquareBrackets, Database: a.Database,
			ReqID: a.ReqID,
		})
		if err != nil {
			return nil, err
		}
		readable, _ := readableHits(r, found)
		if err := withoutNotebooks(ctx, r, readable); err != nil {
			return nil, err
		}
		hits := hitsOf(readable, true)
		if err := addPaths(ctx, r, hits); err != nil {
			return nil, err
		}
		return searchRefsResult{hits, hits, len(hits)}, nil
	})
}

// maxReferable is the maximum number of results if some notebook may not be read.
const maxReferable = 64

// referableBlocks returns blocks that a reference can point to. The kernel stops after a number of hits from all
// notebooks, so a hidden hit would reveal itself by replacing a visible one. If some notebook is hidden, only the others
// are searched, page by page, for the same reason.
func referableBlocks(ctx context.Context, r *action.Request, q kernel.RefSearch) ([]kernel.Found, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return nil, err
	}
	if !restricted {
		return r.Kernel.SearchRefs(ctx, q)
	}
	paths, nothing, err := narrowPaths(ctx, r, nil)
	if err != nil || nothing || q.Keyword == "" {
		return nil, err
	}
	clean := hiddenTextFilter{r: r, matches: newMatcher("keyword", q.Keyword, false)}
	var referable []kernel.Found
	for n := 1; n <= maxRestrictedPages; n++ {
		got, err := r.Kernel.FullText(ctx, kernel.FullText{
			Query: q.Keyword, Method: methods["keyword"], Types: withoutCopiedTypes(nil), Paths: paths, OrderBy: orders["relevance"], Page: n, PageSize: maxReferable,
		})
		if err != nil {
			return nil, err
		}
		found, err := dropDatabases(ctx, r, got.Blocks)
		if err != nil {
			return nil, err
		}
		if found, err = clean.cleanHits(ctx, found); err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(f kernel.Found) bool { return f.ID == q.ID || f.ID == q.Root }) // the kernel excludes these as well
		referable = append(referable, found...)
		if len(referable) >= maxReferable || n >= got.Pages {
			break
		}
	}
	return clean.demoteCleaned(referable[:min(len(referable), maxReferable)]), nil
}
