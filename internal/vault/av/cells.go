package av

import (
	"slices"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/tree"
)

// This file writes cells, and what follows in related rows and blocks.

// computedTypes are the types of columns whose cells are computed and never stored.
var computedTypes = []string{siyuanapi.ColumnTemplate, siyuanapi.ColumnCreated, siyuanapi.ColumnUpdated, siyuanapi.ColumnRollup, siyuanapi.ColumnLineNumber}

// setCell merges data into the value of a cell. An unknown column changes nothing; data of the wrong form is an error.
// Neither the row nor the type in data is checked, so a cell for numbers may get a text. The value is stored with the
// type of its column, so that it is read back as what the column shows. Cells that are computed, and the primary cell
// of a row that does not exist, are not stored.
func (s *databases) setCell(db *database, id, row string, data []byte) error {
	c := db.column(id)
	if c == nil {
		return nil
	}
	now := time.Now().UnixMilli()
	stored := c.cell(row)
	v := &value{ID: s.tx.NewID(), KeyID: id, BlockID: row, Type: c.kind(), CreatedAt: now}
	if stored != nil && row != "" {
		current := *stored.get()
		v = &current
	} else {
		stored = nil
	}
	before := *v
	if err := v.merge(data); err != nil {
		return err
	}
	v.UpdatedAt, v.Type = now, c.kind()
	s.normalize(db, c, &before, v)
	if slices.Contains(computedTypes, c.kind()) || c.kind() == siyuanapi.ColumnBlock && stored == nil {
		return nil
	}
	if stored == nil {
		c.add(v)
	} else {
		stored.set(v)
	}
	c.learnOptions(v)
	db.touchRow(row, now)
	return nil
}

// normalize makes a new value v of a cell consistent, and updates the related rows and blocks. before is the old value.
func (s *databases) normalize(db *database, c *column, before, v *value) {
	if v.Number != nil {
		n := *v.Number
		n.Formatted = ""
		if n.NotEmpty {
			n.Formatted = formatNumber(n.Content, c.format(&n))
		} else {
			n.Content = 0
		}
		v.Number = &n
	}
	if v.Date != nil && !v.Date.NotEmpty {
		date := *v.Date
		date.Content = 0
		v.Date = &date
	}
	if c.kind() == siyuanapi.ColumnSelect && len(v.MSelect) > 1 {
		v.MSelect = v.MSelect[:1]
	}
	v.Rollup = nil // it is computed; stored, it could be nested without end
	v.MSelect = slices.DeleteFunc(v.MSelect, func(o siyuanapi.Option) bool { return o.Content == "" })
	if v.Relation != nil {
		v.Relation.Contents = nil
		if c.kind() == siyuanapi.ColumnRelation {
			s.mirrorRelation(c, v.BlockID, before.related(), v.related())
		}
	}
	if c.kind() == siyuanapi.ColumnBlock {
		s.rebind(db, before, v)
	}
}

// related returns the rows that a relation cell has, none for other values.
func (v *value) related() []string {
	if v.Relation == nil {
		return nil
	}
	return v.Relation.BlockIDs
}

// touchRow sets when a row was last changed, to now in Unix milliseconds.
func (db *database) touchRow(row string, now int64) {
	db.changed = true
	primary := db.primary().cell(row)
	if primary == nil || row == "" {
		return
	}
	v := *primary.get()
	v.UpdatedAt = now
	if v.Block != nil {
		block := *v.Block
		block.Updated = now
		v.Block = &block
	}
	primary.set(&v)
}

// rebind updates the memberships of blocks when the primary value of a row gets bound to another block. If that block
// does not exist, or is a row of the database already, the binding does not change.
func (s *databases) rebind(db *database, before, v *value) {
	if v.Block == nil {
		v.Block = &valueBlock{}
	}
	if v.IsDetached {
		v.Block.ID = ""
	}
	oldID := ""
	if before.Block != nil {
		oldID = before.Block.ID
	}
	if v.Block.ID == oldID {
		return
	}
	if b := s.tx.Block(v.Block.ID); b != nil && db.rowOf(v.Block.ID) == "" {
		addMembership(b, db.id)
		v.Block.Content, v.IsDetached = rowText(b), false
	} else if v.Block.ID != "" {
		v.Block.ID, v.IsDetached = oldID, before.IsDetached
		return
	}
	if b := s.tx.Block(oldID); tree.ValidID(oldID) && b != nil {
		removeMembership(b, db.id)
	}
}
