package av

import (
	"context"
	"encoding/json"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions of the tool av that read the structure of a database: all of it (get), its columns, filters and sorts.

type getArgs struct {
	ID      kernel.ID `json:"id" about:"database id" req:"true"`
	BlockID kernel.ID `json:"blockID" about:"a block that shows it"` // read by needsDatabase
}

// row is a row with the ids that are easily mistaken for its id.
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

// get returns the action get of the tool av.
func get() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "get", Purpose: "Read a whole database as it is stored",
		Guide: "This is large: render shows the same as a table. rowID is what other actions take; sourceBlockID is the block that a row is bound to.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:     []action.Need{needsDatabase(access.Read, "id")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView"},
		Aliases:   map[string]string{"avID": "id"}, Positional: []string{"id"},
		Result:  getResult{},
		Example: `{"id":"20240801120000-avmain1"}`,
	}, func(ctx context.Context, r *action.Request, a getArgs) (any, error) {
		db, err := loadDatabase(ctx, r, a.ID)
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
		raw, err := m.removeHidden(db.Raw)
		return getResult{ID: a.ID, AV: raw, ResolvedRows: rowsOf(db, m)}, err
	})
}

// rowsOf returns the visible rows of a database in stored order.
func rowsOf(db *kernel.Database, m *mask) []row {
	rows, at := []row{}, map[kernel.ID]int{}
	for _, v := range db.Primary() {
		if !m.isVisibleRow(v.RowID) {
			continue
		}
		r := row{RowID: v.RowID, ValueIDs: map[kernel.ID]kernel.ID{}}
		if v.Block != nil {
			r.SourceBlockID = v.Block.ID
		}
		at[v.RowID] = len(rows)
		rows = append(rows, r)
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

type filterSortArgs struct {
	ID      kernel.ID `json:"id" about:"database id" req:"true"`
	BlockID kernel.ID `json:"blockID" about:"the block whose view is meant"` // read by needsDatabase and showingBlock
}

type filterSortResult struct {
	AVID    kernel.ID       `json:"avID" about:"database id"`
	Filters json.RawMessage `json:"filters" about:"a tree of conditions; no filter is one empty group"`
	Sorts   json.RawMessage `json:"sorts" about:"columns in order"`
}

// filterSort returns the action get_attribute_view_filter_sort of the tool av.
func filterSort() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "get_attribute_view_filter_sort", Purpose: "Show the filters and sorts of a view",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:     []action.Need{needsDatabase(access.Read, "id")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "block/getBlockDOM", "av/getAttributeView", "av/getAttributeViewFilterSort"},
		Aliases:   map[string]string{"avID": "id"}, Positional: []string{"id"},
		Result:  filterSortResult{},
		Example: `{"id":"20240801120000-avmain1"}`,
	}, func(ctx context.Context, r *action.Request, a filterSortArgs) (any, error) {
		through, err := showingBlock(ctx, r, r.Target("id"))
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
		db, err := loadDatabase(ctx, r, a.ID) // a filter may refer to rows
		if err != nil {
			return nil, err
		}
		m, err := maskOf(ctx, r, db)
		if err != nil {
			return nil, err
		}
		out.Filters, err = m.removeHidden(out.Filters)
		return out, err
	})
}

// orEmpty returns a JSON list, an empty one for null.
func orEmpty(list json.RawMessage) json.RawMessage {
	if len(list) == 0 || string(list) == "null" {
		return json.RawMessage("[]")
	}
	return list
}

type keysArgs struct {
	ID kernel.ID `json:"id" about:"database id" req:"true"`
}

type keysResult struct {
	AVID kernel.ID         `json:"avID"`
	Keys []json.RawMessage `json:"keys"`
}

// keysShown describes the columns in the kernel's response.
type keysShown struct {
	AVID kernel.ID `json:"avID" about:"database id"`
	Keys []struct {
		ID       kernel.ID       `json:"id" about:"column id"`
		Name     string          `json:"name" about:"what it is called"`
		Type     string          `json:"type" about:"block (the primary column), text, number, select, …"`
		Options  json.RawMessage `json:"options" about:"of select and mSelect: what there is to choose"`
		Relation json.RawMessage `json:"relation" about:"of relation: the other database"`
	} `json:"keys" about:"the columns"`
}

// keys returns the action get_attribute_view_keys of the tool av. It does not use the kernel's endpoint of that name, which takes
// a block and returns the databases in which that block is a row.
func keys() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "get_attribute_view_keys", Purpose: "List the columns of a database",
		Guide: "A column's id is what set_cells takes as columnID, and its type decides the valueType.",
		Class: action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Needs:     []action.Need{needsDatabase(access.Read, "id")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "av/getAttributeViewKeysByAvID"},
		Aliases:   map[string]string{"avID": "id"}, Positional: []string{"id"},
		Result:  keysShown{},
		Example: `{"id":"20240801120000-avmain1"}`,
	}, func(ctx context.Context, r *action.Request, a keysArgs) (any, error) {
		columns, err := r.Kernel.DatabaseColumns(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		m, err := maskRelations(ctx, r, columns)
		if err != nil {
			return nil, err
		}
		out := keysResult{AVID: a.ID, Keys: make([]json.RawMessage, len(columns))}
		for i, c := range columns {
			if out.Keys[i], err = m.removeHidden(c); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// maskRelations returns a mask for relations to databases that may not be read, and for columns of these databases.
func maskRelations(ctx context.Context, r *action.Request, columns []json.RawMessage) (*mask, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	m := &mask{ids: map[kernel.ID]bool{}, databases: map[kernel.ID]bool{}}
	parsed := make([]kernel.Column, len(columns))
	unreadable := map[kernel.ID]bool{} // unreadable related databases
	for i, raw := range columns {
		c := &parsed[i]
		if err := json.Unmarshal(raw, c); err != nil || c.Relation == nil || c.Relation.Database == "" {
			continue // removeHidden reports what is wrong with it; a new relation has no database yet
		}
		ok, err := isReadable(ctx, r, c.Relation.Database)
		if err != nil {
			return nil, err
		}
		m.databases[c.Relation.Database], unreadable[c.ID] = !ok, !ok
	}
	for i := range parsed {
		if rollup := parsed[i].Rollup; rollup != nil && unreadable[rollup.RelationColumn] {
			m.ids[rollup.Column] = true
		}
	}
	return m, nil
}
