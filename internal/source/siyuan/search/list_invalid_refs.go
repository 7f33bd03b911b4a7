package search

import (
	"context"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action search.list_invalid_refs, which lists references to blocks that do not exist.

type invalidRefsArgs struct {
	Page     int `json:"page" about:"page, from 1" default:"1" min:"1"`
	PageSize int `json:"pageSize" about:"blocks a page" default:"32" min:"1" max:"128"`
}

type invalidRefsResult struct {
	hitList
	Blocks []hit `json:"blocks" about:"the same as data" verbose:"yes"`
}

// listInvalidRefs returns the action list_invalid_refs of the tool search.
func listInvalidRefs() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "list_invalid_refs", Purpose: "List the blocks whose references lead nowhere",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Guide:     "A reference to a block of a closed notebook, or of one that may not be read, counts as one that leads nowhere.",
		Unguarded: "what is in notebooks that may not be read is left out",
		Endpoints: []string{"search/listInvalidBlockRefs", "search/fullTextSearchBlock", "sqlite/flushTransaction", "notebook/lsNotebooks", "query/sql"},
		Result:    invalidRefsResult{},
		Example:   `{"pageSize":20}`,
	}, func(ctx context.Context, r *action.Request, a invalidRefsArgs) (any, error) {
		ask, err := invalidRefs(ctx, r)
		if err != nil {
			return nil, err
		}
		found, err := fetchPage(ctx, r, ask, a.Page, a.PageSize, filter{}, true)
		return invalidRefsResult{found, found.Data}, err
	})
}

// invalidRefs returns a function that fetches pages of blocks with invalid references. The kernel's own list would
// distinguish hidden blocks from missing ones, so if some notebook is hidden, the index is searched instead.
func invalidRefs(ctx context.Context, r *action.Request) (pageFetcher, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return r.Kernel.InvalidRefs, err
	}
	boxes, err := r.VisibleNotebookIDs(ctx)
	if err != nil {
		return nil, err
	}
	in := " IN (" + kernel.QuoteIDs(boxes) + ")"
	rows, err := kernel.SQL[struct{ ID kernel.ID }](ctx, r.Kernel, "SELECT DISTINCT b.id FROM spans AS s JOIN blocks AS b ON b.id = s.block_id WHERE s.type LIKE '%block-ref%' AND b.box"+in+
		" AND NOT EXISTS (SELECT 1 FROM blocks AS d WHERE d.box"+in+" AND d.id = substr(s.markdown, instr(s.markdown, '((') + 2, 22))"+
		" ORDER BY b.updated DESC, b.id LIMIT 10000")
	if err != nil {
		return nil, err
	}
	f := finder{args: &fulltextArgs{}, hiddenTextFilter: hiddenTextFilter{r: r, matches: anyMatch}, fulltext: &kernel.FullText{Method: kernel.MethodSQL, Page: 1}}
	for _, row := range rows {
		f.ids = append(f.ids, row.ID)
	}
	return f.statementPage, nil
}
