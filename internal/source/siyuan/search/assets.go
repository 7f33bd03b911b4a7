package search

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// extensions are file types as the kernel wants them, with a dot.
func extensions(given []string) []string {
	var out []string
	for _, ext := range given {
		if ext = strings.ToLower(strings.TrimSpace(ext)); ext != "" {
			out = append(out, "."+strings.TrimLeft(ext, "."))
		}
	}
	return out
}

// asset is an asset whose name matches.
type asset struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Updated int64  `json:"updated"`
}

type searchAssetsArgs struct {
	Query string   `json:"query" about:"part of the file name; empty for all" max:"1000"`
	Exts  []string `json:"exts" about:"file types such as .png" max:"50"`
}

func searchAssets() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "search_assets", Purpose: "Find assets (images, files) by their names", Class: action.Reads,
		Guide:      "If a notebook may not be read, only assets are listed that notebooks use which may be.",
		Unguarded:  "assets that only notebooks use which may not be read are left out",
		Endpoints:  []string{"search/searchAsset", "query/sql", "sqlite/flushTransaction"},
		Aliases:    map[string]string{"k": "query", "keyword": "query"},
		Positional: []string{"query"},
		Adapt:      adaptCodes(map[string]string{"query": "query"}, nil, "k", "keyword"),
		Returns: []action.Field{
			{Name: "data", About: "assets, the newest first"},
			{Name: "data[].name", About: "file name without its id"},
			{Name: "data[].path", About: "path as documents write it"},
			{Name: "data[].updated", About: "time of the last change, in seconds", Verbose: true},
			{Name: "total", About: "how many"},
		},
		Example: `{"query":"diagram","exts":[".png",".svg"]}`,
	}, func(ctx context.Context, r *action.Request, a searchAssetsArgs) (any, error) {
		found, err := r.Kernel.SearchAssets(ctx, a.Query, extensions(a.Exts))
		if err != nil {
			return nil, err
		}
		paths := make([]string, len(found))
		for i, f := range found {
			paths[i] = f.Path
		}
		may, err := r.VisibleAssets(ctx, paths)
		if err != nil {
			return nil, err
		}
		out := []asset{}
		for _, f := range found {
			if may(f.Path) {
				out = append(out, asset{parsePassage(f.Name).whole(), f.Path, f.Updated})
			}
		}
		r.Filtered(len(found) - len(out))
		return struct {
			Data  []asset `json:"data"`
			Total int     `json:"total"`
		}{out, len(out)}, nil
	})
}

// assetText is an asset with the part of its text that matches.
type assetText struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Ext     string `json:"ext"`
	Path    string `json:"path"`
	Size    string `json:"size"`
	Updated int64  `json:"updated"`
	Plain   string `json:"plainContent"`
	Content string `json:"content"`
}

func newAssetText(c *kernel.AssetContent) assetText {
	text := parsePassage(c.Content)
	return assetText{
		ID: c.ID, Name: parsePassage(c.Name).whole(), Ext: c.Ext, Path: c.Path, Size: c.HSize, Updated: c.Updated, Plain: text.plain(),
		Content: text.marked(),
	}
}
