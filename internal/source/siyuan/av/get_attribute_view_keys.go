package av

import (
	"context"
	"encoding/json"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

type keysArgs struct {
	ID kernel.ID `json:"id" about:"database id" req:"true"`
}

type keysResult struct {
	AVID kernel.ID         `json:"avID"`
	Keys []json.RawMessage `json:"keys"`
}

// keysShown describes the columns that the kernel answers.
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

// keys reads the columns by the endpoint that takes a database. That of the action's own name
// takes a block, and answers the databases which that block is a row of.
func keys() *action.Action {
	return action.New(action.Spec{
		Tool: "av", Name: "get_attribute_view_keys", Purpose: "List the columns of a database",
		Guide:     "A column's id is what set_cells takes as columnID, and its type decides the valueType.",
		Class:     action.Reads,
		Needs:     []action.Need{on(access.Read, "id")},
		Endpoints: []string{"file/readDir", "av/getMirrorDatabaseBlocks", "query/sql", "av/getAttributeViewKeysByAvID"},
		Aliases:   map[string]string{"avID": "id"}, Positional: []string{"id"},
		Result:  keysShown{},
		Example: `{"id":"20240801120000-avmain1"}`,
	}, func(ctx context.Context, r *action.Request, a keysArgs) (any, error) {
		columns, err := r.Kernel.DatabaseColumns(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		m, err := relationsOf(ctx, r, columns)
		if err != nil {
			return nil, err
		}
		out := keysResult{AVID: a.ID, Keys: make([]json.RawMessage, len(columns))}
		for i, c := range columns {
			if out.Keys[i], err = m.apply(c); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// relationsOf hides the databases that columns have relations to, where they may not be read, and
// their columns.
func relationsOf(ctx context.Context, r *action.Request, columns []json.RawMessage) (*mask, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	m := &mask{ids: map[kernel.ID]bool{}, databases: map[kernel.ID]bool{}}
	parsed := make([]kernel.Column, len(columns))
	shut := map[kernel.ID]bool{} // relations to what may not be read
	for i, raw := range columns {
		c := &parsed[i]
		if err := json.Unmarshal(raw, c); err != nil || c.Relation == nil {
			continue // apply says what is wrong with it
		}
		ok, err := visible(ctx, r, c.Relation.Database)
		if err != nil {
			return nil, err
		}
		m.databases[c.Relation.Database], shut[c.ID] = !ok, !ok
	}
	for i := range parsed {
		if rollup := parsed[i].Rollup; rollup != nil && shut[rollup.RelationColumn] {
			m.ids[rollup.Column] = true
		}
	}
	return m, nil
}
