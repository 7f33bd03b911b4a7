package fs

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
)

type readArgs struct {
	Path string `json:"path" about:"document" req:"true"`
	content.WindowOptions
}

type readResult struct {
	Path string `json:"path" about:"path of the document"`
	content.Window
}

func read() *action.Action {
	return action.New(action.Spec{
		Tool: "fs", Name: "read", Purpose: "Read a document as Markdown", Common: true, Class: action.Reads,
		Guide: "Long documents come in windows of whole blocks: go on with the arguments in nextWindow. " +
			"outline shows all headings with the block to start at.",
		Needs: []action.Need{action.OnPath(access.Read, "path", action.PathVirtual)},
		Endpoints: []string{
			"notebook/lsNotebooks", "filetree/getIDsByHPath", "block/getChildBlocks", "block/getBlockKramdowns", "block/getBlockKramdown", "query/sql",
		},
		Positional: []string{"path"},
		Result:     readResult{},
		Example:    `{"path":"/Work notes/Plan"}`,
	}, func(ctx context.Context, r *action.Request, a readArgs) (any, error) {
		targets := r.Targets("path")
		if len(targets) == 0 {
			path, text := virtualFile(r, a.Path)
			return readResult{path, content.TextWindow(text, a.WindowOptions)}, nil
		}
		w, err := content.ReadWindow(ctx, r, targets[0].ID, a.WindowOptions)
		if err != nil {
			return nil, err
		}
		if w.StateHash == "" && r.Meta.Verbose {
			if w.StateHash, err = content.DocumentHash(ctx, r.Kernel, targets[0].ID); err != nil {
				return nil, err
			}
		}
		return readResult{shown(ctx, r, targets[0]), w}, nil
	})
}
