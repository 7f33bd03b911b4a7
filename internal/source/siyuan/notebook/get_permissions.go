package notebook

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

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

func getPermissions() *action.Action {
	one := action.OnNotebook(access.Read, "notebook")
	return action.New(action.Spec{
		Tool: "notebook", Name: "get_permissions", Purpose: "Show what may be done in each notebook",
		Guide:      "r reads, rw also writes, rwd also deletes. Only a person can change a level.",
		Class:      action.Reads,
		Positional: []string{"notebook"},
		Needs: []action.Need{action.On(access.Read, "notebook, unless all", "notebook",
			func(ctx context.Context, r *action.Request) ([]action.Target, error) {
				if all(r) {
					return nil, nil
				}
				return one.Targets(ctx, r)
			})},
		Endpoints: []string{"notebook/lsNotebooks", "file/getFile"},
		Result:    getPermissionsResult{},
		Example:   `{"notebook":"all"}`,
	}, func(ctx context.Context, r *action.Request, _ getPermissionsArgs) (any, error) {
		if !all(r) {
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

// all reports whether a call asks for all notebooks.
func all(r *action.Request) bool {
	given := r.Strings("notebook")
	return len(given) == 0 || given[0] == "all"
}
