package file

import (
	"context"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
)

type removedAssets struct {
	Success bool     `json:"success"`
	Removed []string `json:"removed"`
	Count   int      `json:"count"`
	Kept    []string `json:"kept,omitempty"`
}

func removeUnusedAssets() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "remove_unused_assets", Purpose: "Delete all assets that no document uses",
		Guide:     "Needs rwd in every notebook. list_unused_assets shows what would go.",
		Dangerous: true, Class: action.Manifest,
		Needs: []action.Need{action.Everywhere(access.Delete)},
		Endpoints: []string{
			"asset/getUnusedAssets", "query/sql", "asset/removeUnusedAssets", "file/readDir", "asset/removeUnusedAsset", "notebook/lsNotebooks",
		},
		Returns: []action.Field{
			{Name: "success", About: "true"},
			{Name: "removed", About: "paths that are gone"},
			{Name: "count", About: "how many"},
			{Name: "kept", About: "paths SiYuan calls unused, and a document uses"},
		},
		Example: `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		u, err := unusedAssets(ctx, r)
		if err != nil {
			return nil, err
		}
		out := removedAssets{Success: true, Removed: []string{}, Kept: u.used}
		switch {
		case u.total == 0:
		case len(u.used) == 0:
			gone, err := r.Kernel.RemoveUnusedAssets(ctx)
			if err != nil {
				return nil, err
			}
			for _, p := range gone {
				out.Removed = append(out.Removed, belowData(p))
			}
		default: // the kernel would remove those that are in use as well
			if out.Removed, err = removeEach(ctx, r, u.files); err != nil {
				return nil, err
			}
		}
		out.Count = len(out.Removed)
		return out, nil
	})
}

// removeEach removes files one by one; what is no plain file is left alone.
func removeEach(ctx context.Context, r *action.Request, paths []string) ([]string, error) {
	gone := []string{}
	for _, path := range paths {
		a, wrong := parseAsset(path)
		if wrong != "" || a.plain != path {
			continue
		}
		e, err := locate(ctx, r.Kernel, path)
		if err != nil {
			return gone, err
		}
		if e == nil || e.folder {
			continue
		}
		if err := r.Kernel.RemoveUnusedAsset(ctx, path); err != nil {
			return gone, err
		}
		gone = append(gone, path)
	}
	return gone, nil
}

// belowData is what the kernel calls by its path on its machine.
func belowData(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if i := strings.LastIndex(path, "/data/"); i >= 0 {
		return path[i+len("/data/"):]
	}
	return path[strings.LastIndex(path, "/")+1:]
}
