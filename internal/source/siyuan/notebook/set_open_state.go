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

type setOpenStateResult struct {
	Success  bool      `json:"success" about:"true"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Opened   bool      `json:"opened" about:"whether it is open now"`
	Changed  bool      `json:"changed" about:"whether it was not before"`
	Indexing bool      `json:"indexing,omitempty" about:"true where SiYuan has not yet changed its index: what is not found may be there"`
}

func setOpenState() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "set_open_state", Purpose: "Open or close a notebook",
		Guide: "Nothing in a closed notebook can be read or found. The call waits until SiYuan has changed its " +
			"index, 10 seconds at most.",
		Class:      action.State,
		Needs:      []action.Need{action.OnNotebook(access.Write, "notebook")},
		Endpoints:  []string{"notebook/openNotebook", "notebook/closeNotebook", "notebook/lsNotebooks", "sqlite/flushTransaction", "system/bootProgress", "filetree/listDocsByPath", "block/getBlockTreeInfos"},
		Positional: []string{"notebook", "opened"},
		Result:     setOpenStateResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","opened":true}`,
	}, func(ctx context.Context, r *action.Request, a setOpenStateArgs) (any, error) {
		was, err := before(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		changed, indexing := was.Closed == a.Opened, false
		if changed {
			if indexing, err = turn(ctx, r, a.Notebook, a.Opened); err != nil {
				return nil, err
			}
			r.RefreshTree()
		}
		return setOpenStateResult{true, a.Notebook, a.Opened, changed, indexing}, nil
	})
}

// turn opens or closes a notebook, makes sure that it is, and waits for the kernel's index.
// indexing says that this is not done yet.
func turn(ctx context.Context, r *action.Request, id kernel.ID, open bool) (indexing bool, err error) {
	done := func(n *kernel.Notebook) bool { return n != nil && n.Closed != open }
	if open {
		if err := settle(ctx, r, id, r.Kernel.OpenNotebook(ctx, id), done); err != nil {
			return false, err
		}
		ids, err := index(ctx, r, id)
		return err != nil || !indexed(ctx, r, ids, true), nil //nolint:nilerr // it is open
	}
	ids, err := index(ctx, r, id) // a closed one lists none
	if err == nil {
		err = r.Kernel.FlushNow(ctx)
	}
	if err != nil {
		return false, err // nothing was closed
	}
	if err := settle(ctx, r, id, r.Kernel.CloseNotebook(ctx, id), done); err != nil {
		return false, err
	}
	return !indexed(ctx, r, ids, false), nil
}
