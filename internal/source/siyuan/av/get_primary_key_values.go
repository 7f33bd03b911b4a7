package av

import (
	"context"
	"math"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action av.get_primary_key_values, which lists the rows of a database by their first column.

type primaryArgs struct {
	AVID     kernel.ID `json:"avID" about:"database id" req:"true"`
	Keyword  string    `json:"keyword" about:"only rows whose text holds this"`
	Page     int       `json:"page" about:"from 1" default:"1" min:"1"`
	PageSize int       `json:"pageSize" about:"rows a page" default:"50" min:"1" max:"1000"`
}

type primaryRow struct {
	RowID      kernel.ID `json:"rowID" about:"what names the row"`
	Content    string    `json:"content" about:"text of the primary column"`
	BlockID    kernel.ID `json:"blockID,omitempty" about:"the block that it is bound to"`
	IsDetached bool      `json:"isDetached" about:"it is bound to none"`
	ValueID    kernel.ID `json:"valueID" about:"id of the primary value" verbose:"yes"`
}

type primaryResult struct {
	AVID     kernel.ID    `json:"avID" about:"database id"`
	Name     string       `json:"name" about:"of the database"`
	BlockIDs []kernel.ID  `json:"blockIDs" about:"blocks that show it"`
	Rows     []primaryRow `json:"rows" about:"the rows of this page"`
	action.Pages
}

// maxPageSize is a page size that no database reaches. The kernel reports neither the number of rows nor which of them
// are hidden, so this package cuts the pages itself.
const maxPageSize = math.MaxInt32

// primaryKeyValues returns the action get_primary_key_values of the tool av.
func primaryKeyValues() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "get_primary_key_values", Purpose: "List the rows of a database with their ids",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:     []action.Need{needsDatabase(access.Read, "avID")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "av/getAttributeViewPrimaryKeyValues"},
		Aliases:   map[string]string{"id": "avID", "query": "keyword"}, Positional: []string{"avID", "keyword"},
		Result:  primaryResult{},
		Example: `{"avID":"20240801120000-avmain1","keyword":"row"}`,
	}, func(ctx context.Context, r *action.Request, a primaryArgs) (any, error) {
		got, err := primaryValues(ctx, r, a.AVID, a.Keyword)
		if err != nil {
			return nil, err
		}
		values, err := readableRows(ctx, r, got.Rows.Values, a.Keyword)
		if err != nil {
			return nil, err
		}
		blocks, err := readableBlocks(ctx, r, got.Blocks)
		if err != nil {
			return nil, err
		}
		p := action.Paged(values, a.Page, a.PageSize)
		out := primaryResult{AVID: a.AVID, Name: got.Name, BlockIDs: blocks, Rows: []primaryRow{}, Pages: p.Pages}
		for _, v := range p.Data {
			out.Rows = append(out.Rows, primaryRowOf(&v))
		}
		return out, nil
	})
}

func primaryRowOf(v *kernel.Value) primaryRow {
	row := primaryRow{RowID: v.RowID, IsDetached: true, ValueID: v.ID}
	if v.Block != nil {
		row.Content, row.BlockID, row.IsDetached = v.Block.Content, v.Block.ID, v.Block.ID == ""
	}
	return row
}

// primaryValues returns the rows of a database that match a keyword. If some notebook is hidden it returns all rows,
// and [readableRows] searches them: if the kernel searched hidden rows, the response time would reveal a match.
func primaryValues(ctx context.Context, r *action.Request, id kernel.ID, keyword string) (kernel.PrimaryValues, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil {
		return kernel.PrimaryValues{}, err
	}
	if restricted {
		keyword = ""
	}
	return r.Kernel.PrimaryValues(ctx, id, keyword, 1, maxPageSize)
}

// readableRows leaves out the rows bound to hidden blocks, and those that do not match the keyword. It counts the
// hidden rows only without a keyword: with one, the count would reveal their content.
func readableRows(ctx context.Context, r *action.Request, primary []kernel.Value, keyword string) ([]kernel.Value, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return primary, err
	}
	places, err := r.Places(ctx, boundTo(primary))
	if err != nil {
		return nil, err
	}
	redactor, err := content.NewBlockRedactor(ctx, r, boundTo(primary))
	if err != nil {
		return nil, err
	}
	var readable []kernel.Value
	for _, v := range primary {
		if v.Block != nil && v.Block.ID != "" && r.Readable(places[v.Block.ID].Notebook) && redactor.HidesBlock(v.Block.ID) {
			if keyword != "" { // the match was in hidden text
				continue
			}
			bare := *v.Block
			bare.Content, v.Block = "", &bare
		}
		if keyword != "" && (v.Block == nil || !strings.Contains(strings.ToLower(v.Block.Content), strings.ToLower(keyword))) {
			continue
		}
		if v.Block == nil || v.Block.ID == "" || r.Readable(places[v.Block.ID].Notebook) {
			readable = append(readable, v)
		}
	}
	if keyword == "" {
		r.Filtered(len(primary) - len(readable))
	}
	return readable, nil
}

// readableBlocks removes blocks that may not be read.
func readableBlocks(ctx context.Context, r *action.Request, ids []kernel.ID) ([]kernel.ID, error) {
	places, err := r.Places(ctx, ids)
	if err != nil {
		return nil, err
	}
	readable := []kernel.ID{}
	for _, id := range ids {
		if r.Readable(places[id].Notebook) {
			readable = append(readable, id)
		}
	}
	return readable, nil
}
