package av

import (
	"time"

	"collie/internal/siyuanapi"
	"collie/internal/vault/tree"
)

// This file computes what the cells of a database show.

// maxDepth is how many relations to other databases a computed cell may follow, since relations may form cycles.
const maxDepth = 3

// sheet computes what the cells of a database show.
type sheet struct {
	dbs   *databases
	db    *database
	depth int // relations followed so far
}

func newSheet(s *databases, db *database) *sheet { return &sheet{dbs: s, db: db} }

// relatedSheet returns the sheet of the database that a relation leads to; nil if there is none, or after maxDepth
// relations.
func (s *sheet) relatedSheet(relation *column) *sheet {
	if s.depth == maxDepth {
		return nil
	}
	db := s.dbs.database(relation.Key.at("relation").str("avID"))
	if db == nil {
		return nil
	}
	o := newSheet(s.dbs, db)
	o.depth = s.depth + 1
	return o
}

// cell returns what a cell shows: the stored value, with all members of its type, or the computed one.
func (s *sheet) cell(c *column, row string) *value {
	v := untouchedOr(c, row)
	switch v.Type = c.kind(); v.Type {
	case siyuanapi.ColumnNumber:
		number := &siyuanapi.Number{}
		if v.Number != nil {
			*number = *v.Number
		}
		if number.NotEmpty {
			number.Formatted = formatNumber(number.Content, c.format(number))
		}
		v.Number = number
	case siyuanapi.ColumnTemplate:
		v.Template = &siyuanapi.Content{Content: s.execute(c, row)}
	case siyuanapi.ColumnCreated:
		v.Created = shownMoment(s.created(row))
	case siyuanapi.ColumnUpdated:
		v.Updated = shownMoment(s.updated(row))
	case siyuanapi.ColumnRelation:
		v.Relation = s.relation(c, row)
	case siyuanapi.ColumnRollup:
		v.Rollup = &valueRollup{Contents: s.rollup(c, row)}
	default:
		v.complete()
	}
	return v
}

// untouchedOr returns a copy of the stored value of a cell, or the value of an untouched one.
func untouchedOr(c *column, row string) *value {
	stored := c.stored(row)
	if stored == nil {
		return untouchedValue(c, row)
	}
	v := *stored
	v.KeyID, v.BlockID = c.id(), row
	return &v
}

// format returns the format of a number: its own or that of the column.
func (c *column) format(n *siyuanapi.Number) string {
	if n != nil && n.Format != "" {
		return n.Format
	}
	return c.Key.str("numberFormat")
}

// boundBlock returns the block that a row is bound to, "" for a detached row.
func (s *sheet) boundBlock(row string) string {
	if v := s.db.primary().stored(row); v != nil && v.Block != nil && !v.IsDetached {
		return v.Block.ID
	}
	return ""
}

// created returns when a row's block was created; for a detached row, when the row was.
func (s *sheet) created(row string) time.Time {
	if block := s.boundBlock(row); block != "" {
		return tree.IDTime(block)
	}
	return tree.IDTime(row)
}

// updated returns when a row's block was last changed; for a detached row, when the row was.
func (s *sheet) updated(row string) time.Time {
	if at := s.db.changes[s.boundBlock(row)]; !at.IsZero() {
		return at
	}
	if v := s.db.primary().stored(row); v != nil && v.Block != nil && v.Block.Updated > 0 {
		return time.UnixMilli(v.Block.Updated)
	}
	return tree.IDTime(row)
}
