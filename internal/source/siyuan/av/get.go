package av

import (
	"context"
	"encoding/json"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type getArgs struct {
	ID      kernel.ID `json:"id" about:"database id" req:"true"`
	BlockID kernel.ID `json:"blockID" about:"a block that shows it"`
}

// row is a row and the ids that are easily taken for its own.
type row struct {
	RowID         kernel.ID               `json:"rowID" about:"what names the row everywhere"`
	SourceBlockID kernel.ID               `json:"sourceBlockID,omitempty" about:"the block that it is bound to"`
	ValueIDs      map[kernel.ID]kernel.ID `json:"valueIDs,omitempty" about:"ids of its values by column" verbose:"yes"`
}

type getResult struct {
	ID           kernel.ID       `json:"id" about:"database id"`
	AV           json.RawMessage `json:"av" about:"columns with their values (keyValues), views, name"`
	ResolvedRows []row           `json:"resolvedRows" about:"the rows"`
}

func get() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "get", Purpose: "Read a whole database as it is stored",
		Guide:     "This is large: render shows the same as a table. rowID is what other actions take; sourceBlockID is the block that a row is bound to.",
		Class:     action.Reads,
		Needs:     []action.Need{on(access.Read, "id")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView"},
		Aliases:   map[string]string{"avID": "id"}, Positional: []string{"id"},
		Result:  getResult{},
		Example: `{"id":"20240801120000-avmain1"}`,
	}, func(ctx context.Context, r *action.Request, a getArgs) (any, error) {
		db, err := load(ctx, r, a.ID)
		if err != nil {
			return nil, err
		}
		m, err := maskOf(ctx, r, db)
		if err != nil {
			return nil, err
		}
		if m != nil {
			r.Filtered(m.hidden)
		}
		raw, err := m.apply(db.Raw)
		return getResult{ID: a.ID, AV: raw, ResolvedRows: rowsOf(db, m)}, err
	})
}

// rowsOf are the visible rows of a database in the order they are stored in.
func rowsOf(db *kernel.Database, m *mask) []row {
	rows, at := []row{}, map[kernel.ID]int{}
	for _, v := range db.Primary() {
		if !m.row(v.RowID) {
			continue
		}
		one := row{RowID: v.RowID, ValueIDs: map[kernel.ID]kernel.ID{}}
		if v.Block != nil {
			one.SourceBlockID = v.Block.ID
		}
		at[v.RowID] = len(rows)
		rows = append(rows, one)
	}
	for i := range db.Columns {
		for _, v := range db.Columns[i].Values {
			if n, ok := at[v.RowID]; ok {
				rows[n].ValueIDs[v.ColumnID] = v.ID
			}
		}
	}
	return rows
}
