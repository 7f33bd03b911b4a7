package file

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/tool"
)

type deleteAssetArgs struct {
	Path  string `json:"path" about:"asset path" req:"true" min:"1"`
	Force bool   `json:"force" about:"delete it although it is used" default:"false"`
}

type deleteAssetResult struct {
	Success bool   `json:"success" about:"true"`
	Path    string `json:"path" about:"the asset that is gone"`
}

func deleteAsset() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "delete_asset", Purpose: "Delete an asset that no document uses",
		Guide:     "One that is in use needs force=true, and rwd in every notebook that uses it. Documents keep the broken link.",
		Dangerous: true, Class: action.State,
		Needs: []action.Need{needsAsset(access.Delete, "path")},
		Endpoints: []string{
			"file/readDir", "file/getFile", "query/sql", "asset/getUnusedAssets", "notebook/lsNotebooks", "asset/removeUnusedAsset",
		},
		Positional: []string{"path"},
		Result:     deleteAssetResult{},
		Example:    `{"path":"assets/plan-20240101120000-abcdefg.png"}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("delete the file %s, whether or not it can be brought back", strings.Join(r.Strings("path"), ""))
		},
	}, func(ctx context.Context, r *action.Request, a deleteAssetArgs) (any, error) {
		at, err := namedAsset(ctx, r, a.Path)
		if err != nil {
			return nil, err
		}
		if !a.Force {
			if err := isUnused(ctx, r, at); err != nil {
				return nil, err
			}
		}
		if err := r.Kernel.RemoveUnusedAsset(ctx, at); err != nil {
			return nil, err
		}
		if err := isGone(ctx, r, at); err != nil {
			return nil, err
		}
		return deleteAssetResult{true, a.Path}, nil
	})
}

// isUnused refuses an asset that something uses. The kernel removes it all the same.
func isUnused(ctx context.Context, r *action.Request, path string) error {
	u, err := unusedAssets(ctx, r)
	if err != nil || slices.Contains(u.files, path) {
		return err
	}
	e := r.Conflicting("the asset is in use, or SiYuan does not list it as unused", "path", "force")
	e.Hint = fmt.Sprintf(`file(action="delete_asset", path=%q, force=true) deletes it all the same; file(action="list_unused_assets") shows what is unused`, path)
	return e
}

// isGone makes sure that a file is not there any more.
func isGone(ctx context.Context, r *action.Request, path string) error {
	e, err := datafile.Locate(ctx, r.Kernel, path)
	if err != nil || e == nil {
		return err
	}
	return &tool.Error{
		Op: "delete", Kind: tool.Mismatch, Subject: path, OutcomeUnknown: true,
		Message: "the kernel accepted the deletion, and the asset is still there",
	}
}
