package sqlguard

import (
	"cmp"
	"slices"
	"strings"

	"collie/internal/lazyregexp"
)

// This file says what to try instead of a statement with a mistake.

var (
	noColumn = lazyregexp.New(`no such column: (\S+)`)
	noTable  = lazyregexp.New(`no such table: (\S+)`)
)

var tablesHint = "tables: " + strings.Join(tables(), ", ")

// explain converts SQLite's message to a refusal that says what to try.
func (s *Statement) explain(message string) *Refused {
	if m := noColumn.FindStringSubmatch(message); m != nil {
		return s.unknownColumn(m[1])
	}
	if m := noTable.FindStringSubmatch(message); m != nil {
		if isTable(lower(m[1])) { // if tables are shadowed, their real names do not exist
			return refuse("the table "+m[1]+" is named by a text: leave the single quotes out", tablesHint)
		}
		out := refuse("there is no table "+clip(m[1]), tablesHint)
		if like := nearestName(m[1], tables()); like != "" {
			out.Message += "; perhaps " + like
		}
		return out
	}
	return refuse(message, "")
}

// unknownColumn returns the refusal for a missing column. A kernel would return its name as a text, which nobody would
// notice.
func (s *Statement) unknownColumn(name string) *Refused {
	name = strings.Trim(name, `"`)
	column := name[strings.LastIndexByte(name, '.')+1:]
	out := refuse("there is no column "+clip(name), "")
	hints := []string{"a text stands in single quotes: 'd'"}
	var candidates, owners []string
	for _, table := range sortedByUse(s.tables) {
		candidates = append(candidates, columns(table)...)
		if slices.Contains(columns(table), lower(column)) {
			owners = append(owners, table)
		}
		if s.tables[table] {
			hints = append(hints, "columns of "+table+": "+strings.Join(columns(table), ", "))
		}
	}
	if like := nearestName(column, candidates); owners != nil {
		out.Message += " here; it is one of " + strings.Join(owners, ", ")
	} else if like != "" {
		out.Message += "; perhaps " + like
	}
	out.Hint = strings.Join(hints, "; ")
	return out
}

// nearestName returns the name that was most likely meant, "" if none is similar.
func nearestName(wrong string, names []string) string {
	wrong = strings.ToLower(wrong)
	if len(wrong) < 3 {
		return ""
	}
	maxDistance := max(1, len(wrong)/3)
	best, bestName := maxDistance+1, ""
	for _, name := range names {
		d := editDistance(wrong, name)
		if d > 1 && (strings.HasPrefix(name, wrong) || strings.HasSuffix(name, "_"+wrong)) {
			d = 1
		}
		if d < best {
			best, bestName = d, name
		}
	}
	return bestName
}

// editDistance counts the letters to insert, delete or replace to get from a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// sortedByUse returns the tables, beginning with those that a statement names.
func sortedByUse(used map[string]bool) []string {
	names := tables()
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(used[a]), rank(used[b])) })
	return names
}

func rank(used bool) int {
	if used {
		return 0
	}
	return 1
}
