package av

import (
	"slices"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// This file has the operations on databases within transactions of the editor.

// operation is one operation on a database.
type operation struct {
	*databases
	db  *database
	op  *api.DoOperation
	raw api.Request
}

// data returns the member data of the operation, nil if it is not an object.
func (c *operation) data() object { return asObject(c.raw.Get("data").Value()) }

// registerOperations adds the operations on databases for /api/transactions. One on an unknown database, column or view
// changes nothing; one with data that cannot be stored undoes the transaction.
func registerOperations(mux *api.Mux) {
	register := func(action string, do func(*operation) bool) {
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
			changed := do(&operation{s, db, op, api.In(tx, raw)})
			if changed {
				s.save()
			}
			return changed
		})
	}
	register("setAttrViewName", (*operation).rename)
	register("insertAttrViewBlock", (*operation).insertRows)
	register("removeAttrViewBlock", (*operation).removeRows)
	register("updateAttrViewCell", (*operation).updateCell)
	register("addAttrViewCol", (*operation).addColumn)
	register("removeAttrViewCol", (*operation).removeColumn)
	register("addAttrViewView", (*operation).addView)
	register("setAttrViewColCalc", (*operation).setCalc)
	registerForColumn := func(action string, do func(*operation, *column)) {
		register(action, func(c *operation) bool {
			id := c.op.ID
			if action == "updateAttrViewColRelation" {
				id = c.op.KeyID // id is that of the other database
			}
			if col := c.db.column(id); col != nil {
				do(c, col)
				c.db.changed = true
			}
			return true
		})
	}
	registerForColumn("updateAttrViewCol", (*operation).updateColumn)
	registerForColumn("updateAttrViewColOptions", (*operation).updateOptions)
	registerForColumn("updateAttrViewColTemplate", func(c *operation, col *column) {
		if source, isText := c.op.Data.(string); isText && c.op.Type == siyuanapi.ColumnTemplate { // the type is required, as in SiYuan
			col.Key["template"] = source
		}
	})
	registerForColumn("updateAttrViewColNumberFormat", func(c *operation, col *column) { col.Key["numberFormat"], _ = c.op.Data.(string) })
	registerForColumn("updateAttrViewColRelation", (*operation).updateRelation)
	registerForColumn("updateAttrViewColRollup", (*operation).updateRollup)
	register("setAttrViewViewName", func(c *operation) bool {
		for _, v := range c.db.views {
			if name, isText := c.op.Data.(string); isText && v.str("id") == c.op.ID {
				v["name"], c.db.changed = name, true
			}
		}
		return true
	})
}

func (c *operation) rename() bool {
	name, isText := c.op.Data.(string)
	c.db.changed = c.db.changed || isText && c.db.name != name
	if isText {
		c.db.name = name
	}
	return true
}

// insertRows adds rows to the database, bound to blocks or detached.
func (c *operation) insertRows() bool {
	if !c.raw.Get("srcs").IsArray() {
		return true
	}
	view := c.db.view(c.op.ViewID, c.viewOfBlock(c.op.BlockID))
	if c.op.GroupID != "" && !slices.ContainsFunc(view.objects("groups"), func(g object) bool { return g.str("id") == c.op.GroupID }) {
		return true // rows for an unknown group are dropped, as in SiYuan
	}
	c.addRows(c.db, rowsToAdd{
		sources: c.raw.List("srcs"), previous: c.op.PreviousID, withoutPreset: c.op.IgnoreDefaultFill, group: c.op.GroupID, view: view,
	})
	return true
}

// viewOfBlock returns the view that a database block shows, "" for the current one.
func (c *operation) viewOfBlock(block string) string {
	if b := c.tx.Block(block); block != "" && b != nil {
		return b.Attrs[shownView]
	}
	return ""
}

func (c *operation) removeRows() bool {
	if c.raw.Get("srcIDs").IsArray() {
		c.databases.removeRows(c.db, c.raw.Strs("srcIDs"))
	}
	return true
}

func (c *operation) updateCell() bool {
	data := c.raw.Get("data")
	if !data.IsObject() {
		return false
	}
	return c.setCell(c.db, c.op.KeyID, c.op.RowID, []byte(data.Raw)) == nil
}

func (c *operation) addColumn() bool {
	icon, _ := c.op.Data.(string)
	c.db.addColumn(newColumn(c.op.ID, c.op.Name, c.op.Type, icon), c.op.PreviousID)
	return true
}

// updateColumn changes the name and the type of a column. A primary column stays primary, and no other becomes it.
func (c *operation) updateColumn(col *column) {
	if c.op.Name != "" {
		col.Key["name"] = c.op.Name
	}
	if col.kind() != siyuanapi.ColumnBlock && slices.Contains(addableTypes, c.op.Type) {
		col.Key["type"] = c.op.Type
	}
}

func (c *operation) updateOptions(col *column) {
	if col.kind() != siyuanapi.ColumnSelect && col.kind() != siyuanapi.ColumnMSelect {
		return
	}
	col.setOptions(object{"options": c.raw.Get("data").Value()}.objects("options"))
}

func (c *operation) updateRelation(col *column) {
	if c.op.Format != "" {
		col.Key["name"] = c.op.Format
	}
	c.setRelation(c.db, col, relationTarget{database: c.op.ID, twoWay: c.op.IsTwoWay, back: c.op.BackRelationKeyID, backName: c.op.Name})
}

func (c *operation) updateRollup(col *column) {
	if col.kind() == siyuanapi.ColumnRollup {
		col.Key["rollup"] = rollupSettings(object{"relationKeyID": c.op.ParentID, "keyID": c.op.KeyID, "calc": c.data()["calc"]})
	}
}

// addView adds a view with the columns and rows of the view that the block shows. The block then shows the new view.
func (c *operation) addView() bool {
	layout := c.op.Layout
	if layoutNames[layout] == "" {
		layout = layoutTable
	}
	for _, v := range c.db.views {
		if c.op.ID == "" || v.str("id") == c.op.ID {
			return true
		}
	}
	from := c.db.view(c.viewOfBlock(c.op.BlockID))
	added := newView(c.tx, c.op.ID, layoutNames[layout], layout)
	var places []any
	for _, p := range from.places(from.layout()) {
		places = append(places, newPlace(layout, p.str("id")))
	}
	added.at(layout)[placesKey(layout)] = places
	added.object["itemIds"] = anys(c.db.rows(from))
	c.db.views = append(c.db.views, added.object)
	c.db.setCurrentView(c.databases, c.op.BlockID, c.op.ID)
	return true
}

// setCurrentView makes a view the current one and shows it in a block.
func (db *database) setCurrentView(s *databases, block, view string) {
	db.viewID, db.changed = view, true
	if b := s.tx.Block(block); block != "" && b != nil {
		b.Attrs[shownView] = view
		b.Stamp()
	}
}

func (c *operation) setCalc() bool {
	c.db.view(c.op.ViewID, c.viewOfBlock(c.op.BlockID)).setCalc(c.op.ID, c.data())
	c.db.changed = true
	return true
}
