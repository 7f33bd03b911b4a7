package sqlguard_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzScopedShowsNothing: no statement that is let through shows anything of a hidden row.
func FuzzScopedShowsNothing(f *testing.F) {
	for i, sql := range hostileInScope {
		if i%5 == 0 { // another test covers all of them
			f.Add(sql)
		}
	}
	all, visible := openDatabase(f, true), openDatabase(f, false)
	f.Fuzz(func(t *testing.T, sql string) {
		sent, err := scopedSQL(sql)
		if err != nil {
			return
		}
		if lower := strings.ToLower(sql); strings.Contains(lower, "random") || strings.Contains(lower, "now") {
			return // differs from run to run
		}
		compareAnswers(t, sql, sent, func(s string) ([]string, error) { return runSQL(t, all, s) }, func(s string) ([]string, error) { return runSQL(t, visible, s) })
	})
}

// TestGeneratedStatementsShowNothing is like [FuzzScopedShowsNothing], for statements that are mostly
// valid and show as much as they can.
func TestGeneratedStatementsShowNothing(t *testing.T) {
	t.Parallel()
	all, visible := openDatabase(t, true), openDatabase(t, false)
	accepted := 0
	rapid.Check(t, func(r *rapid.T) {
		if accepted == 30 {
			return // enough for every day; the fuzzer goes on
		}
		sql := selectOf(r, 2)
		sent, err := scopedSQL(sql)
		if err != nil {
			return
		}
		accepted++
		compareAnswers(t, sql, sent, func(s string) ([]string, error) { return runSQL(t, all, s) }, func(s string) ([]string, error) { return runSQL(t, visible, s) })
	})
	if accepted < 20 {
		t.Errorf("only %d generated statements were let through", accepted)
	}
}

func selectOf(r *rapid.T, depth int) string {
	source := sourceOf(r, depth)
	sql := "SELECT " + rapid.SampledFrom([]string{"*", "count(*)", "a.*", "a.id", "a.box, count(*)", "group_concat(a.id)", "max(a.box), min(a.id)", "1"}).Draw(r, "columns") +
		" FROM " + source + " AS a"
	if rapid.Bool().Draw(r, "join") {
		sql += rapid.SampledFrom([]string{" JOIN ", " LEFT JOIN ", ", ", " CROSS JOIN "}).Draw(r, "how") + sourceOf(r, depth) + " AS b"
	}
	if rapid.Bool().Draw(r, "where") {
		sql += " WHERE " + conditionOf(r, depth)
	}
	if rapid.Bool().Draw(r, "group") {
		sql += " GROUP BY a.box"
	}
	if depth > 0 && rapid.IntRange(0, 3).Draw(r, "with") == 0 {
		sql = "WITH w AS (" + selectOf(r, depth-1) + ") " + sql
	}
	return sql
}

func sourceOf(r *rapid.T, depth int) string {
	if depth > 0 && rapid.IntRange(0, 3).Draw(r, "deeper") == 0 {
		return "(" + selectOf(r, depth-1) + ")"
	}
	name := rapid.SampledFrom([]string{"blocks", "refs", "spans", "attributes", "assets", "file_annotation_refs", "blocks_fts", "w"}).Draw(r, "table")
	return fmt.Sprintf(rapid.SampledFrom([]string{"%s", "%s", "%s", `"%s"`, "[%s]", "`%s`", "main.%s", "main.[%s]"}).Draw(r, "quotes"), name)
}

func conditionOf(r *rapid.T, depth int) string {
	if depth > 0 && rapid.IntRange(0, 2).Draw(r, "subquery") == 0 {
		use := rapid.SampledFrom([]string{"a.id IN (%s)", "EXISTS (%s)", "a.id > (%s)", "NOT EXISTS (%s)"}).Draw(r, "use")
		return fmt.Sprintf(use, selectOf(r, depth-1))
	}
	return rapid.SampledFrom([]string{
		"a.id = a.id", "a.box LIKE '%h%'", "abs(a.length) >= 0", "a.id LIKE 'CANARY%'", "a.content REGEXP 'CANARY'", "a.id = 'CANARY-1' OR 1",
		"json_valid(a.id)", "length(a.id) > 3", "a.box <> '" + open + "'",
	}).Draw(r, "condition")
}
