package file

import (
	"context"
	"fmt"
	"slices"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions file.delete_asset and file.remove_unused_assets.

type deleteAssetArgs struct {
	Path  string `json:"path" about:"asset path" req:"true" min:"1"`
	Force bool   `json:"force" about:"delete it although it is used" default:"false"`
}

type deleteAssetResult struct {
	Success bool   `json:"success" about:"true"`
	Path    string `json:"path" about:"the asset that is gone"`
}

// deleteAsset returns the action delete_asset of the tool file.
func deleteAsset() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "delete_asset", Purpose: "Delete an asset that no document uses",
		Guide:     "One that is in use needs force=true, and rwd in every notebook that uses it. Documents keep the broken link.",
		Dangerous: true, Class: action.State, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete,
		Needs: []action.Need{needsAsset(access.Delete, "path")},
		Endpoints: []string{
			"file/readDir", "file/getFile", "query/sql", "asset/getUnusedAssets", "notebook/lsNotebooks", "asset/removeUnusedAsset",
		},
		Positional: []string{"path"},
		Result:     deleteAssetResult{},
		Example:    `{"path":"assets/plan-20240101120000-abcdefg.png"}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("delete the file %s, whether or not it can be brought back", r.Text("path"))
		},
	}, func(ctx context.Context, r *action.Request, a deleteAssetArgs) (any, error) {
		at, err := namedAsset(ctx, r, a.Path)
		if err != nil {
			return nil, err
		}
		if !a.Force {
			if err := checkUnused(ctx, r, at); err != nil {
				return nil, err
			}
		}
		if err := r.Kernel.RemoveUnusedAsset(ctx, at); err != nil {
			return nil, err
		}
		if err := checkGone(ctx, r, at); err != nil {
			return nil, err
		}
		return deleteAssetResult{true, a.Path}, nil
	})
}

// checkUnused refuses an asset that is in use, because the kernel would delete it nevertheless.
func checkUnused(ctx context.Context, r *action.Request, path string) error {
	u, err := unusedAssets(ctx, r)
	if err != nil || slices.Contains(u.files, path) {
		return err
	}
	e := r.Conflicting("the asset is in use, or SiYuan does not list it as unused", "path", "force")
	e.Hint = fmt.Sprintf(`file(action="delete_asset", path=%q, force=true) deletes it all the same; file(action="list_unused_assets") shows what is unused`, path)
	return e
}

// checkGone checks that a file no longer exists.
func checkGone(ctx context.Context, r *action.Request, path string) error {
	e, err := datafile.Locate(ctx, r.Kernel, path)
	if err != nil || e == nil {
		return err
	}
	return &tool.Error{
		Op: "delete", Kind: kernel.Mismatch, Subject: path, OutcomeUnknown: true,
		Message: "the kernel accepted the deletion, and the asset is still there",
	}
}

type removedAssets struct {
	Success bool     `json:"success" about:"true"`
	Removed []string `json:"removed" about:"paths that are gone"`
	Count   int      `json:"count" about:"how many"`
	Kept    []string `json:"kept,omitempty" about:"paths SiYuan calls unused, and a document uses or may use"`
}

// removeUnusedAssets returns the action remove_unused_assets of the tool file.
func removeUnusedAssets() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "remove_unused_assets", Purpose: "Delete all assets that no document uses",
		Guide:     "Needs rwd in every notebook. list_unused_assets shows what would go.",
		Dangerous: true, Class: action.Manifest, Risk: tool.RiskHigh, Effects: tool.EffectWrite | tool.EffectDelete,
		Needs: []action.Need{
			action.Everywhere(access.Delete), // first: only with this level may the files be named
			action.On(access.None, "the files that nothing uses", "", func(ctx context.Context, r *action.Request) ([]action.Target, error) {
				u, err := unusedAssets(ctx, r)
				out := make([]action.Target, 0, len(u.files))
				for _, path := range u.files {
					out = append(out, action.Target{What: access.Asset, Subject: path})
				}
				return out, err
			}),
		},
		Endpoints: []string{
			"asset/getUnusedAssets", "query/sql", "file/readDir", "file/getFile", "asset/removeUnusedAsset", "notebook/lsNotebooks",
		},
		Result:  removedAssets{},
		Example: `{}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("delete %d file(s) that no document uses", len(r.AllTargets()))
		},
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		out := removedAssets{Success: true, Removed: []string{}}
		for {
			u, err := unusedAssets(ctx, r)
			if err != nil {
				return nil, action.AddRemoved(err, out.Removed)
			}
			out.Kept = u.used
			removed, err := removeEach(ctx, r, u.files)
			out.Removed = append(out.Removed, removed...)
			if err != nil {
				return nil, action.AddRemoved(err, out.Removed)
			}
			if u.total < kernel.MaxUnusedAssets || len(removed) == 0 {
				break
			}
		}
		slices.Sort(out.Removed)
		out.Count = len(out.Removed)
		return out, nil
	})
}

// removeEach removes files one by one and returns the removed ones. It skips anything that is not a regular file. The
// kernel's own request to remove all unused assets would also remove some that are not on its list, even assets in use.
func removeEach(ctx context.Context, r *action.Request, paths []string) ([]string, error) {
	before, after := datafile.NewFolders(r.Kernel), datafile.NewFolders(r.Kernel)
	asked, removed := []string{}, []string{}
	for _, path := range paths {
		a, wrong := parseAsset(path)
		if wrong != "" || a.plain != path {
			continue
		}
		e, err := before.Locate(ctx, path)
		if tool.KindOf(err) == kernel.InvalidPath { // a link: the file may be anywhere
			continue
		}
		if err != nil {
			return asked, err
		}
		if e == nil || e.Folder {
			continue
		}
		if err := r.Kernel.RemoveUnusedAsset(ctx, path); err != nil {
			return asked, err
		}
		asked = append(asked, path)
	}
	for _, path := range asked {
		e, err := after.Locate(ctx, path)
		if err != nil {
			return asked, err
		}
		if e == nil {
			removed = append(removed, path)
		}
	}
	return removed, nil
}
