package block

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type childrenArgs struct {
	ID       kernel.ID `json:"id" about:"block or document" req:"true"`
	Page     int       `json:"page" about:"from 1" default:"1" min:"1" list:"yes"`
	PageSize int       `json:"pageSize" about:"blocks a page" default:"50" min:"1" max:"200"`
}

type childrenResult struct {
	action.Page[kernel.Block]
	Hint string `json:"hint,omitempty" about:"how to go on"`
}

func getChildren() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "get_children",
		Purpose:    "List the blocks right below a document or block",
		Guide:      "Below a heading stands its section, down to the next heading of its level. A leaf has no children.",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnBlock(access.Read, "id")},
		Endpoints:  []string{"block/getChildBlocks", "query/sql"},
		Positional: []string{"id"},
		Result:     childrenResult{},
		Example:    `{"id":"20260102030405-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a childrenArgs) (any, error) {
		all, err := r.Kernel.ChildBlocks(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if err := content.UnboundBlocks(ctx, r, all); err != nil {
			return nil, err
		}
		for i := range all {
			all[i].Content, all[i].Markdown = content.Clean(all[i].Content), content.Clean(all[i].Markdown)
		}
		out := childrenResult{Page: action.Paged(all, a.Page, a.PageSize)}
		if out.HasNextPage {
			out.Hint = "more with a higher page"
		}
		return out, nil
	})
}
