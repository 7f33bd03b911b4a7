package notebook

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type setIconArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Icon     string    `json:"icon" about:"emoji, or its code points such as 1f4d4; empty takes it away" req:"true"`
}

type setIconResult struct {
	Success  bool      `json:"success" about:"true"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Icon     string    `json:"icon" about:"the icon as it is stored"`
}

func setIcon() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "set_icon", Purpose: "Set the icon of a notebook",
		Guide:      "An emoji is stored as its code points; a picture of the workspace's emojis folder is named by its path there.",
		Class:      action.State,
		Needs:      []action.Need{action.OnNotebook(access.Write, "notebook")},
		Endpoints:  []string{"notebook/setNotebookIcon", "notebook/lsNotebooks"},
		Positional: []string{"notebook", "icon"},
		Result:     setIconResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","icon":"1f4d4"}`,
	}, func(ctx context.Context, r *action.Request, a setIconArgs) (any, error) {
		code, err := icon(r, a.Icon)
		if err != nil {
			return nil, err
		}
		was, err := before(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		if err := r.Kernel.SetNotebookIcon(ctx, a.Notebook, code); err != nil {
			return nil, err
		}
		n, err := now(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		// The kernel may write an icon in a form of its own; one that did not change was not written.
		if n == nil || n.Icon != code && n.Icon == was.Icon {
			return nil, mismatch(a.Notebook, "the kernel accepted the icon, and the notebook has the one that it had")
		}
		r.RefreshIcons()
		return setIconResult{true, a.Notebook, n.Icon}, nil
	})
}
