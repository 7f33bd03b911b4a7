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
	Hint string `json:"hint,omitempty"`
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
		Returns: []action.Field{
			{Name: "data[].id", About: "the child"},
			{Name: "data[].type", About: "p, h, l, i, b, c, m, t, s, av, …"},
			{Name: "data[].subType", About: "h1 to h6 of headings; u, o, t of lists"},
			{Name: "data[].content", About: "plain text"},
			{Name: "data[].markdown", About: "Markdown", Verbose: true},
			{Name: "total", About: "children in all"},
			{Name: "page", About: "of this answer"},
			{Name: "pageSize", About: "blocks a page"},
			{Name: "pageCount", About: "pages in all"},
			{Name: "hasNextPage", About: "whether there are more"},
			{Name: "hint", About: "how to go on"},
		},
		Example: `{"id":"20260102030405-abcdefg"}`,
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
