package search

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
	"collie/internal/sorting"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action search.search_assets, which finds assets by name.

// withDots returns file types as the kernel wants them, with a dot.
func withDots(requested []string) []string {
	var out []string
	for _, ext := range requested {
		if ext = strings.ToLower(strings.TrimSpace(ext)); ext != "" {
			out = append(out, "."+strings.TrimLeft(ext, "."))
		}
	}
	return out
}

// asset is an asset whose name matches.
type asset struct {
	Name    string `json:"name" about:"file name without its id"`
	Path    string `json:"path" about:"path as documents write it"`
	Updated int64  `json:"updated" about:"time of the last change, in seconds" verbose:"yes"`
}

type searchAssetsArgs struct {
	Query string   `json:"query" about:"part of the file name; empty for all" max:"1000"`
	Exts  []string `json:"exts" about:"file types such as .png" max:"50"`
}

type searchAssetsResult struct {
	Data  []asset `json:"data" about:"assets, the newest first"`
	Total int     `json:"total" about:"how many"`
}

// searchAssets returns the action search_assets of the tool search.
func searchAssets() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "search_assets", Purpose: "Find assets (images, files) by their names", Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide:      "If a notebook may not be read, only assets are listed that notebooks use which may be.",
		Unguarded:  "assets that only notebooks use which may not be read are left out",
		Endpoints:  []string{"search/searchAsset", "query/sql", "sqlite/flushTransaction", "file/readDir", "file/getFile", "notebook/lsNotebooks"},
		Aliases:    map[string]string{"k": "query", "keyword": "query"},
		Positional: []string{"query"},
		Adapt:      adaptArgs(map[string]string{"query": "query"}, nil, "k", "keyword"),
		Result:     searchAssetsResult{},
		Example:    `{"query":"diagram","exts":[".png",".svg"]}`,
	}, func(ctx context.Context, r *action.Request, a searchAssetsArgs) (any, error) {
		out, err := findAssets(ctx, r, a.Query, withDots(a.Exts))
		if err != nil {
			return nil, err
		}
		return searchAssetsResult{out, len(out)}, nil
	})
}

// findAssets returns the assets whose names contain a text. The kernel stops after a number of assets, hidden ones
// included, so a hidden asset would reveal itself by taking the place of another. If some notebook is hidden, only
// the assets shown by readable notes are searched.
func findAssets(ctx context.Context, r *action.Request, query string, exts []string) ([]asset, error) {
	out := []asset{}
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return nil, err
	}
	if !restricted {
		found, err := r.Kernel.SearchAssets(ctx, query, exts)
		for _, f := range found {
			out = append(out, asset{parsePassage(f.Name).fullText(), f.Path, f.Updated})
		}
		return out, err
	}
	visible, err := r.Levels.Visible(ctx)
	if err != nil {
		return nil, err
	}
	visibleAssets, err := r.Kernel.AssetsOf(ctx, visible)
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(visibleAssets, func(p string) bool {
		return !containsFold(assetName(p), query) || len(exts) > 0 && !slices.Contains(exts, strings.ToLower(path.Ext(p)))
	})
	isVisible, err := r.VisibleAssets(ctx, paths)
	if err != nil {
		return nil, err
	}
	changed := map[string]map[string]int64{} // times of change by folder and file
	for _, p := range paths {
		dir := path.Dir(p)
		if _, read := changed[dir]; !read && isVisible(p) {
			if changed[dir], err = changeTimes(ctx, r, dir); err != nil {
				return nil, err
			}
		}
		if updated, ok := changed[dir][path.Base(p)]; ok && isVisible(p) {
			out = append(out, asset{assetName(p), p, updated})
		}
	}
	sorting.Stable(out, func(a, b asset) int { return cmp.Compare(b.Updated, a.Updated) })
	return out, nil
}

// changeTimes returns the files in a folder of assets with their times of change.
func changeTimes(ctx context.Context, r *action.Request, dir string) (map[string]int64, error) {
	list, err := r.Kernel.ReadDir(ctx, "/data/"+dir)
	if err != nil && tool.KindOf(err) != tool.NotFound {
		return nil, err
	}
	out := map[string]int64{}
	for _, e := range list {
		if !e.IsDir {
			out[e.Name] = e.Updated
		}
	}
	return out, nil
}

// nameID matches the id at the end of an asset's name.
var nameID = lazyregexp.New(`-\d{14}-[0-9a-z]{7}$`)

// assetName returns the name of an asset without its id.
func assetName(p string) string {
	ext := path.Ext(p)
	return nameID.ReplaceAllString(strings.TrimSuffix(path.Base(p), ext), "") + ext
}

// assetText is an asset with an excerpt of its matching text.
type assetText struct {
	ID      string `json:"id" about:"id of the entry, for assetId"`
	Name    string `json:"name" about:"file name"`
	Ext     string `json:"ext" about:"file type" verbose:"yes"`
	Path    string `json:"path" about:"path as documents write it"`
	Size    string `json:"size" about:"size of the file" verbose:"yes"`
	Updated int64  `json:"updated" about:"time of the last change, in seconds" verbose:"yes"`
	Plain   string `json:"plainContent" about:"the part of the text that matches"`
	Content string `json:"content" about:"the same as HTML with <mark>" verbose:"yes"`
}

func newAssetText(c *kernel.AssetContent) assetText {
	text := parsePassage(c.Content)
	return assetText{
		ID: c.ID, Name: parsePassage(c.Name).fullText(), Ext: c.Ext, Path: c.Path, Size: c.HSize, Updated: c.Updated, Plain: text.plain(),
		Content: text.markedHTML(),
	}
}
