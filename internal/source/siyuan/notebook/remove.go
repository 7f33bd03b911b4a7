package notebook

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type removeArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
}

type removeResult struct {
	Success  bool      `json:"success" about:"true"`
	Notebook kernel.ID `json:"notebook" about:"id that the notebook had"`
	Name     string    `json:"name" about:"its name"`
}

func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "remove", Purpose: "Delete a notebook with all its documents",
		Guide:     "SiYuan keeps a copy in its history.",
		Off:       true,
		Dangerous: true,
		Class:     action.State,
		Needs:     []action.Need{action.OnNotebook(access.Delete, "notebook")},
		Endpoints: []string{"notebook/removeNotebook", "notebook/lsNotebooks", "sqlite/flushTransaction", "system/bootProgress"},
		Result:    removeResult{},
		Example:   `{"notebook":"20240101120000-abcdefg"}`,
		Effect: func(r *action.Request) string {
			return fmt.Sprintf("delete notebook %q with all its documents", r.Target("notebook").Title)
		},
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		if err := r.Kernel.FlushNow(ctx); err != nil {
			return nil, err
		}
		err := r.Kernel.RemoveNotebook(ctx, a.Notebook)
		if err = settle(ctx, r, a.Notebook, err, func(n *kernel.Notebook) bool { return n == nil }); err != nil {
			return nil, err
		}
		r.RefreshTree()
		return removeResult{true, a.Notebook, r.Target("notebook").Title}, nil
	})
}
