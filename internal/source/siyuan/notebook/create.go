package notebook

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action notebook.create.

type createArgs struct {
	Name string `json:"name" about:"name of the notebook" req:"true" min:"1"`
	Icon string `json:"icon" about:"emoji, or its code points such as 1f4d4"`
}

// created is a new notebook.
type created struct {
	listedNotebook
	Permission     string   `json:"permission" about:"level of the new notebook: none, r, rw or rwd"`
	PermissionHint string   `json:"permissionHint,omitempty" about:"how to raise it, where it does not allow to write"`
	IconHint       string   `json:"iconHint,omitempty" about:"how to give it an icon, where it has none" verbose:"yes"`
	Warnings       []string `json:"warnings,omitempty" about:"what did not work although the notebook is there"`
}

// create returns the action create of the tool notebook.
func create() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "create", Purpose: "Create a notebook",
		Guide: "Names may repeat, so list first. The new notebook gets the level that the settings say for " +
			"new ones, on a real kernel r: the result says which, and how a person raises it.",
		Common: true,
		Class:  action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Unguarded:  "there is no notebook yet; the new one gets the level for new notebooks",
		Endpoints:  []string{"notebook/createNotebook", "notebook/setNotebookIcon"},
		Result:     created{},
		Positional: []string{"name"},
		Example:    `{"name":"Reading","icon":"1f4d4"}`,
	}, func(ctx context.Context, r *action.Request, a createArgs) (any, error) {
		title, err := name(r, "name", a.Name)
		if err != nil {
			return nil, err
		}
		code, err := r.Icon("icon", a.Icon)
		if err != nil {
			return nil, err
		}
		if err := r.Levels.Unlisted(); err != nil {
			return nil, err
		}
		n, err := r.Kernel.CreateNotebook(ctx, title)
		if err != nil {
			return nil, err
		}
		out := created{listedNotebook: toListed(&n)}
		giveDefaultLevel(ctx, r, &out)
		r.RefreshTree()
		if code == "" {
			out.IconHint = iconHint
			return out, nil
		}
		if err := r.Kernel.SetNotebookIcon(ctx, n.ID, code); err != nil {
			out.Warnings = append(out.Warnings, fmt.Sprintf("the icon was not set: %v", err))
			return out, nil
		}
		out.Icon = code
		r.RefreshIcons()
		return out, nil
	})
}

// giveDefaultLevel gives a new notebook the level for new ones, and says so.
func giveDefaultLevel(ctx context.Context, r *action.Request, n *created) {
	level := r.Workspace.NewNotebookLevel()
	if _, err := r.Workspace.SetLevel(ctx, n.ID, level); err != nil {
		level = r.Levels.Of(n.ID) // the level of notebooks that are not listed
		warning := "its level was not written, so it has that of notebooks without one: %v"
		if tool.KindOf(err) == kernel.OutcomeUnknown {
			warning = "its level may not have been written, and then it has that of notebooks without one: %v"
		}
		n.Warnings = append(n.Warnings, fmt.Sprintf(warning, err))
	}
	level = min(level, r.Levels.Most(n.ID)) // of this caller
	n.Permission = level.String()
	if level < access.Write {
		n.PermissionHint = r.Levels.Hint(n.ID, access.Write)
	}
}
