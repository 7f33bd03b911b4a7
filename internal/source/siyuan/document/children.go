package document

import (
	"context"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions document.get_child_blocks and document.get_child_docs.

type getChildBlocksArgs struct {
	ID       kernel.ID `json:"id" about:"document id" req:"true"`
	Page     int       `json:"page" about:"page of the result" default:"1" min:"1" list:"yes"`
	PageSize int       `json:"pageSize" about:"blocks a page" default:"50" min:"1" max:"200"`
}

// child is a block of a document.
type child struct {
	ID       kernel.ID `json:"id" about:"block id"`
	Type     string    `json:"type" about:"p paragraph, h heading, l list, c code, …"`
	SubType  string    `json:"subType,omitempty" about:"h1 to h6, u, o or t"`
	Content  string    `json:"content" about:"text without marks" verbose:"yes"`
	Markdown string    `json:"markdown" about:"text with its marks"`
}

type getChildBlocksResult struct {
	action.Page[child]
	ID kernel.ID `json:"id" about:"document id"`
}

// getChildBlocks returns the action get_child_blocks of the tool document.
func getChildBlocks() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_child_blocks", Purpose: "List the blocks of a document with their ids",
		Guide: "Blocks inside lists, quotes and the like are listed by their own container's id.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"block/getChildBlocks", "query/sql"},
		Positional: []string{"id"},
		Result:     getChildBlocksResult{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a getChildBlocksArgs) (any, error) {
		blocks, err := r.Kernel.ChildBlocks(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if err := content.RedactBlocks(ctx, r, blocks); err != nil {
			return nil, err
		}
		page := action.Paged(blocks, a.Page, a.PageSize)
		out := getChildBlocksResult{action.Page[child]{Data: make([]child, 0, len(page.Data)), Pages: page.Pages}, a.ID}
		for _, b := range page.Data {
			out.Data = append(out.Data, child{b.ID, b.Type, b.SubType, content.Clean(b.Content), content.Clean(b.Markdown)})
		}
		return out, nil
	})
}

type getChildDocsArgs struct {
	ID kernel.ID `json:"id" about:"document id" req:"true"`
}

// getChildDocs returns the action get_child_docs of the tool document.
func getChildDocs() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "get_child_docs", Purpose: "List the documents right below a document",
		Guide: `Those at the top of a notebook: notebook(action="get_child_docs").`,
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:      []action.Need{action.OnDocument(access.Read, "id")},
		Endpoints:  []string{"filetree/listDocsByPath", "filetree/getHPathByID"},
		Positional: []string{"id"},
		Result:     []content.ListedDocument{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, _ getChildDocsArgs) (any, error) {
		t := r.Target("id")
		path := t.Path
		if t.Root == t.Notebook { // the page of a notebook: its children are at the top of the notebook
			path = "/"
		}
		docs, err := r.Kernel.Documents(ctx, t.Notebook, path)
		if err != nil {
			return nil, err
		}
		above, err := hpathOf(ctx, r, t)
		if err != nil {
			return nil, err
		}
		return content.ListDocuments(t.Notebook, above, docs), nil
	})
}
