package av

import (
	"context"
	"encoding/json"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type filterSortArgs struct {
	ID      kernel.ID `json:"id" about:"database id" req:"true"`
	BlockID kernel.ID `json:"blockID" about:"the block whose view is meant"`
}

type filterSortResult struct {
	AVID    kernel.ID       `json:"avID" about:"database id"`
	Filters json.RawMessage `json:"filters" about:"a tree of conditions; no filter is one empty group"`
	Sorts   json.RawMessage `json:"sorts" about:"columns in order"`
}

func filterSort() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "get_attribute_view_filter_sort", Purpose: "Show the filters and sorts of a view",
		Class:     action.Reads,
		Needs:     []action.Need{on(access.Read, "id")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "av/getAttributeViewFilterSort"},
		Aliases:   map[string]string{"avID": "id"}, Positional: []string{"id"},
		Result:  filterSortResult{},
		Example: `{"id":"20240801120000-avmain1"}`,
	}, func(ctx context.Context, r *action.Request, a filterSortArgs) (any, error) {
		through, err := block(ctx, r, r.Target("id"))
		if err != nil {
			return nil, err
		}
		filters, sorts, err := r.Kernel.FilterSort(ctx, a.ID, through)
		if err != nil {
			return nil, err
		}
		out := filterSortResult{AVID: a.ID, Filters: orEmpty(filters), Sorts: orEmpty(sorts)}
		restricted, err := r.Levels.Restricted(ctx)
		if err != nil || !restricted {
			return out, err
		}
		db, err := load(ctx, r, a.ID) // a filter may name rows
		if err != nil {
			return nil, err
		}
		m, err := maskOf(ctx, r, db)
		if err != nil {
			return nil, err
		}
		out.Filters, err = m.apply(out.Filters)
		return out, err
	})
}

func orEmpty(list json.RawMessage) json.RawMessage {
	if len(list) == 0 || string(list) == "null" {
		return json.RawMessage("[]")
	}
	return list
}
