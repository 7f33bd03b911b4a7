package sqlguard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/sqlguard"
	"collie/test/await"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	conn, g := connect(t, newVaultFile(t)), closeAfter(t, &sqlguard.Runner{})
	recursive := "with recursive c(x) as (select 1 union all select x+1 from c where x<100) select x from c"
	tests := []struct {
		statement string
		columns   string
		rows      int
		first     string
	}{
		{statement: "select content from blocks where type = 'h'", columns: "[content]", rows: 1, first: "[Apple 苹果]"},
		{statement: "SELECT content FROM Blocks WHERE content LIKE '%苹果%'", columns: "[content]", rows: 1, first: "[Apple 苹果]"},
		{statement: "select content from blocks where content regexp '^app'", columns: "[content]", rows: 1, first: "[apple pie #fruit#]"},
		{statement: "select content from blocks_fts where blocks_fts match 'content:apple' order by rank", columns: "[content]", rows: 2, first: "[Apple 苹果]"},
		{statement: "select highlight(blocks_fts, 11, '<', '>') as h from blocks_fts where blocks_fts match 'pie'", columns: "[h]", rows: 1, first: "[apple <pie> #fruit#]"},
		{statement: "select count(*) from blocks", columns: "[count(*)]", rows: 1, first: "[10]"},
		{statement: "select 1 as a, 2 as a", columns: "[a]", rows: 1, first: "[2]"},
		{statement: "values (1, 'x', 1.5, null, x'00ff')", columns: "[column1 column2 column3 column4 column5]", rows: 1, first: "[1 x 1.5 <nil> [0 255]]"},
		{statement: "select nosuch from blocks limit 1", columns: `["nosuch"]`, rows: 1, first: "[nosuch]"},
		{statement: `select "no such", content from blocks where type = "h"`, columns: `["no such" content]`, rows: 1, first: "[no such Apple 苹果]"},
		{statement: "select 'abc'", columns: "['abc']", rows: 1, first: "[abc]"},
		{statement: "select b.content, s.content from blocks b join spans s on s.block_id = b.id", columns: "[content]", rows: 1, first: "[fruit]"},
		{statement: recursive, columns: "[x]", rows: 64, first: "[1]"},
		{statement: recursive + " limit 90", columns: "[x]", rows: 90, first: "[1]"},
		{statement: "select * from (select content from blocks limit 1)", columns: "[content]", rows: 1},
		{statement: "select * from pragma_table_info('stat')", columns: "[cid name type notnull dflt_value pk]", rows: 2, first: "[0 key  0 <nil> 0]"},
		{statement: "pragma table_info(stat)", columns: "[cid name type notnull dflt_value pk]", rows: 2, first: "[0 key  0 <nil> 0]"},
		{statement: "select name from sqlite_master where name = 'node'", columns: "[name]"},
		{statement: "with document as (select id from blocks) select count(*) from document", columns: "[count(*)]", rows: 1, first: "[10]"},
		{statement: "select 1 as x; -- done", columns: "[x]", rows: 1, first: "[1]"},
		{statement: "select id from blocks where id = 'none'", columns: "[id]"},
		{statement: "select * from file_annotation_refs", columns: "[id file_path annotation_id block_id root_id box path content type]"},
		{statement: "select key from stat", columns: "[key]", rows: 1, first: "[siyuan_database_ver]"},
	}
	for _, tt := range tests {
		got, err := g.Select(conn, tt.statement, 64)
		if err != nil {
			t.Errorf("%s: %v", tt.statement, err)
			continue
		}
		if fmt.Sprint(got.Columns) != tt.columns || len(got.Rows) != tt.rows {
			t.Errorf("%s: columns %v, %d rows; want %s, %d", tt.statement, got.Columns, len(got.Rows), tt.columns, tt.rows)
			continue
		}
		if tt.first != "" && fmt.Sprint(got.Rows[0]) != tt.first {
			t.Errorf("%s: %v, want %s", tt.statement, got.Rows[0], tt.first)
		}
	}
}

