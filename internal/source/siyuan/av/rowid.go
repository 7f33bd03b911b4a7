package av

import (
	"fmt"
	"slices"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// Three ids are easily mixed up: that of a row, that of the value in a cell, and that of the
// block which a row is bound to. Only the first names a row, and the kernel takes the others
// without a word and does nothing, or leaves values behind that no row has.

// The reasons why an id names no row.
const (
	rowIDRequired     = "row_id_required"
	rowIDAlias        = "row_id_alias_detected"  // it is another id of one row
	rowIDAliasMany    = "row_id_alias_ambiguous" // of several
	rowIDAmbiguous    = "row_id_ambiguous"       // several rows have it
	rowIDNotCanonical = "row_id_not_canonical"   // it is nothing in this database
)

// maxCandidates bounds the rows that an error names.
const maxCandidates = 20

// checkRow returns nil if an id is that of one visible row. param is where the id stands in the
// arguments.
func checkRow(r *action.Request, db *kernel.Database, m *mask, param string, id kernel.ID) error {
	var rows, alias, all []kernel.ID
	for i := range db.Columns {
		primary := db.Columns[i].Column.Type == kernel.ColumnBlock
		for _, v := range db.Columns[i].Values {
			if v.RowID == "" || !m.row(v.RowID) {
				continue
			}
			if primary {
				all = append(all, v.RowID)
				if v.RowID == id {
					rows = append(rows, v.RowID)
				}
			}
			bound := primary && v.Block != nil && v.Block.ID == id
			if (v.ID == id || bound) && !slices.Contains(alias, v.RowID) {
				alias = append(alias, v.RowID)
			}
		}
	}
	switch {
	case id == "":
		return rowError(r, db, param, rowIDRequired, "is required", all)
	case len(rows) == 1:
		return nil
	case len(rows) > 1:
		return rowError(r, db, param, rowIDAmbiguous, fmt.Sprintf("%q is the id of several rows", id), nil)
	case len(alias) == 1:
		e := rowError(r, db, param, rowIDAlias, fmt.Sprintf("%q is the id of a bound block or of a cell's value, the row is %q", id, alias[0]), alias)
		e.Facts["suggestedRowID"] = alias[0]
		return e
	case len(alias) > 1:
		return rowError(r, db, param, rowIDAliasMany, fmt.Sprintf("%q is not a row id, and belongs to several rows", id), alias)
	}
	return rowError(r, db, param, rowIDNotCanonical, fmt.Sprintf("%q is not a row of this database", id), all)
}

func rowError(r *action.Request, db *kernel.Database, param, reason, message string, candidates []kernel.ID) *tool.Error {
	e := r.Invalid(param, message)
	e.Code = reason
	e.Facts = map[string]any{"reason": reason}
	if len(candidates) > 0 {
		e.Facts["candidateRowIDs"] = candidates[:min(len(candidates), maxCandidates)]
	}
	e.Hint = fmt.Sprintf(`av(action="get_primary_key_values", avID=%q) lists the rows with their ids`, db.ID)
	return e
}
