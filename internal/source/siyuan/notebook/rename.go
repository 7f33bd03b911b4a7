package notebook

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions notebook.rename and notebook.set_icon.

type renameArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Name     string    `json:"name" about:"new name" req:"true" min:"1"`
}

type renameResult struct {
	Success  bool      `json:"success" about:"true"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Name     string    `json:"name" about:"the name it has now"`
}

// rename returns the action rename of the tool notebook.
func rename() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "rename", Purpose: "Rename a notebook",
		Guide: `The notebook must be open. SiYuan drops "/" from names; the result has the name it took.`,
		Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Inverse:    renameInverse,
		Needs:      []action.Need{action.OnNotebook(access.Write, "notebook")},
		Endpoints:  []string{"notebook/renameNotebook", "notebook/lsNotebooks"},
		Positional: []string{"notebook", "name"},
		Result:     renameResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","name":"Archive 2025"}`,
	}, func(ctx context.Context, r *action.Request, a renameArgs) (any, error) {
		title, err := name(r, "name", a.Name)
		if err != nil {
			return nil, err
		}
		before, err := notebookBefore(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		if before.Closed { // the kernel's message is in the language of its interface
			return nil, &tool.Error{
				Op: "rename", Kind: kernel.API, Code: kernel.CodeNotebookClosed, Subject: string(a.Notebook),
				Message: fmt.Sprintf("notebook %q is closed, and SiYuan renames only open ones", before.Name),
				Hint:    fmt.Sprintf(`notebook(action="set_open_state", notebook="%s", opened=true) opens it`, a.Notebook),
			}
		}
		if err := r.Kernel.RenameNotebook(ctx, a.Notebook, title); err != nil {
			return nil, err
		}
		n, err := now(ctx, r, a.Notebook)
		if err != nil {
			return nil, err
		}
		if n == nil || n.Name == before.Name && title != before.Name {
			return nil, mismatchError(a.Notebook, fmt.Sprintf("the kernel accepted the name, and the notebook is still %q", before.Name))
		}
		r.RefreshTree()
		return renameResult{true, a.Notebook, n.Name}, nil
	})
}

// renameInverse returns the call that gives the notebook its current name back.
func renameInverse(_ context.Context, r *action.Request) (*action.Inverse, error) {
	t := r.Target("notebook")
	args, err := action.Encode(map[string]any{"notebook": t.ID, "name": t.Title})
	return &action.Inverse{Tool: "notebook", Action: "rename", Args: args}, err
}

type setIconArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Icon     string    `json:"icon" about:"emoji, or its code points such as 1f4d4; empty takes it away" req:"true"`
}

type setIconResult struct {
	Success  bool      `json:"success" about:"true"`
	Notebook kernel.ID `json:"notebook" about:"notebook id"`
	Icon     string    `json:"icon" about:"the icon as it is stored"`
}

// setIcon returns the action set_icon of the tool notebook.
func setIcon() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "set_icon", Purpose: "Set the icon of a notebook",
		Guide: "An emoji is stored as its code points; a picture of the workspace's emojis folder is named by its path there.",
		Class: action.State, Risk: tool.RiskLow, Effects: tool.EffectWrite | tool.EffectUI,
		Needs:      []action.Need{action.OnNotebook(access.Write, "notebook")},
		Endpoints:  []string{"notebook/setNotebookIcon", "notebook/lsNotebooks"},
		Positional: []string{"notebook", "icon"},
		Result:     setIconResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","icon":"1f4d4"}`,
	}, func(ctx context.Context, r *action.Request, a setIconArgs) (any, error) {
		code, err := r.Icon("icon", a.Icon)
		if err != nil {
			return nil, err
		}
		before, err := notebookBefore(ctx, r, a.Notebook)
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
		// The kernel may normalize an icon. If the icon did not change at all, it was not written.
		if n == nil || n.Icon != code && n.Icon == before.Icon {
			return nil, mismatchError(a.Notebook, "the kernel accepted the icon, and the notebook has the one that it had")
		}
		r.RefreshIcons()
		return setIconResult{true, a.Notebook, n.Icon}, nil
	})
}