func TestErrorsAreSQLites(t *testing.T) {
	t.Parallel()
	conn, g := connect(t, newVaultFile(t)), closeAfter(t, &sqlguard.Runner{})
	for statement, want := range map[string]string{
		"selec * from blocks": `near "selec": syntax error`, "select * from nosuch": "no such table: nosuch",
		"select 'abc": `unrecognized token: "'abc"`, "select * from node": "no such table: node",
		"select nosuch(1)": "no such function: nosuch", "select b.x from blocks b": "no such column: b.x",
		"select 1 where 'a' regexp '('": "error parsing regexp: missing closing ): `(`",
	} {
		_, err := g.Select(conn, statement, 64)
		var e *sqlguard.Error
		if !errors.As(err, &e) || e.Message != want {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
	}
}

// TestCalls: a function is refused for its name, whatever stands between that and the bracket. SQLite takes a vertical
// tab for a blank only behind another one.
func TestCalls(t *testing.T) {
	t.Parallel()
	conn, g := connect(t, newVaultFile(t)), closeAfter(t, &sqlguard.Runner{})
	for _, call := range []string{"randomblob(9)", "randomblob \v(9)", "randomblob\n\v\f (9)", "randomblob/**/\t\v(9)", `"randomblob"(9)`} {
		var refused *sqlguard.Refused
		if _, err := g.Select(conn, "select hex("+call+")", 64); !errors.As(err, &refused) || !strings.Contains(refused.Message, "may not be called") {
			t.Errorf("%q: %v", call, err)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	conn := connect(t, newVaultFile(t))
	endless := []string{
		"with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c",
		"with recursive c(x) as (select 1 union all select x+1 from c) select * from c order by x",
		"with recursive c(x) as (values(1) union select x+1 from c) select max(x) from c",
		"with c as (select a.id from blocks a, blocks b, blocks c, blocks d, blocks e, blocks f, blocks g, blocks h) select count(*) from c",
		"select count(*) from blocks a, blocks b, blocks c, blocks d, blocks e, blocks f, blocks g, blocks h, blocks i, blocks j",
	}
	g := closeAfter(t, &sqlguard.Runner{Timeout: 100 * time.Millisecond})
	for _, statement := range endless {
		start := time.Now()
		_, err := g.Select(conn, statement, 64)
		var refused *sqlguard.Refused
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, "longer than 100ms") {
			t.Errorf("%s: %v", statement, err)
		}
		await.Within(t, statement, time.Since(start), 5*time.Second)
	}
	g = closeAfter(t, &sqlguard.Runner{MaxBytes: 4 << 10})
	for _, statement := range []string{
		"with recursive c(x) as (select 1 union all select x+1 from c) select x from c limit 1000000",
		"select replace(hex(id), '3', hex(id)) as a from blocks limit 100",
	} {
		if _, err := g.Select(conn, statement, 64); err == nil || !strings.Contains(err.Error(), "larger than 4 KiB") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	g = closeAfter(t, &sqlguard.Runner{})
	for _, statement := range []string{
		"select length(replace(printf('%*s', 10000000, 'x'), ' ', 'yyyyyyyyyyyyyy'))", "select printf('%*s', 1000000000, 'x')",
		"select 1 -- " + strings.Repeat("x", 1<<20), "select 'x' regexp '" + strings.Repeat("(a|b)", 1000) + "'",
		"select json_array(" + strings.Repeat("1, ", 40) + "1)", "select json_group_array(id) from blocks", "select median(length) from blocks",
		"select " + strings.Repeat("1+", 2000) + "1", strings.Repeat("select 1 union ", 1000) + "select 1",
	} {
		if _, err := g.Select(conn, statement, 64); err == nil {
			t.Errorf("%.60s was answered", statement)
		}
	}
	if _, err := g.Select(conn, "select 1", 64); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// TestInterrupt: an interrupt that was set on the connection before still stops a statement.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	conn, g := connect(t, newVaultFile(t)), closeAfter(t, &sqlguard.Runner{})
	done := make(chan struct{})
	conn.SetInterrupt(done)
	time.AfterFunc(50*time.Millisecond, func() { close(done) })
	_, err := g.Select(conn, "with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c", 64)
	var refused *sqlguard.Refused
	if err == nil || errors.As(err, &refused) {
		t.Errorf("an interrupted statement: %v", err)
	}
	conn.SetInterrupt(nil)
	if _, err := g.Select(conn, "select 1", 64); err != nil {
		t.Error(err)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"": nil, " ; ;": nil, "-- nothing": nil, "/* a; b */": nil, "select 1;": {"select 1"},
		"select 1; select 2": {"select 1", "select 2"}, "select ';' ; select \";\"": {"select ';'", `select ";"`},
		"select [a;b], `c;d` -- e;f\n; /*;*/ x": {"select [a;b], `c;d` -- e;f", "/*;*/ x"}, "select 'it''s; ok'": {"select 'it''s; ok'"},
		"select 'open; select 2": {"select 'open; select 2"}, "select 苹果; ？": {"select 苹果", "？"},
	} {
		if diff := cmp.Diff(want, sqlguard.Split(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// FuzzSplit: nothing but separators and stretches without a statement is lost, and what is one statement stays one.
func FuzzSplit(f *testing.F) {
	for _, s := range append(hostile, "select 'a;b'; select \"c;d\"", "a;b--;\nc/*;*/;[;]`;`", "x'41;'", "\ufeffselect 1", "1e5;.5;$a;'") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		for _, part := range sqlguard.Split(text) {
			at := strings.Index(rest, part)
			if at < 0 {
				t.Fatalf("%q is not in %q, or not in this order", part, text)
			}
			rest = rest[at+len(part):]
			if again := sqlguard.Split(part); len(again) != 1 || again[0] != part {
				t.Errorf("%q is split again: %q", part, again)
			}
			sqlguard.Reads(part)
		}
	})
}

// TestStoppedAtTheStart: a statement whose time is over as it starts is stopped as well. SQLite forgets an interrupt
// that comes before the first statement of a connection runs.
func TestStoppedAtTheStart(t *testing.T) {
	t.Parallel()
	conn := connect(t, newVaultFile(t))
	for n := range await.Fewer(4000) {
		g := &sqlguard.Runner{Timeout: time.Duration(1+n%100) * time.Microsecond}
		_, err := g.Select(conn, "with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c", 64)
		if err == nil {
			t.Fatal("an endless statement has ended")
		}
	}
}
