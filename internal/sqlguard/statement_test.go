package sqlguard_test

import (
	"slices"
	"strings"
	"testing"

	"collie/internal/sqlguard"
)

func TestParseLetsThroughWhatReads(t *testing.T) {
	t.Parallel()
	conn := openDatabase(t, true)
	for _, sql := range []string{
		"SELECT * FROM blocks", "select id, content from blocks where type = 'd' order by updated desc limit 10;",
		"SELECT count(*) AS n, max(updated) FROM blocks GROUP BY box HAVING n > 1", "select * from blocks where content like '%苹果%'",
		"select id from blocks_fts where blocks_fts match 'content:alpha' order by rank", "select * from main.blocks",
		"select content from blocks where content regexp '^al'", "select rowid from blocks", "values (1), (2)",
		"with d as (select * from blocks where type='d') select b.id from blocks b join d on d.id = b.root_id",
		"with d(id) as (select id from blocks), e as materialized (select * from d) select count(*) from d, e where d.id = e.id",
		"select b.*, (select count(*) from refs r where r.def_block_id = b.id) as n from blocks b", "select * from stat",
		"\ufeffselect \v 1 as 'a text', '[1]' -> 0, current_date, content like 'collie_%' from blocks", "select min(id), max(id) from blocks",
		"select b.id, x.n from (select a.id, count(*) as n from blocks a, blocks c where a.content < c.content group by 1) x join blocks b on b.id = x.id",
		"select a.id from blocks a join blocks b on b.parent_id = a.id join spans s on s.block_id = b.id left join attributes t on t.block_id = b.id where a.box = 'x' and a.type = 'd'",
		"select date('now'), strftime('%Y', created), json_valid(ial) from blocks", "select 1 as x -- trailing",
		"select row_number() over (partition by box order by id) from blocks", "select id from blocks where id in ('a', 'b') and not (type = 'p')",
		"select a.name from attributes a join blocks b on a.block_id = b.id where b.type = 'd'", "select ';' as \"a;b\" from blocks",
		"select replace(content, 'a', 'b') from blocks union all select name from assets order by 1",
	} {
		s, err := sqlguard.Parse(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if _, err := runSQL(t, conn, s.Limited(10)); err != nil {
			t.Errorf("%s: as it is sent: %v", sql, err)
		}
	}
}

func TestRefusalsSayWhatToTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, message, hint string }{
		{sql: "delete from blocks", message: `"delete"`, hint: "block and document tools"},
		{sql: "select 1; select 2", message: "more than one statement", hint: "one SELECT"},
		{sql: "select contnt from blocks", message: "perhaps content", hint: "columns of blocks: id, parent_id"},
		{sql: "select tags from blocks", message: "perhaps tag"},
		{sql: "select b.parent from blocks b", message: "perhaps parent_id"},
		{sql: "select zzzzzzzz from spans", message: `no column "zzzzzzzz"`, hint: "columns of spans: id, block_id"},
		{sql: `select * from blocks where type = "d"`, message: `no column "d"`, hint: "single quotes"},
		{sql: "select content from stat", message: "it is one of blocks, blocks_fts, file_annotation_refs, refs, spans", hint: "columns of stat: key, value"},
		{sql: "select a.Content from attributes a, spans s", message: `"a.Content" here; it is one of spans, blocks`},
		{sql: "select * from block", message: "perhaps blocks", hint: "tables: assets, attributes"},
		{sql: "select * from sqlite_master", message: `"sqlite_master"`, hint: "tables:"},
		{sql: "with recursive c(x) as (select 1 union all select x+1 from c) select x from c", message: "recursion", hint: "breadcrumb"},
		{sql: "select zeroblob(5)", message: `"zeroblob"`},
		{sql: "select hex(randomblob \v(5))", message: `"randomblob"`, hint: "common functions"},
		{sql: "select load_extension \ufeff('x')", message: `"load_extension"`},
		{sql: "select 5 'collie_count' from blocks", message: "reserved"},
		{sql: "select count(*) from (with dbstat as (select 1) select 1), dbstat", message: "dbstat", hint: "another name"},
		{sql: "with b as materialized (select x.id from blocks x, blocks y) select count(*) from b x, b y", message: "4 whole tables"},
		{sql: "select count(*) from blocks a, blocks b, blocks c where b.id > a.id and c.id > b.id", message: "3 whole tables"},
		{sql: "select count(*) from blocks a, blocks b, blocks c where b.id > a.id and (c.id > b.id or c.parent_id < b.id)", message: "3 whole tables"},
		{sql: "select count(*) from blocks a left join blocks b using (box) left join blocks c using (box)", message: "3 whole tables"},
		{sql: "select count(*) from blocks, spans, refs", message: "3 whole tables", hint: "a.root_id = b.id"},
		{sql: "select * form blocks", message: `near "form": syntax error`},
		{sql: "select ?", message: "variables"},
		{sql: strings.Repeat(" ", (32<<10)) + "select 1", message: "32768"},
	} {
		_, err := sqlguard.Parse(c.sql)
		if err == nil {
			t.Errorf("%s was let through", clip(c.sql))
			continue
		}
		r := mustBeRefused(t, err)
		if !strings.Contains(r.Message, c.message) || !strings.Contains(r.Hint, c.hint) {
			t.Errorf("%s: %q, %q; want %q, %q", clip(c.sql), r.Message, r.Hint, c.message, c.hint)
		}
		if r.Scope || strings.Contains(r.Message, "sqlite: ") {
			t.Errorf("%s: %+v", clip(c.sql), r)
		}
	}
}

