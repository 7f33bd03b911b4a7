package search

import (
	"context"

	"collie/internal/source/siyuan/action"
)

type invalidRefsArgs struct {
	Page     int `json:"page" about:"page, from 1" default:"1" min:"1"`
	PageSize int `json:"pageSize" about:"blocks a page" default:"32" min:"1" max:"128"`
}

func listInvalidRefs() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "list_invalid_refs", Purpose: "List the blocks whose references lead nowhere",
		Class:     action.Reads,
		Guide:     "A reference to a block of a closed notebook counts as one that leads nowhere.",
		Unguarded: "what is in notebooks that may not be read is left out",
		Endpoints: []string{"search/listInvalidBlockRefs", "sqlite/flushTransaction", "notebook/lsNotebooks"},
		Returns:   append(pageFields(), action.Field{Name: "blocks", About: "the same as data", Verbose: true}),
		Example:   `{"pageSize":20}`,
	}, func(ctx context.Context, r *action.Request, a invalidRefsArgs) (any, error) {
		found, err := fetch(ctx, r, r.Kernel.InvalidRefs, a.Page, a.PageSize, nil, true)
		return struct {
			list
			Blocks []hit `json:"blocks"`
		}{found, found.Data}, err
	})
}
