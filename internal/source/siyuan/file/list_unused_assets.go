package file

import (
	"context"
	"slices"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

func listUnusedAssets() *action.Action {
	return action.New(action.Spec{
		Tool: "file", Name: "list_unused_assets", Purpose: "List assets that no document uses",
		Guide:     "At most 512. Assets in the folders of notebooks that may not be read are left out.",
		Class:     action.Reads,
		Unguarded: "an asset that nothing uses belongs to no notebook; those in folders of hidden ones are left out",
		Endpoints: []string{"asset/getUnusedAssets", "query/sql", "notebook/lsNotebooks"},
		Returns: []action.Field{
			{Name: "assets", About: "asset paths"},
			{Name: "count", About: "how many"},
			{Name: "capped", About: "there may be more: the kernel names at most 512"},
		},
		Example: `{}`,
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
		return struct {
			Assets []string `json:"assets"`
			Count  int      `json:"count"`
			Capped bool     `json:"capped,omitempty"`
		}{list, len(list), u.total >= kernel.MaxUnusedAssets}, nil
	})
}

// unused is what the kernel calls unused, sorted.
type unused struct {
	files []string // that no document uses
	used  []string // that a document uses after all
	total int      // of the kernel's list
}

// unusedAssets are the files that nothing uses. The kernel does not see a use that is written
// with an escape, such as "assets/a%20b.png", so those are looked up (assets.jsonl 49).
func unusedAssets(ctx context.Context, r *action.Request) (unused, error) {
	list, err := r.Kernel.UnusedAssets(ctx)
	if err != nil {
		return unused{}, err
	}
	uses, err := r.Kernel.EncodedAssets(ctx)
	if err != nil {
		return unused{}, err
	}
	named := map[string]bool{}
	for _, u := range uses {
		for _, path := range readings(u.Path) {
			named[path] = true
		}
	}
	out := unused{files: []string{}, total: len(list)}
	for _, path := range list {
		switch {
		case slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(p, path+"/") }): // a folder
		case named[path] || named[tailOf(path)]:
			out.used = append(out.used, path)
		default:
			out.files = append(out.files, path)
		}
	}
	return out, nil
}

// tailOf is [tail] of what may have no folder assets/.
func tailOf(path string) string {
	if !strings.Contains("/"+path, "/assets/") {
		return path
	}
	return tail(path)
}
