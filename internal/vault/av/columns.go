package av

import (
	"slices"

	"collie/internal/siyuanapi"
)

// addColumn puts a column behind another one, first without one. Galleries and kanbans get it last then, as recorded.
// Little is checked: a column of an unknown type and a second primary one are ignored.
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

// appendColumn puts a column behind all others.
func (db *database) appendColumn(c *column) {
	db.columns = append(db.columns, c)
	db.changed = true
	db.eachLayout(func(layout string, places []any) []any { return append(places, newPlace(layout, c.id())) })
}

// eachLayout calls each for the layouts of all views with their columns, which it may replace.
func (db *database) eachLayout(each func(layout string, places []any) []any) {
	for _, v := range db.views {
		view{v}.eachLayout(each)
	}
}

// removeColumn removes a column with its cells, unless it is the primary one. The other end of a two way relation goes
// too if the caller wants that, and becomes an ordinary relation otherwise.
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

// dropColumn takes a column out of the database. A second column of the same id keeps its place in the views.
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

// setCalc sets what a view calculates of a column.
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
