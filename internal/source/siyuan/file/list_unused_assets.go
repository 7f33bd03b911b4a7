package file

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type listUnusedAssetsResult struct {
	Assets []string `json:"assets" about:"asset paths"`
	Count  int      `json:"count" about:"how many"`
	Capped bool     `json:"capped,omitempty" about:"there may be more: the kernel names at most 512"`
}

func listUnusedAssets() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "list_unused_assets", Purpose: "List assets that no document uses",
		Guide: "At most 512. Assets in the folders of notebooks that may not be read are left out; and where a notebook is closed, " +
			"those whose names have a space or a letter that may be escaped.",
		Class:     action.Reads,
		Unguarded: "an asset that nothing uses belongs to no notebook; those in folders of hidden ones are left out",
		Endpoints: []string{"asset/getUnusedAssets", "query/sql", "notebook/lsNotebooks", "file/readDir", "file/getFile"},
		Result:    listUnusedAssetsResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, _ action.None) (any, error) {
		u, err := unusedAssets(ctx, r)
		if err != nil {
			return nil, err
		}
		list := visible(r, u.files)
		if blind, err := hiddenClosed(ctx, r); err != nil {
			return nil, err
		} else if blind { // what a closed notebook uses may seem unused
			r.Filtered(len(list))
			list = []string{}
		}
		return listUnusedAssetsResult{list, len(list), u.total >= kernel.MaxUnusedAssets}, nil
	})
}
