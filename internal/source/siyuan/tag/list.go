package tag

import (
	"context"
	"encoding/json"
	"html"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/sorting"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action tag.list, which lists tags with how often they are used.

type listArgs struct {
	Query string `json:"query" about:"part of a tag"`
	Sort  *int   `json:"sort" about:"SiYuan's order 0-7; kept as the user's own" min:"0" max:"7" list:"no"`
}

// tagCount is a tag and how often blocks have it.
type tagCount struct {
	Label string `json:"label" about:"the whole tag, levels included"`
	Count int    `json:"count" about:"how often blocks have it"`
}

type listResult struct {
	Tags  []tagCount `json:"tags" about:"tags with the number of their uses"`
	Total int        `json:"total" about:"how many tags"`
}

// list returns the action list of the tool tag.
func list() *action.Action {
	return action.New(action.Spec{
		Tool: "tag", Name: "list", Purpose: "List tags, or those that contain a text",
		Guide:  "A tag with levels is written a/b. Only tags of notebooks that may be read are listed.",
		Common: true,
		Class:  action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Unguarded: "tags are counted over the notebooks that may be read",
		Endpoints: []string{"tag/getTag", "system/getConf", "query/sql", "notebook/lsNotebooks"},
		Aliases:   map[string]string{"keyword": "query", "k": "query"},
		Adapt:     preferQuery,
		Result:    listResult{},
		Example:   `{"query":"travel"}`,
	}, func(ctx context.Context, r *action.Request, a listArgs) (any, error) {
		restricted, err := r.Levels.Restricted(ctx)
		if err != nil {
			return nil, err
		}
		var tags []tagCount
		if restricted {
			tags, err = readableTags(ctx, r)
		} else {
			tags, err = allTags(ctx, r, a.Sort)
		}
		if err != nil {
			return nil, err
		}
		want := strings.ToLower(cleanLabel(a.Query))
		tags = slices.DeleteFunc(tags, func(t tagCount) bool { return !strings.Contains(strings.ToLower(t.Label), want) })
		return listResult{append([]tagCount{}, tags...), len(tags)}, nil
	})
}

// preferQuery removes the aliases of query if query itself is given.
func preferQuery(args json.RawMessage) json.RawMessage {
	if !gjson.GetBytes(args, "query").Exists() {
		return args
	}
	return action.DropArgs(args, "keyword", "k")
}

// allTags returns the kernel's list of tags with their counts, in its order.
func allTags(ctx context.Context, r *action.Request, sort *int) ([]tagCount, error) {
	if sort == nil {
		order, err := r.Kernel.TagSort(ctx) // the kernel saves the requested order, so this requests the saved one
		if err != nil {
			return nil, err
		}
		sort = &order
	}
	tree, err := r.Kernel.Tags(ctx, *sort, true)
	var out []tagCount
	var walk func([]kernel.Tag)
	walk = func(tags []kernel.Tag) {
		for _, t := range tags {
			if t.Count > 0 || len(t.Children) == 0 {
				out = append(out, tagCount{html.UnescapeString(t.Label), t.Count}) // the kernel escapes it for HTML
			}
			walk(t.Children)
		}
	}
	walk(tree)
	return out, err
}

// readableTags returns the tags in readable notebooks, sorted by name.
func readableTags(ctx context.Context, r *action.Request) ([]tagCount, error) {
	found, err := taggedBlocks(ctx, r, "1")
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for i := range found {
		for _, label := range found[i].labels() {
			counts[label]++
		}
	}
	out := []tagCount{}
	for label, n := range counts {
		out = append(out, tagCount{label, n})
	}
	sorting.By(out, func(a, b tagCount) int { return strings.Compare(a.Label, b.Label) })
	return out, nil
}
