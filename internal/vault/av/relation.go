package av

import (
	"slices"

	"collie/internal/siyuanapi"
	"collie/internal/vault/tree"
)

// relation returns what a relation cell shows: the related rows that exist, with their primary values.
func (s *sheet) relation(c *column, row string) *valueRelation {
	r := &valueRelation{}
	v := c.stored(row)
	if v == nil || v.Relation == nil {
		return r
	}
	other := s.other(c)
	if other == nil {
		r.BlockIDs = v.Relation.BlockIDs
		return r
	}
	primary := other.db.primary()
	for _, id := range v.Relation.BlockIDs {
		if other.db.has(id) {
			r.BlockIDs = append(r.BlockIDs, id)
			r.Contents = append(r.Contents, other.cell(primary, id))
		}
	}
	return r
}

// rollup gathers the values that the related rows have in a column, or calculates with them; nil for none.
func (s *sheet) rollup(c *column, row string) []*value {
	how := c.Key.at("rollup")
	relation := s.db.column(how.str("relationKeyID"))
	if relation == nil || relation.kind() != siyuanapi.ColumnRelation {
		return nil
	}
	other := s.other(relation)
	if other == nil {
		return nil
	}
	from := other.db.column(how.str("keyID"))
	if from == nil {
		return nil
	}
	var values []*value
	if v := relation.stored(row); v != nil && v.Relation != nil {
		for _, id := range v.Relation.BlockIDs {
			if other.db.has(id) {
				values = append(values, other.cell(from, id))
			}
		}
	}
	operator := how.at("calc").str("operator")
	if operator == "Unique values" {
		return unique(values)
	}
	if one := calculate(operator, values, from.Key.str("numberFormat")); one != nil {
		return []*value{one}
	}
	return values
}

// relate notes in the other database of a two way relation that a row's related rows are now others.
func (s *databases) relate(c *column, row string, before, after []string) {
	other, back := s.back(c)
	if back == nil {
		return
	}
	for _, id := range before {
		if !slices.Contains(after, id) {
			other.changeRelated(back, id, func(rows []string) []string {
				return slices.DeleteFunc(rows, func(one string) bool { return one == row })
			})
		}
	}
	for _, id := range after {
		if !slices.Contains(before, id) && other.has(id) {
			other.changeRelated(back, id, func(rows []string) []string {
				if slices.Contains(rows, row) {
					return rows
				}
				return append(rows, row)
			})
		}
	}
}

// back returns the other end of a two way relation, nil for other columns and where it is missing.
func (s *databases) back(c *column) (*database, *column) {
	how := c.Key.at("relation")
	if c.kind() != siyuanapi.ColumnRelation || !how.flag("isTwoWay") {
		return nil, nil
	}
	other := s.database(how.str("avID"))
	if other == nil {
		return nil, nil
	}
	back := other.column(how.str("backKeyID"))
	if back == nil || back.kind() != siyuanapi.ColumnRelation || back == c {
		return nil, nil
	}
	return other, back
}

// link changes the related rows of a cell.
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

// aim is where a relation column is to lead.
type relationTarget struct {
	database string
	twoWay   bool
	back     string // the column at the other end, which is made
	backName string
}

// setRelation lets a relation column lead to a database. The other end of a two way relation it had becomes an ordinary
// relation.
func (s *databases) setRelation(db *database, c *column, to relationTarget) {
	other := s.database(to.database)
	if c.kind() != siyuanapi.ColumnRelation || other == nil {
		return
	}
	if _, old := s.back(c); old != nil && old.id() != to.back {
		old.Key["relation"] = object{"avID": db.id, "isTwoWay": false, "backKeyID": ""}
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
	if back := other.column(to.back); back == nil {
		name := to.backName
		if name == "" {
			name = c.name()
		}
		other.appendColumn(newColumn(to.back, name, siyuanapi.ColumnRelation, ""))
	}
	if back := other.column(to.back); back.kind() == siyuanapi.ColumnRelation && back != c {
		back.Key["relation"] = object{"avID": db.id, "isTwoWay": true, "backKeyID": c.id()}
		other.changed = true
	}
	for _, held := range c.cells {
		if v := held.get(); v.Relation != nil && tree.ValidID(held.row) {
			s.relate(c, held.row, nil, v.Relation.BlockIDs)
		}
	}
}
