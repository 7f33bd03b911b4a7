package av

import (
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// change is one operation on a database.
type change struct {
	*databases
	db  *database
	op  *api.DoOperation
	raw api.Request
}

// data returns the member data of an operation that is an object.
func (c *change) data() object { return asObject(c.raw.Get("data").Value()) }

// registerOperations adds the actions of /api/transactions on databases. An unknown database, column or view changes
// nothing; data that cannot be stored undoes the transaction.
func registerOperations(mux *api.Mux) {
	on := func(action string, do func(*change) bool) {
		mux.Operation(action, func(tx *workspace.Tx, op *api.DoOperation, raw gjson.Result) bool {
			id := op.AvID
			if action == "setAttrViewName" {
				id = op.ID
			}
			s := newDatabases(tx)
			db := s.database(id)
			if db == nil {
				return true
			}
			kept := do(&change{s, db, op, api.In(tx, raw)})
			if kept {
				s.save()
			}
			return kept
		})
	}
	on("setAttrViewName", (*change).rename)
	on("insertAttrViewBlock", (*change).insertRows)
	on("removeAttrViewBlock", (*change).removeRows)
	on("updateAttrViewCell", (*change).updateCell)
	on("addAttrViewCol", (*change).addColumn)
	on("removeAttrViewCol", (*change).removeColumn)
	on("addAttrViewView", (*change).addView)
	on("setAttrViewColCalc", (*change).setCalc)
	onColumn := func(action string, do func(*change, *column)) {
		on(action, func(c *change) bool {
			id := c.op.ID
			if action == "updateAttrViewColRelation" {
				id = c.op.KeyID // id names the other database
			}
			if col := c.db.column(id); col != nil {
				do(c, col)
				c.db.changed = true
			}
			return true
		})
	}
	onColumn("updateAttrViewCol", (*change).updateColumn)
	onColumn("updateAttrViewColOptions", (*change).updateOptions)
	onColumn("updateAttrViewColTemplate", func(c *change, col *column) {
		if source, is := c.op.Data.(string); is && c.op.Type == siyuanapi.ColumnTemplate { // else it is not taken, as recorded
			col.Key["template"] = source
		}
	})
	onColumn("updateAttrViewColNumberFormat", func(c *change, col *column) { col.Key["numberFormat"], _ = c.op.Data.(string) })
	onColumn("updateAttrViewColRelation", (*change).updateRelation)
	onColumn("updateAttrViewColRollup", (*change).updateRollup)
	on("setAttrViewViewName", func(c *change) bool {
		for _, v := range c.db.views {
			if name, is := c.op.Data.(string); is && v.str("id") == c.op.ID {
				v["name"], c.db.changed = name, true
			}
		}
		return true
	})
}

func (c *change) rename() bool {
	name, is := c.op.Data.(string)
	c.db.changed = c.db.changed || is && c.db.name != name
	if is {
		c.db.name = name
	}
	return true
}

func (c *change) insertRows() bool {
	if !c.raw.Get("srcs").IsArray() {
		return true
	}
	view := c.db.view(c.op.ViewID, c.shownIn(c.op.BlockID))
	if c.op.GroupID != "" && !slices.ContainsFunc(view.objects("groups"), func(g object) bool { return g.str("id") == c.op.GroupID }) {
		return true // rows for a group that the view has not are dropped, as observed
	}
	c.addRows(c.db, rowsToAdd{
		sources: c.raw.List("srcs"), previous: c.op.PreviousID, withoutPreset: c.op.IgnoreDefaultFill, group: c.op.GroupID, view: view,
	})
	return true
}

// shownIn returns the view that a block of the database shows.
func (c *change) shownIn(block string) string {
	if b := c.tx.Block(block); block != "" && b != nil {
		return b.Attrs[shownView]
	}
	return ""
}

func (c *change) removeRows() bool {
	if c.raw.Get("srcIDs").IsArray() {
		c.databases.removeRows(c.db, c.raw.Strs("srcIDs"))
	}
	return true
}

func (c *change) updateCell() bool {
	data := c.raw.Get("data")
	if !data.IsObject() {
		return false
	}
	return c.setCell(c.db, c.op.KeyID, c.op.RowID, []byte(data.Raw)) == nil
}

func (c *change) addColumn() bool {
	icon, _ := c.op.Data.(string)
	c.db.addColumn(newColumn(c.op.ID, c.op.Name, c.op.Type, icon), c.op.PreviousID)
	return true
}

// updateColumn renames a column and changes its type. The primary column stays one, and others do not become one.
func (c *change) updateColumn(col *column) {
	if c.op.Name != "" {
		col.Key["name"] = c.op.Name
	}
	if col.kind() != siyuanapi.ColumnBlock && slices.Contains(addableTypes, c.op.Type) {
		col.Key["type"] = c.op.Type
	}
}

func (c *change) updateOptions(col *column) {
	if col.kind() != siyuanapi.ColumnSelect && col.kind() != siyuanapi.ColumnMSelect {
		return
	}
	col.setOptions(object{"options": c.raw.Get("data").Value()}.objects("options"))
}

func (c *change) updateRelation(col *column) {
	if c.op.Format != "" {
		col.Key["name"] = c.op.Format
	}
	c.setRelation(c.db, col, relationTarget{database: c.op.ID, twoWay: c.op.IsTwoWay, back: c.op.BackRelationKeyID, backName: c.op.Name})
}

func (c *change) updateRollup(col *column) {
	if col.kind() == siyuanapi.ColumnRollup {
		col.Key["rollup"] = rollupSettings(object{"relationKeyID": c.op.ParentID, "keyID": c.op.KeyID, "calc": c.data()["calc"]})
	}
}

// addView adds a view with the columns and rows of the one the block shows, and shows it there.
func (c *change) addView() bool {
	layout := c.op.Layout
	if layoutNames[layout] == "" {
		layout = layoutTable
	}
	for _, v := range c.db.views {
		if c.op.ID == "" || v.str("id") == c.op.ID {
			return true
		}
	}
	from := c.db.view(c.shownIn(c.op.BlockID))
	added := newView(c.tx, c.op.ID, layoutNames[layout], layout)
	var places []any
	for _, p := range from.places(from.layout()) {
		places = append(places, newPlace(layout, p.str("id")))
	}
	added.at(layout)[placesKey(layout)] = places
	added.object["itemIds"] = anys(c.db.rows(from))
	c.db.views = append(c.db.views, added.object)
	c.db.show(c.databases, c.op.BlockID, c.op.ID)
	return true
}

// show makes a view the current one, and that of a block.
func (db *database) show(s *databases, block, view string) {
	db.viewID, db.changed = view, true
	if b := s.tx.Block(block); block != "" && b != nil {
		b.Attrs[shownView] = view
		b.Stamp()
	}
}

func (c *change) setCalc() bool {
	c.db.view(c.op.ViewID, c.shownIn(c.op.BlockID)).setCalc(c.op.ID, c.data())
	c.db.changed = true
	return true
}
