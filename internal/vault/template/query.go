package template

import "strings"

// queryBlocks puts the arguments in place of the question marks of a statement, as texts that cannot end the quotes
// around them, and asks for blocks.
func queryBlocks(r *run, a []any) (any, error) {
	if r.queries++; r.queries > maxQueries {
		return nil, errQueries
	}
	statement := a[0].(string)
	var filled strings.Builder
	for _, arg := range a[1:] {
		before, after, found := strings.Cut(statement, "?")
		if !found {
			break
		}
		filled.WriteString(before + strings.ReplaceAll(arg.(string), "'", "''"))
		statement = after
	}
	filled.WriteString(statement)
	if err := r.make(filled.Len()); err != nil || r.query == nil {
		return []any{}, err
	}
	rows, err := r.query(filled.String())
	if err != nil {
		return nil, err
	}
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = plain(row)
	}
	return out, r.make(weight(out...))
}

// plain is a dict with values of the types that templates have.
func plain(row map[string]any) map[string]any {
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
