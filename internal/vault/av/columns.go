package av

import (
	"slices"

	"collie/internal/siyuanapi"
)

// addColumn adds a column to the database and all its views, after the column previous. Where previous is not in a view, the
// column becomes the first one of a table, and the last one of a gallery or kanban, as in SiYuan. A column without an id, of
// an unknown type or a second primary one is ignored.
func (db *database) addColumn(c *column, previous string) {
	if c.id() == "" || !slices.Contains(addableTypes, c.kind()) {
		return
	}
	db.columns = append(db.columns, c)
	db.changed = true
	db.eachLayout(func(layout string, places []any) []any {
		at := placeIndex(places, previous) + 1
		if at == 0 && layout != layoutTable {
			at = len(places)
		}
		return slices.Insert(places, at, any(newPlace(layout, c.id())))
	})
}

// appendColumn adds a column after all others.
func (db *database) appendColumn(c *column) {
	db.columns = append(db.columns, c)
	db.changed = true
	db.eachLayout(func(layout string, places []any) []any { return append(places, newPlace(layout, c.id())) })
}

// eachLayout calls visit for each layout of all views, with its columns; visit returns those that replace them.
func (db *database) eachLayout(visit func(layout string, places []any) []any) {
	for _, v := range db.views {
		view{v}.eachLayout(visit)
	}
}

// removeColumn removes a column with its cells, unless it is the primary one. If it is a two-way relation, its back
// column is removed if the request says so, and otherwise becomes an ordinary relation.
func (c *operation) removeColumn() bool {
	db, removed := c.db, c.db.column(c.op.ID)
	if removed == nil || removed.kind() == siyuanapi.ColumnBlock {
		return true
	}
	related, backColumn := c.otherEnd(removed)
	db.dropColumn(removed)
	switch {
	case backColumn == nil:
	case c.op.RemoveDest:
		related.dropColumn(backColumn)
	default:
		backColumn.Key["relation"] = object{"avID": db.id, "isTwoWay": false, "backKeyID": ""}
		related.changed = true
	}
	return true
}

// dropColumn removes a column from the database and its views. If another column has the same id, the views do not
// change.
func (db *database) dropColumn(c *column) {
	db.columns = slices.DeleteFunc(db.columns, func(one *column) bool { return one == c })
	db.changed = true
	if db.column(c.id()) != nil {
		return
	}
	db.eachLayout(func(_ string, places []any) []any {
		return slices.DeleteFunc(places, func(p any) bool { return asObject(p).str("id") == c.id() })
	})
	for _, v := range db.views {
		if list := v.list("sorts"); list != nil {
			v["sorts"] = slices.DeleteFunc(list, func(o any) bool { return asObject(o).str("column") == c.id() })
		}
		if v["filters"] != nil {
			v["filters"] = db.filters(view{v})
		}
	}
}

// setCalc sets which calculation a view shows for a column; an empty operator removes it.
func (v view) setCalc(column string, calc object) {
	for _, p := range v.places(v.layout()) {
		if p.str("id") == column {
			p["calc"] = object{"operator": calc.str("operator"), "result": nil}
			if calc.str("operator") == "" {
				delete(p, "calc")
			}
		}
	}
}