func TestLimitedKeepsOrderAndColumnsOfOneName(t *testing.T) {
	t.Parallel()
	s, err := sqlguard.Parse("select id, path as id from blocks order by id desc -- last first")
	if err != nil {
		t.Fatal(err)
	}
	got, err := runSQL(t, openDatabase(t, false), s.Limited(2))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"id=text-8|id:1=text blocks-9", "id=text-6|id:1=text blocks-7"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScopedShowsWhatMayBeRead(t *testing.T) {
	t.Parallel()
	conn := openDatabase(t, true)
	for _, c := range []struct{ sql, want string }{
		{"select count(*) as n from blocks", "n=6"},
		{"select count(*) as n from refs", "n=5"}, // one refers to a hidden block
		{"select count(*) as n from spans s join blocks b on s.box = b.box and b.id = s.id", "n=6"},
		{"select count(*) as n from spans", "n=7"}, // a tag of a document among them
		{"select count(*) as n from blocks_fts", "n=6"},
		{"select distinct box from blocks order by 1", "box=" + open},
		{"select count(*) as n from blocks a join blocks b using (id)", "n=6"},
		{"select (select count(*) from assets) + (select count(*) from attributes) as n", "n=12"},
	} {
		sent, err := scopedSQL(c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		got, err := runSQL(t, conn, sent)
		if err != nil || len(got) == 0 || got[0] != c.want {
			t.Errorf("%s: got %q, %v, want %s", c.sql, got, err, c.want)
		}
	}
}

// TestSentIsNotRewritten: the kernel's own parser does not understand a materialized expression, and then leaves the
// statement unchanged. What it would change otherwise, or fail at, is covered by the tests of query_sql.
func TestSentIsNotRewritten(t *testing.T) {
	t.Parallel()
	s, err := sqlguard.Parse("select id from blocks where content like '%!%%' escape '!' limit 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	scoped, err := s.Scoped([]string{open}, 9)
	for _, sent := range []string{s.Limited(9), scoped} {
		if !strings.HasPrefix(sent, "WITH ") || !strings.Contains(sent, "collie_rows AS MATERIALIZED (") || !strings.HasSuffix(sent, " LIMIT 9") || err != nil {
			t.Errorf("%v: %s", err, sent)
		}
	}
}

// TestIDs: a statement that finds blocks has a column id.
func TestIDs(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"select * from blocks order by id desc limit 2; -- last": "text-8 text-6", "values (1)": "", "select count(*) from blocks": "",
		"with x(id) as (select 7) select * from x": "7",
	} {
		s, err := sqlguard.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.IDs(); err != nil {
			if r := mustBeRefused(t, err); want != "" || !strings.Contains(r.Message, "no column id") || r.Hint == "" {
				t.Errorf("%s: %v", sql, err)
			}
			continue
		}
		rows, err := runSQL(t, openDatabase(t, false), s.Limited(9))
		if got := strings.ReplaceAll(strings.Join(rows, " "), "id=", ""); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", sql, got, err, want)
		}
	}
}

// TestScopedIsComputedFirst: SQLite may compute a condition of the statement before one of a
// plain expression, over rows that are not shown; before one that is materialized it may not.
// Which it does depends on its version, so the test checks the text of the statement.
func TestScopedIsComputedFirst(t *testing.T) {
	t.Parallel()
	sent, err := scopedSQL("select b.id from blocks b join refs r on r.block_id = b.id")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"blocks", "refs"} {
		begin, end := table+" AS MATERIALIZED (SELECT ", " FROM main."+table+" WHERE box IN ("
		if _, rest, ok := strings.Cut(sent, begin); !ok || !strings.Contains(rest, end) {
			t.Errorf("%s is not materialized: %s", table, sent)
		}
	}
}

func TestScopedRefusesAndSaysSo(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{"select * from stat", "select * from main.blocks", "select rowid from blocks", "select * from blocks_fts where blocks_fts match 'a'"} {
		s, err := sqlguard.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Scoped([]string{open}, 9)
		if err == nil {
			t.Errorf("%s was let through", sql)
			continue
		}
		if r := mustBeRefused(t, err); !r.Scope || r.Hint == "" {
			t.Errorf("%s: %+v", sql, r)
		}
	}
}

func TestScopedTakesNoForeignText(t *testing.T) {
	t.Parallel()
	s, err := sqlguard.Parse("select * from blocks")
	if err != nil {
		t.Fatal(err)
	}
	for _, boxes := range [][]string{nil, {"') OR ('1'='1"}, {"a\x00"}, {""}} {
		sent, err := s.Scoped(boxes, 9)
		if err != nil {
			t.Fatal(err)
		}
		if rows, err := runSQL(t, openDatabase(t, true), sent); err != nil || len(rows) != 0 {
			t.Errorf("%q: %d rows, %v, want none", boxes, len(rows), err)
		}
	}
}

// TestNoModuleIsATable: whatever modules SQLite brings along, none is read without being listed.
func TestNoModuleIsATable(t *testing.T) {
	t.Parallel()
	rows, err := runSQL(t, openDatabase(t, true), "select name from pragma_module_list")
	if err != nil || len(rows) < 5 {
		t.Fatalf("%d modules, %v", len(rows), err)
	}
	for _, row := range rows {
		name := strings.TrimPrefix(row, "name=")
		for _, sql := range []string{"select * from " + name, "select 1 from " + name + "('a')"} {
			if _, err := sqlguard.Parse(sql); err == nil && name != "json_each" && name != "json_tree" {
				t.Errorf("%s was let through", sql)
			}
		}
	}
}

func clip(s string) string { return s[:min(len(s), 80)] }
