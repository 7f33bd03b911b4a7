package file

import (
	"context"
	"path"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/tool"
)

type renameAssetArgs struct {
	Old  string `json:"oldPath" about:"asset path" req:"true" min:"1"`
	Name string `json:"newName" about:"new name, without folder and id" req:"true" min:"1" max:"200"`
}

func renameAsset() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "rename_asset", Purpose: "Rename an asset, in all documents that use it as well",
		Guide:     "The ending stays and the name gets a new id. Needs rw in every notebook that uses it.",
		Dangerous: true, Class: action.State,
		Needs:      []action.Need{needsAsset(access.Write, "oldPath")},
		Endpoints:  []string{"file/readDir", "query/sql", "asset/getUnusedAssets", "notebook/lsNotebooks", "asset/renameAsset"},
		Aliases:    map[string]string{"path": "oldPath", "name": "newName"},
		Positional: []string{"oldPath", "newName"},
		Returns: []action.Field{
			{Name: "success", About: "true"},
			{Name: "oldPath", About: "path as it was"},
			{Name: "newName", About: "the name that was asked for"},
			{Name: "newPath", About: "path as it is"},
		},
		Example: `{"oldPath":"assets/plan-20240101120000-abcdefg.png","newName":"计划 plan"}`,
		Effect: func(r *action.Request) string {
			return "rename an asset to " + strings.Join(r.Strings("newName"), "") + " and change every document that uses it"
		},
	}, func(ctx context.Context, r *action.Request, a renameAssetArgs) (any, error) {
		at, err := namedAsset(ctx, r, a.Old)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSpace(a.Name)
		if ext := path.Ext(at); ext != "" && strings.EqualFold(path.Ext(name), ext) {
			name = name[:len(name)-len(ext)] // the kernel puts it back
		}
		if _, wrong := checkPath(name); wrong != "" {
			return nil, r.Invalid("newName", wrong+"; expected a plain file name")
		}
		if strings.ContainsAny(name, "/%#") {
			return nil, r.Invalid("newName", "has a slash, a percent sign or a number sign; expected a plain file name")
		}
		renamed, err := r.Kernel.RenameAsset(ctx, at, name)
		if err != nil {
			return nil, err
		}
		if err := renamedTo(ctx, r, a.Old, renamed); err != nil {
			return nil, err
		}
		return struct {
			Success bool   `json:"success"`
			Old     string `json:"oldPath"`
			Name    string `json:"newName"`
			New     string `json:"newPath"`
		}{true, a.Old, a.Name, renamed}, nil
	})
}

// renamedTo makes sure that the asset is where the kernel says: it says so of any name.
func renamedTo(ctx context.Context, r *action.Request, old, renamed string) error {
	if _, wrong := parseAsset(renamed); wrong == "" {
		e, err := locate(ctx, r.Kernel, renamed)
		if err != nil || e != nil {
			return err
		}
	}
	return &tool.Error{
		Op: "rename", Kind: tool.Mismatch, Subject: old, OutcomeUnknown: true,
		Message: "the kernel accepted the new name, and there is no asset of that name",
		Hint:    `search(action="search_assets", query="…") shows the assets as they are`,
	}
}
