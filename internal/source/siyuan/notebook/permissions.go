package notebook

import (
	"context"
	"fmt"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions notebook.get_permissions and notebook.set_permission.

type getPermissionsArgs struct {
	Notebook string `json:"notebook" about:"notebook id, or all" default:"all"`
}

// permission is the level of one notebook.
type permission struct {
	ID         kernel.ID    `json:"id" about:"notebook id"`
	Name       string       `json:"name" about:"its name"`
	Permission access.Level `json:"permission" about:"r, rw or rwd"`
}

type getPermissionsResult struct {
	Notebooks []permission `json:"notebooks,omitzero" about:"the notebooks that may be read, of all"`
	Notebook  *permission  `json:"notebook,omitempty" about:"the one that was asked for, in the same form"`
}

// getPermissions returns the action get_permissions of the tool notebook.
func getPermissions() *action.Action {
	onNotebook := action.OnNotebook(access.Read, "notebook")
	return action.New(action.Spec{
		Tool: "notebook", Name: "get_permissions", Purpose: "Show what may be done in each notebook",
		Guide: "r reads, rw also writes, rwd also deletes. Only a person can change a level.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Positional: []string{"notebook"},
		Needs: []action.Need{action.On(access.Read, "notebook, unless all", "notebook",
			func(ctx context.Context, r *action.Request) ([]action.Target, error) {
				if isAll(r) {
					return nil, nil
				}
				return onNotebook.Targets(ctx, r)
			})},
		Endpoints: []string{"notebook/lsNotebooks", "file/getFile"},
		Result:    getPermissionsResult{},
		Example:   `{"notebook":"all"}`,
	}, func(ctx context.Context, r *action.Request, _ getPermissionsArgs) (any, error) {
		if !isAll(r) {
			t := r.Target("notebook")
			return getPermissionsResult{Notebook: &permission{t.ID, t.Title, r.Levels.Of(t.ID)}}, nil
		}
		visible, err := r.Levels.Visible(ctx)
		if err != nil {
			return nil, err
		}
		out := make([]permission, 0, len(visible))
		for _, n := range visible {
			out = append(out, permission{n.ID, n.Name, r.Levels.Of(n.ID)})
		}
		return getPermissionsResult{Notebooks: out}, nil
	})
}

// isAll reports whether a call asks for all notebooks.
func isAll(r *action.Request) bool {
	notebooks := r.Strings("notebook")
	return len(notebooks) == 0 || notebooks[0] == "all"
}

type setPermissionArgs struct {
	Notebook   kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Permission string    `json:"permission" about:"new level" req:"true" enum:"none,r,rw,rwd"`
}

type setPermissionResult struct {
	Success    bool         `json:"success" about:"true"`
	Notebook   kernel.ID    `json:"notebook" about:"notebook id"`
	Permission access.Level `json:"permission" about:"the level now"`
	Previous   access.Level `json:"previous" about:"the level before"`
}

// setPermission returns the action set_permission of the tool notebook.
func setPermission() *action.Action {
	return action.New(action.Spec{
		Tool: "notebook", Name: "set_permission", Purpose: "Set what may be done in a notebook",
		Guide: "For a person at a terminal only: nobody may raise their own rights. " +
			"none hides the notebook, r reads, rw also writes, rwd also deletes.",
		Off:        true,
		Dangerous:  true,
		DirectOnly: true,
		Class:      action.State, Risk: tool.RiskCritical, Effects: tool.EffectWrite,
		Needs:      []action.Need{action.OnNotebook(access.None, "notebook")},
		Endpoints:  []string{"notebook/lsNotebooks", "file/getFile", "file/putFile"},
		Positional: []string{"notebook", "permission"},
		Result:     setPermissionResult{},
		Example:    `{"notebook":"20240101120000-abcdefg","permission":"rw"}`,
		Effect: func(r *action.Request) string {
			t := r.Target("notebook")
			return fmt.Sprintf("change the level of notebook %q (%s) from %s to %s",
				t.Title, t.ID, r.Levels.Of(t.ID), r.Text("permission"))
		},
	}, func(ctx context.Context, r *action.Request, a setPermissionArgs) (any, error) {
		if r.Call.Origin != tool.Direct { // the pipeline refuses it as well; this is a second safeguard
			return nil, &tool.Error{
				Op: "call", Kind: tool.Denied, Subject: "notebook.set_permission",
				Message: "only a person at a terminal may change what is allowed",
				Hint:    fmt.Sprintf("a person can do it: collie siyuan permission set %s %s", a.Notebook, a.Permission),
			}
		}
		level, err := access.ParseLevel(a.Permission)
		if err != nil {
			return nil, r.Invalid("permission", err.Error())
		}
		old, err := r.Workspace.SetLevel(ctx, a.Notebook, level)
		if err != nil {
			return nil, err
		}
		r.RefreshTree()
		return setPermissionResult{true, a.Notebook, level, old}, nil
	})
}
