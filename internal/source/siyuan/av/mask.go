package av

import (
	"context"

	"collie/internal/puretemplate"
	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// A row may be bound to a block of any notebook, and shows its text. So where some notebook may
// not be read, the rows bound to its blocks are not there: not in their own database,
// not in relation cells of others, not in what is computed from these.

// mask says what of a database is not there for a caller. A nil one hides nothing.
type mask struct {
	// ids are those of hidden rows, their values and blocks, of this database and of those that
	// it has relations to.
	ids map[kernel.ID]bool
	// rows are the visible ones of the same databases; nil where nobody has looked. A row that is
	// in neither was made a moment ago, and nobody knows whose it is.
	rows map[kernel.ID]bool
	// cells of visible rows that show hidden ones, by row and column.
	cells map[kernel.ID]map[kernel.ID]bool
	// copied are blocks whose texts, which rows have for theirs, show what may not be read.
	copied map[kernel.ID]bool
	// databases that may not be named.
	databases map[kernel.ID]bool
	hidden    int // rows of this database
}

// maskOf finds what of a database a caller may not see.
func maskOf(ctx context.Context, r *action.Request, db *kernel.Database) (*mask, error) {
	restricted, err := r.Levels.Restricted(ctx)
	if err != nil || !restricted {
		return nil, err
	}
	m := &mask{ids: map[kernel.ID]bool{}, rows: map[kernel.ID]bool{}, cells: map[kernel.ID]map[kernel.ID]bool{}, copied: map[kernel.ID]bool{}, databases: map[kernel.ID]bool{}}
	if m.hidden, err = m.hideRows(ctx, r, db); err != nil {
		return nil, err
	}
	related := map[kernel.ID]*kernel.Database{} // by column
	for i := range db.Columns {
		c := &db.Columns[i]
		if c.Column.Relation == nil || c.Column.Relation.Database == "" {
			continue
		}
		if related[c.Column.ID], err = m.hideRelated(ctx, r, c); err != nil {
			return nil, err
		}
	}
	for _, template := range []bool{false, true} { // templates show what the others hold
		for i := range db.Columns {
			if c := &db.Columns[i].Column; (c.Type == siyuanapi.ColumnTemplate) == template {
				m.hideComputed(db, c, related)
			}
		}
	}
	return m, nil
}

// hideRows hides the rows of a database that are bound to what may not be read, with all values
// that belong to no visible row.
func (m *mask) hideRows(ctx context.Context, r *action.Request, db *kernel.Database) (hidden int, err error) {
	primary := db.Primary()
	places, err := r.Places(ctx, boundTo(primary))
	if err != nil {
		return 0, err
	}
	redactor, err := content.NewBlockRedactor(ctx, r, boundTo(primary))
	if err != nil {
		return 0, err
	}
	for i := range primary {
		v := &primary[i]
		if b := v.Block; b != nil && b.ID != "" && !r.Readable(places[b.ID].Notebook) {
			m.ids[v.RowID], m.ids[v.ID], m.ids[b.ID] = true, true, true
			hidden++
			continue
		}
		m.rows[v.RowID] = true
		if b := v.Block; b != nil && b.ID != "" && redactor.Hides(b.ID) {
			m.copied[b.ID], m.copied[v.RowID] = true, true
			m.hide(v.RowID, v.ColumnID)
		}
	}
	for i := range db.Columns {
		for _, v := range db.Columns[i].Values {
			if !m.rows[v.RowID] && v.RowID != "" {
				m.ids[v.RowID], m.ids[v.ID] = true, true
			}
		}
	}
	return hidden, nil
}

// hideRelated hides what a relation column shows of another database, which it returns unless that
// may not be read at all.
func (m *mask) hideRelated(ctx context.Context, r *action.Request, c *kernel.DatabaseColumn) (*kernel.Database, error) {
	id := c.Column.Relation.Database
	ok, err := isReadable(ctx, r, id)
	if err != nil {
		return nil, err
	}
	var related *kernel.Database
	if ok {
		if related, err = load(ctx, r, id); err != nil {
			return nil, err
		}
		if _, err := m.hideRows(ctx, r, related); err != nil {
			return nil, err
		}
	} else {
		m.databases[id] = true
	}
	exists := map[kernel.ID]bool{}
	if related != nil {
		for _, p := range related.Primary() {
			exists[p.RowID] = true
		}
	}
	for _, v := range c.Values {
		if v.Relation == nil {
			continue
		}
		for _, row := range v.Relation.RowIDs {
			if !exists[row] {
				m.ids[row] = true
			}
			if m.ids[row] || m.copied[row] {
				m.hide(v.RowID, c.Column.ID)
			}
		}
	}
	return related, nil
}

// hideComputed hides cells whose values are made of what is hidden.
func (m *mask) hideComputed(db *kernel.Database, c *kernel.Column, related map[kernel.ID]*kernel.Database) {
	rows := db.Primary()
	switch {
	case c.Type == siyuanapi.ColumnTemplate:
		reads := puretemplate.Judge(puretemplate.Column, c.Template) != nil // other things than the row, or it may
		for i := range rows {
			if reads || m.hasHiddenCell(rows[i].RowID) {
				m.hide(rows[i].RowID, c.ID)
			}
		}
	case c.Rollup != nil:
		relatedDB := related[c.Rollup.RelationColumn]
		if relatedDB == nil && c.Rollup.Column != "" && db.Column(c.Rollup.Column) == nil {
			m.ids[c.Rollup.Column] = true // a column of what may not be read
		}
		for i := range rows {
			if relatedDB == nil || isDerived(relatedDB, c.Rollup.Column) || m.cells[rows[i].RowID][c.Rollup.RelationColumn] {
				m.hide(rows[i].RowID, c.ID)
			}
		}
	}
}

// hide hides a cell.
func (m *mask) hide(row, column kernel.ID) {
	if m.cells[row] == nil {
		m.cells[row] = map[kernel.ID]bool{}
	}
	m.cells[row][column] = true
}

// hasHiddenCell reports whether a row has a cell that shows what is hidden.
func (m *mask) hasHiddenCell(row kernel.ID) bool { return len(m.cells[row]) > 0 }

// isDerived reports whether a column shows things of yet another database, or may.
func isDerived(db *kernel.Database, column kernel.ID) bool {
	c := db.Column(column)
	return c == nil || c.Column.Type == siyuanapi.ColumnRelation || c.Column.Type == siyuanapi.ColumnRollup || c.Column.Type == siyuanapi.ColumnTemplate
}

// boundTo returns the blocks that rows are bound to.
func boundTo(primary []kernel.Value) []kernel.ID {
	var ids []kernel.ID
	for i := range primary {
		if b := primary[i].Block; b != nil && b.ID != "" {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// isVisible reports whether a row of the database is there.
func (m *mask) isVisible(id kernel.ID) bool { return m == nil || !m.ids[id] }
