package av

import (
	"context"
	"slices"
	"strings"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action av.search, which finds databases by their names or rows.

type searchArgs struct {
	Keyword  string      `json:"keyword" about:"part of a database's name, else of a row's text" req:"true"`
	Excludes []kernel.ID `json:"excludes" about:"databases to leave out"`
}

// hit is a database that was found, with a readable block that shows it.
type hit struct {
	ID         kernel.ID      `json:"id" about:"the same as avID" verbose:"yes"`
	AVID       kernel.ID      `json:"avID" about:"database id"`
	AVName     string         `json:"avName" about:"its name"`
	BlockID    kernel.ID      `json:"blockID" about:"a block that shows it"`
	HPath      string         `json:"hPath,omitempty" about:"where that is"`
	Views      []hitView      `json:"views,omitempty" about:"its views" verbose:"yes"`
	Rows       []primaryRow   `json:"rows,omitempty" about:"rows that fit, three at most"`
	RenderArgs map[string]any `json:"renderArgs" about:"arguments of render" verbose:"yes"`
}

type hitView struct {
	ViewID kernel.ID `json:"viewID"`
	Name   string    `json:"name"`
	Layout string    `json:"layout"`
}

type searchResult struct {
	Keyword         string `json:"keyword" about:"what was searched"`
	SearchScope     string `json:"searchScope" about:"name, or rows where no name fits"`
	Results         []hit  `json:"results" about:"databases"`
	RawResultCount  int    `json:"rawResultCount" about:"databases that were shown or could not be placed" verbose:"yes"`
	UnresolvedCount int    `json:"unresolvedCount" about:"databases that no block shows"`
	Truncated       bool   `json:"truncated,omitempty" about:"not all databases were looked at"`
	Hint            string `json:"hint,omitempty" about:"what to do then"`

	restricted bool // some notebook may not be read
}

// Bounds of a search by rows.
const (
	maxSearched = 50 // databases
	maxRows     = 3  // rows shown of each database
)

// search returns the action search of the tool av.
func search() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "search", Purpose: "Find databases by name, or else by the text of their rows",
		Guide: "A search by rows looks at 50 databases at most. What may not be read is not there.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Unguarded: "what is found is filtered by the notebooks that show it",
		Endpoints: []string{"av/searchAttributeView", "file/readDir", "av/getAttributeViewPrimaryKeyValues", "query/sql"},
		Aliases:   map[string]string{"query": "keyword"}, Positional: []string{"keyword"},
		Result:  searchResult{},
		Example: `{"keyword":"project"}`,
	}, func(ctx context.Context, r *action.Request, a searchArgs) (any, error) {
		restricted, err := r.Levels.Restricted(ctx)
		if err != nil {
			return nil, err
		}
		out := searchResult{Keyword: a.Keyword, SearchScope: "name", Results: []hit{}, restricted: restricted}
		if err := out.addByName(ctx, r, &a); err != nil {
			return nil, err
		}
		if len(out.Results) > 0 || strings.TrimSpace(a.Keyword) == "" {
			return out, nil
		}
		out.SearchScope = "rows"
		return out, out.addByRows(ctx, r, &a)
	})
}

// addByName adds the databases whose names contain the keyword.
func (out *searchResult) addByName(ctx context.Context, r *action.Request, a *searchArgs) error {
	excludes, err := out.excludedIDs(ctx, r, a)
	if err != nil {
		return err
	}
	hits, err := r.Kernel.SearchDatabases(ctx, a.Keyword, excludes)
	if err != nil {
		return err
	}
	var blocks []kernel.ID
	for i := range hits {
		for _, h := range flatten(&hits[i]) {
			blocks = append(blocks, h.Block)
		}
	}
	places, err := r.Places(ctx, blocks)
	if err != nil {
		return err
	}
	for i := range hits {
		if err := out.addFound(ctx, r, flatten(&hits[i]), places); err != nil {
			return err
		}
	}
	return nil
}

// excludedIDs returns the databases that the kernel must leave out: those that the caller excludes, and the hidden ones. The
// kernel stops after a dozen hits, so a hidden database would reveal itself by taking another one's place.
func (out *searchResult) excludedIDs(ctx context.Context, r *action.Request, a *searchArgs) ([]kernel.ID, error) {
	if !out.restricted {
		return a.Excludes, nil
	}
	all, err := databaseIDs(ctx, r)
	if err != nil {
		return nil, err
	}
	visible, err := r.VisibleDatabases(ctx)
	all = slices.DeleteFunc(all, func(id kernel.ID) bool { return visible[id] })
	return append(all, a.Excludes...), err
}

