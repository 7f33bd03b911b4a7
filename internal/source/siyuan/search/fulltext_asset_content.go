package search

import (
	"cmp"
	"context"
	"slices"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action search.fulltext_asset_content, which searches the texts of files such as PDF.

type assetContentArgs struct {
	Query       string   `json:"query" about:"words in the text of a file" max:"1000"`
	AssetID     string   `json:"assetId" about:"id of an entry that was found: show it alone"`
	QueryMethod string   `json:"queryMethod" about:"how query is meant, with assetId" enum:"keyword,query_syntax,regex" default:"keyword"`
	Types       []string `json:"types" about:"file types such as .pdf, .txt" max:"50"`
	SortBy      string   `json:"sortBy" about:"order" enum:"relevance_desc,relevance_asc,updated_asc,updated_desc" default:"relevance_desc"`
	Page        int      `json:"page" about:"page, from 1" default:"1" min:"1"`
	PageSize    int      `json:"pageSize" about:"entries a page" default:"32" min:"1" max:"128"`
}

type assetContentResult struct {
	action.Page[assetText]
	shownPart
	Contents   []assetText `json:"assetContents" about:"the same as data" verbose:"yes"`
	Incomplete bool        `json:"incomplete,omitempty" about:"there are too many to look at all"`
}

// maxAssetPages bounds the number of requests for one call.
const maxAssetPages = 20

// fulltextAssetContent returns the action fulltext_asset_content of the tool search.
func fulltextAssetContent() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "fulltext_asset_content", Purpose: "Find assets by the text in them: PDF, office files, text", Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide: "Either query, or assetId with the id of an entry that was found. A new file is found some seconds later. If a notebook may not be " +
			"read, only assets are found that notebooks use which may be.",
		Unguarded: "assets that only notebooks use which may not be read are left out",
		Endpoints: []string{
			"search/fullTextSearchAssetContent", "search/getAssetContent", "query/sql", "sqlite/flushTransaction", "file/readDir",
			"file/getFile", "notebook/lsNotebooks",
		},
		Aliases:    map[string]string{"methodName": "queryMethod", "method": "queryMethod", "orderBy": "sortBy", "k": "query"},
		Positional: []string{"query"},
		Adapt: adaptArgs(map[string]string{"methodName": "queryMethod"},
			map[string]map[string]int{"queryMethod": methods, "method": methods, "sortBy": assetOrders, "orderBy": assetOrders}),
		Result:  assetContentResult{},
		Example: `{"query":"invoice 2024","types":[".pdf"]}`,
	}, func(ctx context.Context, r *action.Request, a assetContentArgs) (any, error) {
		switch {
		case a.AssetID != "":
			return assetByID(ctx, r, &a)
		case a.Query == "":
			return nil, r.Conflicting("either query or assetId is needed", "query", "assetId")
		}
		found, incomplete, err := findAssetContents(ctx, r, &a)
		if err != nil {
			return nil, err
		}
		sortAssets(found, a.SortBy)
		out := assetContentResult{Page: action.Paged(found, a.Page, a.PageSize), Incomplete: incomplete}
		out.Data, out.shownPart = firstHits(out.Data, !r.Given("pageSize"))
		out.Contents = out.Data
		return out, nil
	})
}

// findAssetContents returns all matching entries that are not hidden. incomplete reports that there are more than were
// requested.
func findAssetContents(ctx context.Context, r *action.Request, a *assetContentArgs) (out []assetText, incomplete bool, err error) {
	var types map[string]bool
	for _, ext := range withDots(a.Types) {
		if types == nil {
			types = map[string]bool{}
		}
		types[ext] = true
	}
	var all []kernel.AssetContent
	for n := 1; ; n++ {
		got, err := r.Kernel.SearchAssetContents(ctx, a.Query, types, n)
		if err != nil {
			return nil, false, err
		}
		all = append(all, got.Contents...)
		if incomplete = n < got.Pages; !incomplete || n == maxAssetPages {
			break
		}
	}
	isSearchable, err := searchableAssets(ctx, r)
	if err != nil {
		return nil, false, err
	}
	for i := range all {
		if isSearchable(all[i].Path) {
			out = append(out, newAssetText(&all[i]))
		}
	}
	return out, incomplete, nil
}

// searchableAssets returns a function that reports whether an asset may be found. It is called before anything is known
// of the hits: a look-up only for hits would take longer if a hidden asset matches, and so reveal it.
func searchableAssets(ctx context.Context, r *action.Request) (func(path string) bool, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return nil, err
	}
	if !restricted {
		return func(string) bool { return true }, nil
	}
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return nil, err
	}
	assets, err := r.Kernel.AssetsOf(ctx, visible)
	if err != nil {
		return nil, err
	}
	isVisible, err := r.VisibleAssets(ctx, assets)
	if err != nil {
		return nil, err
	}
	return func(path string) bool { return slices.Contains(assets, path) && isVisible(path) }, nil
}

// sortAssets sorts entries, which come in order of relevance.
func sortAssets(list []assetText, by string) {
	switch by {
	case "relevance_asc":
		slices.Reverse(list)
	case "updated_asc":
		sorting.Stable(list, func(a, b assetText) int { return cmp.Compare(a.Updated, b.Updated) })
	case "updated_desc":
		sorting.Stable(list, func(a, b assetText) int { return cmp.Compare(b.Updated, a.Updated) })
	}
}

// assetByID returns one entry. A hidden one is treated like one that does not exist.
func assetByID(ctx context.Context, r *action.Request, a *assetContentArgs) (any, error) {
	if !kernel.ID(a.AssetID).Valid() {
		return nil, access.NotFound(access.Asset, a.AssetID)
	}
	found, err := r.Kernel.AssetContent(ctx, a.AssetID, a.Query, methods[a.QueryMethod])
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, access.NotFound(access.Asset, a.AssetID)
	}
	isVisible, err := r.VisibleAssets(ctx, []string{found.Path})
	if err != nil {
		return nil, err
	}
	if !isVisible(found.Path) {
		return nil, access.NotFound(access.Asset, a.AssetID)
	}
	out := assetContentResult{Page: action.Paged([]assetText{newAssetText(found)}, 1, 1), shownPart: shownPart{Showing: 1}}
	out.Contents = out.Data
	return out, nil
}
