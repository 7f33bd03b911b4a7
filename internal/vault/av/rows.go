package av

import (
	"slices"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
)

// This file adds and removes rows.

// rowsToAdd says which rows to add, and where.
type rowsToAdd struct {
	// sources are blocks, or the texts of detached rows.
	sources []api.Request
	// previous is the row after which to add them, "" to add them first.
	previous string
	// view is the view in which they are added. They get the values that its filter asks for, unless withoutPreset is
	// set.
	view          view
	withoutPreset bool
	// group is the group of the view to which they are added, "" for none.
	group string
}

// addRows adds rows in the order of their sources. Blocks that do not exist or are rows already are left out.
func (s *databases) addRows(db *database, a rowsToAdd) {
	bound := map[string]bool{}
	for _, c := range db.primary().cells {
		bound[c.block()] = true
	}
	var values []*value
	added := map[string]bool{}
	for _, src := range a.sources {
		v := s.newRow(db, src, bound)
		if v != nil && !added[v.BlockID] && !db.hasRow(v.BlockID) {
			added[v.BlockID] = true
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return
	}
	var rows []string
	for _, v := range values {
		rows = append(rows, v.BlockID)
		if v.Block.ID != "" {
			addMembership(s.tx.Block(v.Block.ID), db.id)
		}
	}
	for _, v := range slices.Backward(values) { // SiYuan puts each before the others and so creates the last one first
		db.primary().add(v)
	}
	db.placeRows(rows, a.previous)
	if !a.withoutPreset {
		for _, row := range rows {
			s.presetRow(db, a, row)
		}
	}
	db.changed = true
}

// newRow returns the primary value of a new row, nil if its source is not a block that can be bound.
func (s *databases) newRow(db *database, src api.Request, bound map[string]bool) *value {
	now := time.Now().UnixMilli()
	v := &value{
		ID: s.tx.NewID(), KeyID: db.primary().id(), BlockID: src.OptStr("itemID"), Type: siyuanapi.ColumnBlock, CreatedAt: now, UpdatedAt: now,
		IsDetached: src.OptFlag("isDetached", false), Block: &valueBlock{Content: src.OptStr("content"), Created: now, Updated: now},
	}
	if !tree.ValidID(v.BlockID) {
		v.BlockID = s.tx.NewID()
	}
	if v.IsDetached {
		return v
	}
	b := s.tx.Block(src.OptStr("id"))
	if b == nil || bound[b.ID] {
		return nil
	}
	bound[b.ID] = true
	v.Block.ID, v.Block.Content = b.ID, rowText(b)
	return v
}

// placeRows inserts rows into each view after the row previous, or first.
func (db *database) placeRows(rows []string, previous string) {
	for _, v := range db.views {
		items := v.list("itemIds")
		at := slices.IndexFunc(items, func(item any) bool { return previous != "" && item == previous })
		v["itemIds"] = slices.Insert(items, at+1, anys(rows)...)
	}
}

// presetRow gives a new row the values that the filter of the view and the group ask for.
func (s *databases) presetRow(db *database, a rowsToAdd, row string) {
	root := asObject(db.filters(a.view)[0])
	if root.str("combination") != "or" {
		for _, condition := range root.objects("filters") {
			switch operator := condition.str("operator"); {
			case isGroup(condition):
			case operator == "=" || operator == "Contains":
				if c := db.column(condition.str("column")); c != nil {
					db.presetCell(c.id(), row, operand(condition, c.kind()))
				}
			case operator == "Is true":
				db.presetCell(condition.str("column"), row, &value{Checkbox: &siyuanapi.Checkbox{Checked: true}})
			}
		}
	}
	for _, o := range a.view.objects("groups") {
		if v := groupValue(o); a.group != "" && o.str("id") == a.group && !(&group{value: v}).isFallback() {
			db.presetCell(a.view.at("group").str("field"), row, v)
		}
	}
}

// presetCell sets the value of a cell that nobody has touched, except in primary, relation and computed columns.
func (db *database) presetCell(id, row string, preset *value) {
	c := db.column(id)
	if c == nil || preset == nil || preset.isBlank() && preset.Checkbox == nil || c.cell(row) != nil ||
		c.kind() == siyuanapi.ColumnBlock || c.kind() == siyuanapi.ColumnRelation || slices.Contains(computedTypes, c.kind()) {
		return
	}
	v := untouchedValue(c, row)
	if v.merge(preset.encode()) != nil {
		return
	}
	v.Type = c.kind()
	c.add(v)
	c.learnOptions(v)
}

// removeRows removes rows by their ids. The id of a block to which a row is bound has no effect.
func (s *databases) removeRows(db *database, rows []string) {
	removed := setOf(rows)
	delete(removed, "")
	for row := range removed {
		if v := db.primary().stored(row); v != nil && v.Block != nil && v.Block.ID != "" {
			if b := s.tx.Block(v.Block.ID); b != nil {
				removeMembership(b, db.id)
			}
		}
		for _, c := range db.columns {
			if v := c.stored(row); c.kind() == siyuanapi.ColumnRelation && v != nil {
				s.mirrorRelation(c, row, v.related(), nil)
			}
		}
	}
	for _, c := range db.columns {
		c.dropCells(removed)
	}
	for _, v := range db.views {
		dropRows(v, "itemIds", removed)
		for _, g := range v.objects("groups") {
			dropRows(g, "groupItemIds", removed)
		}
	}
	db.changed = true
}

// dropRows removes rows from the list at a key of o.
func dropRows(o object, key string, removed map[string]bool) {
	if list := o.list(key); list != nil {
		o[key] = slices.DeleteFunc(list, func(item any) bool { row, _ := item.(string); return removed[row] })
	}
}