// flatten returns a hit with its children, which may be in other blocks.
func flatten(h *kernel.DatabaseHit) []kernel.DatabaseHit {
	return append([]kernel.DatabaseHit{*h}, h.Children...)
}

// addFound adds a database that the kernel found in several places, with the first block that may be read.
func (out *searchResult) addFound(ctx context.Context, r *action.Request, hits []kernel.DatabaseHit, places map[kernel.ID]action.Target) error {
	var found *hit
	for _, h := range hits {
		t, ok := places[h.Block]
		if !ok || !r.Readable(t.Notebook) {
			continue
		}
		if found == nil {
			found = &hit{ID: h.Database, AVID: h.Database, AVName: h.Name, BlockID: h.Block, HPath: h.HPath}
			found.RenderArgs = map[string]any{"id": h.Database, "blockID": h.Block}
		}
		if h.ViewID != "" {
			found.Views = append(found.Views, hitView{h.ViewID, h.View, h.Layout})
		}
	}
	return out.addVisible(ctx, r, found)
}

// addVisible adds h to the results; nil stands for a database that no block shows. A hidden database is skipped without being
// counted: for a well-chosen keyword the count would reveal its content. While any notebook is hidden, databases that no block
// shows are not counted either, since they may belong there.
func (out *searchResult) addVisible(ctx context.Context, r *action.Request, h *hit) error {
	if out.restricted && h != nil {
		if ok, err := isReadable(ctx, r, h.ID); err != nil || !ok {
			return err
		}
	}
	switch {
	case h != nil:
		out.Results = append(out.Results, *h)
		out.RawResultCount++
	case !out.restricted:
		out.UnresolvedCount++
		out.RawResultCount++
	}
	return nil
}

// addByRows adds the databases that have the keyword in their primary column.
func (out *searchResult) addByRows(ctx context.Context, r *action.Request, a *searchArgs) error {
	ids, err := databaseIDs(ctx, r)
	if err != nil {
		return err
	}
	if out.restricted { // hidden databases must not reduce the number of results
		visible, err := r.VisibleDatabases(ctx)
		if err != nil {
			return err
		}
		ids = slices.DeleteFunc(ids, func(id kernel.ID) bool { return !visible[id] })
	}
	ids = slices.DeleteFunc(ids, func(id kernel.ID) bool { return slices.Contains(a.Excludes, id) })
	slices.Sort(ids)
	slices.Reverse(ids) // newest first
	if len(ids) > maxSearched {
		ids, out.Truncated = ids[:maxSearched], true
		out.Hint = `only the newest 50 databases were looked at; give a part of the database's name`
	}
	for _, id := range ids {
		got, err := primaryValues(ctx, r, id, a.Keyword)
		switch {
		case tool.KindOf(err) == tool.NotFound || tool.KindOf(err) == kernel.API:
			continue // it is damaged
		case err != nil:
			return err
		case len(got.Rows.Values) == 0:
			continue
		}
		if err := out.addRows(ctx, r, id, a.Keyword, &got); err != nil {
			return err
		}
	}
	return nil
}

// addRows adds a database with the first of its rows that match.
func (out *searchResult) addRows(ctx context.Context, r *action.Request, id kernel.ID, keyword string, got *kernel.PrimaryValues) error {
	blocks, err := readableBlocks(ctx, r, got.Blocks)
	if err != nil {
		return err
	}
	if len(blocks) == 0 {
		return out.addVisible(ctx, r, nil)
	}
	values, err := readableRows(ctx, r, got.Rows.Values, keyword)
	if err != nil || len(values) == 0 {
		return err
	}
	h := hit{ID: id, AVID: id, AVName: got.Name, BlockID: blocks[0], RenderArgs: map[string]any{"id": id, "blockID": blocks[0]}}
	for i := range values[:min(len(values), maxRows)] {
		h.Rows = append(h.Rows, primaryRowOf(&values[i]))
	}
	return out.addVisible(ctx, r, &h)
}
