package document

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

type getChildBlocksArgs struct {
	ID       kernel.ID `json:"id" about:"document id" req:"true"`
	Page     int       `json:"page" about:"page of the result" default:"1" min:"1" list:"yes"`
	PageSize int       `json:"pageSize" about:"blocks a page" default:"50" min:"1" max:"200"`
}

// child is a block of a document.
type child struct {
	ID       kernel.ID `json:"id"`
	Type     string    `json:"type"`
	SubType  string    `json:"subType,omitempty"`
	Content  string    `json:"content"`
	Markdown string    `json:"markdown"`
}

func getChildBlocks() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_child_blocks", Purpose: "List the blocks of a document with their ids",
		Guide:      "Blocks inside lists, quotes and the like are listed by their own container's id.",
		Class:      action.Reads,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"block/getChildBlocks", "query/sql"},
		Positional: []string{"id"},
		Returns: append([]action.Field{
			{Name: "data", About: "blocks in order"},
			{Name: "data[].id", About: "block id"},
			{Name: "data[].type", About: "p paragraph, h heading, l list, c code, …"},
			{Name: "data[].subType", About: "h1 to h6, u, o or t"},
			{Name: "data[].markdown", About: "text with its marks"},
			{Name: "data[].content", About: "text without marks", Verbose: true},
			{Name: "id", About: "document id"},
		}, pageFields...),
		Example: `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a getChildBlocksArgs) (any, error) {
		blocks, err := r.Kernel.ChildBlocks(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if err := content.UnboundBlocks(ctx, r, blocks); err != nil {
			return nil, err
		}
		page := action.Paged(blocks, a.Page, a.PageSize)
		out := action.Page[child]{
			Data: make([]child, 0, len(page.Data)), Total: page.Total, Page: page.Page, PageSize: page.PageSize,
			PageCount: page.PageCount, HasNextPage: page.HasNextPage,
		}
		for _, b := range page.Data {
			out.Data = append(out.Data, child{b.ID, b.Type, b.SubType, content.Clean(b.Content), content.Clean(b.Markdown)})
		}
		return struct {
			action.Page[child]
			ID kernel.ID `json:"id"`
		}{out, a.ID}, nil
	})
}

// pageFields describe a page of a list.
var pageFields = []action.Field{
	{Name: "total", About: "how many there are"},
	{Name: "page", About: "this page"},
	{Name: "pageSize", About: "items a page"},
	{Name: "pageCount", About: "how many pages"},
	{Name: "hasNextPage", About: "whether there is more"},
}
