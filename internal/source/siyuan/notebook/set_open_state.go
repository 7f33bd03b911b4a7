package notebook

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type setOpenStateArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Opened   bool      `json:"opened" about:"true opens, false closes" req:"true"`
}

func setOpenState() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "set_open_state", Purpose: "Open or close a notebook",
		Guide: "Nothing in a closed notebook can be read or found. After opening, SiYuan indexes in the " +
			"background: what is not found at once is there a moment later.",
		Class:      action.State,
		Needs:      []action.Need{action.OnNotebook(access.Write, "notebook")},
		Endpoints:  []string{"notebook/openNotebook", "notebook/closeNotebook", "notebook/lsNotebooks", "sqlite/flushTransaction"},
		Positional: []string{"notebook", "opened"},
		Returns: []action.Field{
			{Name: "success", About: "true"},
			{Name: "notebook", About: "notebook id"},
			{Name: "opened", About: "whether it is open now"},
			{Name: "changed", About: "whether it was not before"},
		},
		Example: `{"notebook":"20240101120000-abcdefg","opened":true}`,
	}, func(ctx context.Context, r *action.Request, a setOpenStateArgs) (any, error) {
		was, err := before(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		changed := was.Closed == a.Opened
		if changed {
			if err := turn(ctx, r, a.Notebook, a.Opened); err != nil {
				return nil, err
			}
			r.RefreshTree()
		}
		return struct {
			Success  bool      `json:"success"`
			Notebook kernel.ID `json:"notebook"`
			Opened   bool      `json:"opened"`
			Changed  bool      `json:"changed"`
		}{true, a.Notebook, a.Opened, changed}, nil
	})
}

// turn opens or closes a notebook and makes sure that it is.
func turn(ctx context.Context, r *action.Request, id kernel.ID, open bool) error {
	var err error
	if open {
		err = r.Kernel.OpenNotebook(ctx, id)
	} else if err = r.Kernel.FlushNow(ctx); err == nil {
		err = r.Kernel.CloseNotebook(ctx, id)
	}
	if err != nil {
		return unknownEnd(id, err)
	}
	n, err := now(ctx, r, id)
	switch {
	case err != nil:
		return unknownEnd(id, err)
	case n == nil || n.Closed == open:
		return mismatch(id, "the kernel accepted the request, and the notebook is as it was")
	}
	return nil
}
