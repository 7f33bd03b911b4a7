package fs

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type removeArgs struct {
	Path string `json:"path" about:"document; those below it go with it" req:"true"`
}

type removeResult struct {
	Success bool      `json:"success" about:"always true"`
	Path    string    `json:"path" about:"what is gone"`
	ID      kernel.ID `json:"id,omitempty" about:"its id"`
}

func remove() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "rm", Purpose: "Remove a document and all below it", Class: action.State, Saves: action.SavesTrees, Dangerous: true,
		Guide:      "A copy stays in SiYuan's history. " + action.AgentsFile + " is emptied.",
		Needs:      []action.Need{action.OnPath(access.Delete, "path", action.PathVirtual)},
		Endpoints:  []string{"filetree/removeDocByID"},
		Positional: []string{"path"},
		Result:     removeResult{},
		Example:    `{"path":"/Work notes/Old plan"}`,
		Effect: func(r *action.Request) string {
			if len(r.Targets("path")) == 0 {
				return "empty " + action.AgentsFile
			}
			return "remove this document and all documents below it"
		},
	}, func(ctx context.Context, r *action.Request, a removeArgs) (any, error) {
		targets := r.Targets("path")
		if len(targets) == 0 {
			path, _ := virtualFile(r, a.Path)
			if err := writable(path); err != nil {
				return nil, err
			}
			return removeResult{Success: true, Path: path}, remember(ctx, r, "")
		}
		t := targets[0]
		if err := r.Kernel.RemoveDocument(ctx, t.ID); err != nil {
			return nil, err
		}
		r.RefreshDocument(t.ID)
		r.RefreshTree()
		return removeResult{true, shown(ctx, r, t), t.ID}, nil
	})
}
