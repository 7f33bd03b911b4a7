package av

import (
	"slices"

	"collie/internal/siyuanapi"
	"collie/internal/vault/tree"
)

// This file computes relations between databases, and keeps both ends of two-way relations equal.

// relation returns the value of a relation cell: the related rows that exist, with their primary values. Where the related
// database does not exist, it is the ids that are stored.
func (s *sheet) relation(c *column, row string) *valueRelation {
	r := &valueRelation{}
	v := c.stored(row)
	if v == nil || v.Relation == nil {
		return r
	}
	related := s.relatedSheet(c)
	if related == nil {
		r.BlockIDs = v.Relation.BlockIDs
		return r
	}
	primary := related.db.primary()
	for _, id := range v.Relation.BlockIDs {
		if related.db.hasRow(id) {
			r.BlockIDs = append(r.BlockIDs, id)
			r.Contents = append(r.Contents, related.cell(primary, id))
		}
	}
	return r
}

// rollup returns the values of a column in the related rows, or the result of a calculation over them; nil for none.
func (s *sheet) rollup(c *column, row string) []*value {
	settings := c.Key.at("rollup")
	relation := s.db.column(settings.str("relationKeyID"))
	if relation == nil || relation.kind() != siyuanapi.ColumnRelation {
		return nil
	}
	related := s.relatedSheet(relation)
	if related == nil {
		return nil
	}
	from := related.db.column(settings.str("keyID"))
	if from == nil {
		return nil
	}
	var values []*value
	if v := relation.stored(row); v != nil && v.Relation != nil {
		for _, id := range v.Relation.BlockIDs {
			if related.db.hasRow(id) {
				values = append(values, related.cell(from, id))
			}
		}
	}
	operator := settings.at("calc").str("operator")
	if operator == "Unique values" {
		return unique(values)
	}
	if one := calculate(operator, values, from.Key.str("numberFormat")); one != nil {
		return []*value{one}
	}
	return values
}

// mirrorRelation updates the back column of a two-way relation after the related rows of row changed from before to
// after.
func (s *databases) mirrorRelation(c *column, row string, before, after []string) {
	related, backColumn := s.otherEnd(c)
	if backColumn == nil {
		return
	}
	for _, id := range before {
		if !slices.Contains(after, id) {
			related.changeRelated(backColumn, id, func(rows []string) []string {
				return slices.DeleteFunc(rows, func(one string) bool { return one == row })
			})
		}
	}
	for _, id := range after {
		if !slices.Contains(before, id) && related.hasRow(id) {
			related.changeRelated(backColumn, id, func(rows []string) []string {
				if slices.Contains(rows, row) {
					return rows
				}
				return append(rows, row)
			})
		}
	}
}

// otherEnd returns the back column of a two-way relation and its database; nil for other columns, and if it does not
// exist.
func (s *databases) otherEnd(c *column) (*database, *column) {
	settings := c.Key.at("relation")
	if c.kind() != siyuanapi.ColumnRelation || !settings.flag("isTwoWay") {
		return nil, nil
	}
	related := s.database(settings.str("avID"))
	if related == nil {
		return nil, nil
	}
	backColumn := related.column(settings.str("backKeyID"))
	if backColumn == nil || backColumn.kind() != siyuanapi.ColumnRelation || backColumn == c {
		return nil, nil
	}
	return related, backColumn
}

// changeRelated replaces the related rows in a cell of a relation column, which it creates if nothing is stored there.
func (db *database) changeRelated(c *column, row string, change func([]string) []string) {
	stored := c.cell(row)
	v := untouchedOr(c, row)
	var rows []string
	if v.Relation != nil {
		rows = slices.Clone(v.Relation.BlockIDs)
	}
	v.Type, v.Relation = siyuanapi.ColumnRelation, &valueRelation{BlockIDs: change(rows)}
	if stored == nil {
		c.add(v)
	} else {
		stored.set(v)
	}
	db.changed = true
}

// relationTarget is the new target of a relation column.
type relationTarget struct {
	database string
	twoWay   bool
	back     string // id of the back column, which is created if need be
	backName string
}

// setRelation makes a relation column lead to another database. If it was a two-way relation, its former back column
// becomes an ordinary relation.
func (s *databases) setRelation(db *database, c *column, to relationTarget) {
	related := s.database(to.database)
	if c.kind() != siyuanapi.ColumnRelation || related == nil {
		return
	}
	if _, backColumn := s.otherEnd(c); backColumn != nil && backColumn.id() != to.back {
		backColumn.Key["relation"] = object{"avID": db.id, "isTwoWay": false, "backKeyID": ""}
		s.database(c.Key.at("relation").str("avID")).changed = true
	}
	if to.back == "" {
		to.twoWay = false
	}
	c.Key["relation"] = object{"avID": to.database, "isTwoWay": to.twoWay, "backKeyID": to.back}
	db.changed = true
	if !to.twoWay {
		c.Key.at("relation")["backKeyID"] = ""
		return
	}
	if backColumn := related.column(to.back); backColumn == nil {
		name := to.backName
		if name == "" {
			name = c.name()
		}
		related.appendColumn(newColumn(to.back, name, siyuanapi.ColumnRelation, ""))
	}
	if backColumn := related.column(to.back); backColumn.kind() == siyuanapi.ColumnRelation && backColumn != c {
		backColumn.Key["relation"] = object{"avID": db.id, "isTwoWay": true, "backKeyID": c.id()}
		related.changed = true
	}
	for _, rowCell := range c.cells {
		if v := rowCell.get(); v.Relation != nil && tree.ValidID(rowCell.row) {
			s.mirrorRelation(c, rowCell.row, nil, v.Relation.BlockIDs)
		}
	}
}
