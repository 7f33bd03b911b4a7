package file

import (
	"context"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type docAssetsArgs struct {
	ID   kernel.ID `json:"id" about:"document, or a block in it" req:"true"`
	Type string    `json:"assetType" about:"all, or images only" default:"all" enum:"all,image" list:"no"`
}

type getDocAssetsResult struct {
	ID     kernel.ID `json:"id" about:"the document"`
	Type   string    `json:"assetType" about:"what was asked for"`
	Assets []string  `json:"assets" about:"paths as the document writes them"`
	Count  int       `json:"count" about:"how many"`
}

func getDocAssets() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "get_doc_assets", Purpose: "List the assets that a document uses",
		Class: action.Reads, Common: true,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"asset/getDocAssets", "asset/getDocImageAssets"},
		Positional: []string{"id"},
		Result:     getDocAssetsResult{},
		Example:    `{"id":"20240101120000-abcdefg","assetType":"image"}`,
	}, func(ctx context.Context, r *action.Request, a docAssetsArgs) (any, error) {
		root := r.Target("id").Root
		found, err := r.Kernel.DocumentAssets(ctx, root, a.Type == "image")
		if err != nil {
			return nil, err
		}
		list := visible(r, found)
		return getDocAssetsResult{root, a.Type, list, len(list)}, nil
	})
}

// visible leaves out assets in the folders of notebooks that may not be read, and what is named again.
func visible(r *action.Request, paths []string) []string {
	out := []string{}
	for _, p := range paths {
		if a, wrong := parseAsset(p); wrong == "" && a.notebook != "" && !r.Readable(a.notebook) {
			r.Filtered(1)
			continue
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
