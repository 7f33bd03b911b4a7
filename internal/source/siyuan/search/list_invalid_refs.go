package search

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
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
		Endpoints: []string{"search/listInvalidBlockRefs", "sqlite/flushTransaction", "notebook/lsNotebooks", "query/sql"},
		Returns:   append(pageFields(), action.Field{Name: "blocks", About: "the same as data", Verbose: true}),
		Example:   `{"pageSize":20}`,
	}, func(ctx context.Context, r *action.Request, a invalidRefsArgs) (any, error) {
		clean := cleaning{r: r, matches: anyMatch}
		ask := func(ctx context.Context, page, size int) (kernel.FoundPage, error) {
			got, err := r.Kernel.InvalidRefs(ctx, page, size)
			if err == nil {
				got.Blocks, err = clean.of(ctx, got.Blocks)
			}
			return got, err
		}
		found, err := fetch(ctx, r, ask, a.Page, a.PageSize, filter{}, true)
		return struct {
			list
			Blocks []hit `json:"blocks"`
		}{found, found.Data}, err
	})
}
