package av

import (
	"slices"
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/tree"
)

// computedTypes are the types of columns whose cells hold nothing.
var computedTypes = []string{siyuanapi.ColumnTemplate, siyuanapi.ColumnCreated, siyuanapi.ColumnUpdated, siyuanapi.ColumnRollup, siyuanapi.ColumnLineNumber}

// setCell merges data into the value of a cell; an unknown column changes nothing, data of another form is an error.
// Neither the row nor the type in data is checked, and a text may come into a cell of numbers. What is stored keeps the
// type of its column, so that it can be read back as what the column shows; a cell that is computed, and the name of a
// row that is not there, are not stored at all.
func (s *databases) setCell(db *database, id, row string, data []byte) error {
	c := db.column(id)
	if c == nil {
		return nil
	}
	now := time.Now().UnixMilli()
	stored := c.cell(row)
	v := &value{ID: s.tx.NewID(), KeyID: id, BlockID: row, Type: c.kind(), CreatedAt: now}
	if stored != nil && row != "" {
		old := *stored.get()
		v = &old
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

// normalize makes a new value consistent in itself and with what it leads to.
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
	v.Rollup = nil // is computed, and could be nested without end
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

func (v *value) related() []string {
	if v.Relation == nil {
		return nil
	}
	return v.Relation.BlockIDs
}

// touchRow notes that a row was changed.
func (db *database) touchRow(row string, now int64) {
	db.changed = true
	held := db.primary().cell(row)
	if held == nil || row == "" {
		return
	}
	v := *held.get()
	v.UpdatedAt = now
	if v.Block != nil {
		block := *v.Block
		block.Updated = now
		v.Block = &block
	}
	held.set(&v)
}

// rebind updates the blocks when the primary value of a row is bound to another block. It does not bind a block that
// does not exist or is already a row of the database.
func (s *databases) rebind(db *database, before, v *value) {
	if v.Block == nil {
		v.Block = &valueBlock{}
	}
	if v.IsDetached {
		v.Block.ID = ""
	}
	old := ""
	if before.Block != nil {
		old = before.Block.ID
	}
	if v.Block.ID == old {
		return
	}
	if b := s.tx.Block(v.Block.ID); b != nil && db.rowOf(v.Block.ID) == "" {
		addMembership(b, db.id)
		v.Block.Content, v.IsDetached = textOf(b), false
	} else if v.Block.ID != "" {
		v.Block.ID, v.IsDetached = old, before.IsDetached
		return
	}
	if b := s.tx.Block(old); tree.ValidID(old) && b != nil {
		removeMembership(b, db.id)
	}
}
