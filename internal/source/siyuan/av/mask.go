package av

import (
	"context"

	"collie/internal/puretemplate"
	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// A row may be bound to a block of any notebook, whose text it shows. If a notebook may not be read, rows bound to its
// blocks are hidden: in their own database, in relation cells of other databases, and in values computed from these.

// mask holds what is hidden from a caller in a database. A nil mask hides nothing.
type mask struct {
	// ids are the ids of hidden rows, with their values and blocks, in this database and in related ones.
	ids map[kernel.ID]bool
	// rows are the visible rows of the same databases; nil if unknown. A row that is neither in ids nor in rows was
	// created after the mask, so it is unknown whether it may be shown.
	rows map[kernel.ID]bool
	// cells are cells of visible rows that show hidden data, by row and column.
	cells map[kernel.ID]map[kernel.ID]bool
	// copied are blocks whose text contains text of unreadable blocks. Rows bound to them show that text.
	copied map[kernel.ID]bool
	// databases are databases that may not be named.
	databases map[kernel.ID]bool
	hidden    int // number of hidden rows in this database
}

// maskOf determines what is hidden from the caller in a database.
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
	for _, template := range []bool{false, true} { // templates come last, because they can show the others
		for i := range db.Columns {
			if c := &db.Columns[i].Column; (c.Type == siyuanapi.ColumnTemplate) == template {
				m.hideComputed(db, c, related)
			}
		}
	}
	return m, nil
}

// hideRows hides the rows of a database that are bound to unreadable blocks, with all values that do not belong to a
// visible row.
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
		if b := v.Block; b != nil && b.ID != "" && redactor.HidesBlock(b.ID) {
			m.copied[b.ID], m.copied[v.RowID] = true, true
			m.hideCell(v.RowID, v.ColumnID)
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

// hideRelated hides what a relation column shows of another database. It returns that database, or nil if it may not be
// read at all.
func (m *mask) hideRelated(ctx context.Context, r *action.Request, c *kernel.DatabaseColumn) (*kernel.Database, error) {
	id := c.Column.Relation.Database
	ok, err := isReadable(ctx, r, id)
	if err != nil {
		return nil, err
	}
	var related *kernel.Database
	if ok {
		if related, err = loadDatabase(ctx, r, id); err != nil {
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
				m.hideCell(v.RowID, c.Column.ID)
			}
		}
	}
	return related, nil
}

// hideComputed hides cells whose values are computed from hidden data.
func (m *mask) hideComputed(db *kernel.Database, c *kernel.Column, related map[kernel.ID]*kernel.Database) {
	rows := db.Primary()
	switch {
	case c.Type == siyuanapi.ColumnTemplate:
		mayReadOthers := puretemplate.Judge(puretemplate.Column, c.Template) != nil // the template may read more than its own row
		for i := range rows {
			if mayReadOthers || m.hasHiddenCell(rows[i].RowID) {
				m.hideCell(rows[i].RowID, c.ID)
			}
		}
	case c.Rollup != nil:
		relatedDB := related[c.Rollup.RelationColumn]
		if relatedDB == nil && c.Rollup.Column != "" && db.Column(c.Rollup.Column) == nil {
			m.ids[c.Rollup.Column] = true // column of an unreadable database
		}
		for i := range rows {
			if relatedDB == nil || isDerived(relatedDB, c.Rollup.Column) || m.cells[rows[i].RowID][c.Rollup.RelationColumn] {
				m.hideCell(rows[i].RowID, c.ID)
			}
		}
	}
}

// hideCell hides a cell.
func (m *mask) hideCell(row, column kernel.ID) {
	if m.cells[row] == nil {
		m.cells[row] = map[kernel.ID]bool{}
	}
	m.cells[row][column] = true
}

// hasHiddenCell reports whether a row has a cell with hidden data.
func (m *mask) hasHiddenCell(row kernel.ID) bool { return len(m.cells[row]) > 0 }

// isDerived reports whether a column may show data of yet another database.
func isDerived(db *kernel.Database, column kernel.ID) bool {
	c := db.Column(column)
	return c == nil || c.Column.Type == siyuanapi.ColumnRelation || c.Column.Type == siyuanapi.ColumnRollup || c.Column.Type == siyuanapi.ColumnTemplate
}

// boundTo returns the blocks to which rows are bound.
func boundTo(primary []kernel.Value) []kernel.ID {
	var ids []kernel.ID
	for i := range primary {
		if b := primary[i].Block; b != nil && b.ID != "" {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// isVisibleRow reports whether a row of the database may be shown.
func (m *mask) isVisibleRow(id kernel.ID) bool { return m == nil || !m.ids[id] }
