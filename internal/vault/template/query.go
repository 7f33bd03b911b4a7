package template

import "strings"

// This file has the functions that read notes.

// countQuery counts a query of notes, and reports whether notes are available.
func (r *run) countQuery() (bool, error) {
	if r.queries++; r.queries > maxQueries {
		return false, errQueries
	}
	return r.notes != nil, nil
}

// Whether the rows of a query also have the field names that templates use for columns.
const withFields, withoutFields = true, false

// queryRows returns a function that runs a query. If fields is withFields, rows also have the field names that templates
// use for columns. Question marks in the statement are replaced by the arguments as text, escaped so that they cannot
// end their quotes.
func queryRows(fields bool) func(r *run, a []any) (any, error) {
	return func(r *run, a []any) (any, error) {
		statement := a[0].(string)
		var query strings.Builder
		for _, arg := range a[1:] {
			before, after, found := strings.Cut(statement, "?")
			if !found {
				break
			}
			query.WriteString(before + strings.ReplaceAll(arg.(string), "'", "''"))
			statement = after
		}
		query.WriteString(statement)
		if available, err := r.countQuery(); !available || err != nil {
			return []any{}, err
		}
		if err := r.countBytes(query.Len()); err != nil {
			return nil, err
		}
		rows, err := r.notes.Select(query.String())
		if err != nil {
			return nil, err
		}
		out := make([]any, len(rows))
		for i, row := range rows {
			values := plainDict(row)
			if fields {
				addFields(values)
			}
			out[i] = values
		}
		return out, r.countBytes(weight(out...))
	}
}

// getBlock is the function getBlock: the fields of a block by name, or nil if there is no such block.
func getBlock(r *run, a []any) (any, error) {
	id, isText := a[0].(string)
	available, err := r.countQuery()
	if !available || !isText || err != nil {
		return nil, err
	}
	row := r.notes.Block(id)
	if row == nil {
		return nil, nil //nolint:nilnil // nothing is a value of templates
	}
	values := plainDict(row)
	addFields(values)
	return values, r.countBytes(weight(values))
}

func statBlock(r *run, a []any) (any, error) {
	available, err := r.countQuery()
	if !available || err != nil {
		return nil, err
	}
	stat := r.notes.Stat(a[0].(string))
	if stat == nil {
		return nil, nil //nolint:nilnil // nothing is a value of templates
	}
	return plainDict(stat), nil
}

func getHPathByID(r *run, a []any) (any, error) {
	available, err := r.countQuery()
	if !available || err != nil {
		return "", err
	}
	path := r.notes.HPath(a[0].(string))
	return path, r.countBytes(len(path))
}

// fieldNames are the names that templates use for columns.
var fieldNames = map[string]string{
	"id": "ID", "parent_id": "ParentID", "root_id": "RootID", "hash": "Hash", "box": "Box", "path": "Path", "hpath": "HPath",
	"name": "Name", "alias": "Alias", "memo": "Memo", "tag": "Tag", "content": "Content", "fcontent": "FContent",
	"markdown": "Markdown", "length": "Length", "type": "Type", "subtype": "SubType", "ial": "IAL", "sort": "Sort",
	"created": "Created", "updated": "Updated", "block_id": "BlockID",
}

// addFields adds the values of columns to a row under the names that templates use.
func addFields(row map[string]any) {
	for column, field := range fieldNames {
		if value, exists := row[column]; exists {
			row[field] = value
		}
	}
}

// plainDict returns a dict whose values have types that templates know.
func plainDict(row map[string]any) map[string]any {
	out := make(map[string]any, len(row))
	for name, value := range row {
		switch v := value.(type) {
		case nil, string, bool, int, int64, float64:
			out[name] = v
		case []byte:
			out[name] = string(v)
		default:
			out[name] = text(v)
		}
	}
	return out
}
