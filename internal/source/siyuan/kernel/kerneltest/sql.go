package kerneltest

import (
	"database/sql"
	"regexp"
	"slices"
	"strings"
)

// sqlFamily answers SQL and the flush.
func sqlFamily(k *Kernel) {
	k.handle("/api/query/sql", querySQL)
	k.handle("/api/sqlite/flushTransaction", func(k *Kernel, _ request) reply {
		k.settle()
		k.touch()
		if k.index.delayed {
			k.refresh()
		} else { // the next question does the rest
			k.refreshAnchors()
		}
		return done()
	})
}

// defaultLimit is conf.search.limit, which cuts a result without a LIMIT of its own.
const defaultLimit = 64

func querySQL(k *Kernel, req request) reply {
	statement := strings.TrimSpace(req.needText("stmt"))
	mode := req.optStr("mode")
	switch mode {
	case "", "readonly", "multiple":
	default:
		return fail(-1, "unknown [mode]")
	}
	if !k.index.delayed {
		k.refresh()
	}
	parts := splitSQL(statement)
	if len(parts) == 0 {
		return done()
	}
	if mode != "multiple" && len(parts) > 1 {
		return fail(-1, "SQL statement is not single")
	}
	if mode == "readonly" && !firstWordIn(parts[0], "select", "with") {
		return fail(-1, "SQL statement is not a read-only query")
	}
	data, err := k.index.query(parts[0])
	if name := unknownColumn(err); name != "" {
		// The kernel writes names back in quotes, and SQLite takes an unknown name in quotes for a text.
		quoted := regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(name)+`\b`).ReplaceAllString(parts[0], `"`+name+`"`)
		data, err = k.index.query(quoted)
		for _, row := range data {
			if value, held := row[name]; held {
				delete(row, name)
				row[`"`+name+`"`] = value
			}
		}
	}
	if err != nil {
		return fail(1, sqlError(err))
	}
	if data == nil {
		return done()
	}
	return ok(data)
}

// query runs one statement and rolls back what it changes. Rows are nil for a statement without a result set.
func (x *index) query(statement string) ([]map[string]any, error) {
	if err := x.fillText(statement); err != nil {
		return nil, err
	}
	tx, err := x.open().Begin()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	if !firstWordIn(statement, "select", "with", "pragma", "explain", "values") {
		_, err := tx.Exec(statement)
		return nil, err
	}
	limit := defaultLimit
	if hasLimit(statement) || !firstWordIn(statement, "select", "with") {
		limit = -1
	}
	rows, err := tx.Query(statement)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	return scan(rows, limit)
}

func scan(rows *sql.Rows, limit int) ([]map[string]any, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	found := []map[string]any{}
	for rows.Next() && len(found) != limit {
		values := make([]any, len(names))
		targets := make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		row := map[string]any{}
		for i, name := range names {
			row[name] = values[i]
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

var (
	missingColumn = regexp.MustCompile(`no such column: ([A-Za-z_]\w*)`)
	driverError   = regexp.MustCompile(`^SQL logic error: (.*) \(\d+\)$`)
)

func unknownColumn(err error) string {
	if err == nil {
		return ""
	}
	if m := missingColumn.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

// sqlError takes the driver's frame off SQLite's text.
func sqlError(err error) string {
	if m := driverError.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return err.Error()
}

// firstWordIn reports whether a statement begins with one of words, which are in lower case.
func firstWordIn(statement string, words ...string) bool {
	isLetter := func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }
	found := strings.FieldsFunc(statement, func(r rune) bool { return !isLetter(r) })
	return len(found) > 0 && slices.Contains(words, strings.ToLower(found[0]))
}

// sqlToken matches what may hide a semicolon or a word: texts, names in quotes, comments, brackets, words.
var sqlToken = regexp.MustCompile(`(?s)'(?:[^']|'')*'|"[^"]*"|` + "`[^`]*`" + `|--[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|[();]`)

// splitSQL cuts statements apart and drops what is only comment.
func splitSQL(text string) []string {
	var parts []string
	start := 0
	take := func(end int) {
		part := strings.TrimSpace(text[start:end])
		if strings.TrimSpace(sqlToken.ReplaceAllStringFunc(part, dropComment)) != "" {
			parts = append(parts, part)
		}
	}
	for _, at := range sqlToken.FindAllStringIndex(text, -1) {
		if text[at[0]:at[1]] == ";" {
			take(at[0])
			start = at[1]
		}
	}
	take(len(text))
	return parts
}

func dropComment(token string) string {
	if strings.HasPrefix(token, "--") || strings.HasPrefix(token, "/*") {
		return ""
	}
	return token
}

// hasLimit reports whether the outermost statement has a LIMIT; one in brackets does not count.
func hasLimit(statement string) bool {
	depth := 0
	for _, token := range sqlToken.FindAllString(statement, -1) {
		switch {
		case token == "(":
			depth++
		case token == ")":
			depth--
		case depth == 0 && strings.EqualFold(token, "limit"):
			return true
		}
	}
	return false
}
