package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/sjson"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestQuerySQL(t *testing.T) {
	w := newWorkspace(t)
	got := w.runAction("query_sql", "sql", "select hpath, count(*) as n from blocks where type = 'd' and hpath glob '*Apple*' group by hpath -- titles")
	if got.Get("data.#").Int() != 1 || got.Get("data.0.hpath").Str != "/Apple 苹果" || got.Get("total").Int() != 1 || got.Get("truncated").Bool() {
		t.Errorf("got %s", got.Raw)
	}
	sent := w.Asked("/api/query/sql")
	if len(sent) != 1 || sent[0].Get("mode").Str != "readonly" || !strings.HasSuffix(sent[0].Get("stmt").Str, "LIMIT 201") {
		t.Errorf("sent %v", sent)
	}
	if both := w.runAction("query_sql", "stmt", "select 1 as x", "sql", "select 2 as x"); both.Get("data.0.x").Int() != 2 {
		t.Errorf("sql does not win over stmt: %s", both.Raw)
	}
	if fts := w.runAction("query_sql", "stmt", "select id from blocks_fts where blocks_fts match 'cinnamon'"); fts.Get("total").Int() == 0 {
		t.Errorf("MATCH finds nothing: %s", fts.Raw)
	}
}

func TestQuerySQLIsNeverCutInSilence(t *testing.T) {
	w := newWorkspace(t)
	var lines []string
	for i := range 150 {
		lines = append(lines, fmt.Sprintf("row %d", i))
	}
	w.Doc(w.fruit, "/Rows", strings.Join(lines, "\n\n"))
	all := w.runAction("query_sql", "stmt", "select content from blocks where content like 'row %'")
	if all.Get("total").Int() != 150 || all.Get("showing").Int() != 150 { // the kernel cuts at 64 by itself
		t.Errorf("total %s, showing %s, want 150", all.Get("total"), all.Get("showing"))
	}
	some := w.runAction("query_sql", "stmt", "select content from blocks where content like 'row %' order by content", "maxRows", 10)
	if some.Get("showing").Int() != 10 || !some.Get("truncated").Bool() || some.Get("total").Exists() || some.Get("hint").Str == "" {
		t.Errorf("got %s", some.Raw)
	}
	if got := actiontest.Members(some.Get("data"), "content"); !slices.IsSorted(got) || got[1] != "row 1" {
		t.Errorf("the order is lost: %v", got)
	}
	ten := w.runAction("query_sql", "stmt", "select content from blocks where content like 'row %' limit 10", "maxRows", 10)
	if ten.Get("truncated").Bool() || ten.Get("total").Int() != 10 {
		t.Errorf("exactly maxRows rows: %s", ten.Raw)
	}
	twice := w.runAction("query_sql", "stmt", "select id from blocks where type='d' union all select id from blocks where type='d'")
	if !strings.Contains(twice.Get("hint").Str, "DISTINCT") {
		t.Errorf("rows that come twice: %s", twice.Raw)
	}
	if none := w.runAction("query_sql", "stmt", "select id from blocks where id = 'x'"); none.Get("data").Raw != "[]" || none.Get("total").Int() != 0 {
		t.Errorf("no rows: %s", none.Raw)
	}
}

func TestQuerySQLShowsNothingHidden(t *testing.T) {
	w := newWorkspace(t)
	w.Doc(w.fruit, "/Refs", "see (("+w.secretDoc+" 'elsewhere')) and (("+w.doc+" 'Apple'))")
	w.hideSecret()
	for _, sql := range []string{
		"select * from blocks", "select * from blocks a, blocks b where a.id = b.id", "select * from (select * from blocks)",
		"select group_concat(content) from blocks", "select * from refs", "select * from spans", "select * from attributes", "select * from assets",
		"select * from blocks_fts", "select distinct box from blocks", "with x as (select * from blocks) select * from x where content like 'CANARY%'",
		`select * from "blocks"`, "select * from [blocks] order by length desc", "select * from file_annotation_refs",
		"select content from blocks union select content from spans", "select 1 from blocks where content like '%!%%' escape '!'",
	} {
		if got := w.runAction("query_sql", "stmt", sql, "maxRows", 1000); strings.Contains(got.Raw, "CANARY") || strings.Contains(got.Raw, w.secret) {
			t.Errorf("%s: %s", sql, got.Raw)
		}
	}
	if refs := w.runAction("query_sql", "stmt", "select def_block_id from refs"); refs.Get("total").Int() != 1 || refs.Get("data.0.def_block_id").Str != w.doc {
		t.Errorf("a reference tells of what is hidden: %s", refs.Raw)
	}
	if n := w.runAction("query_sql", "stmt", "select count(*) as n from blocks where content like '%apple%'").Get("data.0.n").Int(); n == 0 {
		t.Error("what may be read is not there either")
	}
	for _, sql := range []string{
		"select * from main.blocks", `select * from "main"."blocks"`, "select rowid from blocks", "select * from stat",
		"select * from blocks_fts where blocks_fts match 'CANARY'",
	} {
		if e := w.checkRefused(tool.Denied, "query_sql", "stmt", sql); e.Hint == "" || len(w.Asked("/api/query/sql")) != 0 {
			t.Errorf("%s: %v, %d requests", sql, e, len(w.Asked("/api/query/sql")))
		}
	}
	for _, n := range []string{w.secret, w.fruit} { // nothing at all may be read
		w.Levels[idOf(n)] = 0
	}
	if got := w.runAction("query_sql", "stmt", "select * from blocks"); got.Get("total").Int() != 0 {
		t.Errorf("nothing may be read: %s", got.Raw)
	}
}

func TestQuerySQLRefuses(t *testing.T) {
	w := newWorkspace(t)
	for sql, want := range map[string]string{
		"update blocks set memo = 'x'": "only SELECT", "select 1; select 2": "more than one statement", "select nosuch from blocks": `no column "nosuch"`,
		"select contents from blocks": "perhaps content", "select * from sqlite_master": "may not be read", "select load_extension('x')": "load_extension",
		"with recursive c(x) as (select 1 union all select x+1 from c) select x from c": "recursion", "": "", "select": "",
	} {
		e := w.checkRefused(tool.Invalid, "query_sql", "stmt", sql)
		if !strings.Contains(e.Message, want) || len(w.Calls()) != 0 {
			t.Errorf("%q: %s, %d requests", sql, e.Message, len(w.Calls()))
		}
	}
}

// TestQuerySQLTellsWhenTheKernelGaveUp: a kernel that fails within a statement still answers code 0. A proxy puts another statement
// in place of the caller's, whose answer looks like that: null in place of rows, a wrong number of rows in collie_count (the
// guard's column for it), no collie_count at all, and an error of the kernel's own.
func TestQuerySQLTellsWhenTheKernelGaveUp(t *testing.T) {
	for sentInstead, want := range map[string]string{
		"update blocks set memo = 'x'": "failed on some row", "select 5 as collie_count, 1 as x": "to its end", "select 1 as x": "to its end",
		"select nosuch() as x": "refused by the kernel: ",
	} {
		t.Run(sentInstead, func(t *testing.T) {
			w := newWorkspace(t)
			w.Lenient()
			w.changeRequests(func(endpoint, body string) string {
				if endpoint != "/api/query/sql" {
					return body
				}
				body, _ = sjson.Set(body, "stmt", sentInstead)
				body, _ = sjson.Delete(body, "mode")
				return body
			})
			if e := w.checkRefused(tool.Invalid, "query_sql", "stmt", "select id from blocks"); !strings.Contains(e.Message, want) || e.Hint == "" {
				t.Errorf("%v, %q; want %q", e, e.Hint, want)
			}
			if e := w.checkRefused(tool.Invalid, "fulltext", "query", "select id from blocks", "method", "sql"); !strings.Contains(e.Message, want) {
				t.Errorf("fulltext: %v; want %q", e, want)
			}
		})
	}
}

// TestQuerySQLFailures runs statements that really fail while they run. Each is an error, even if the kernel reports none.
func TestQuerySQLFailures(t *testing.T) {
	w := newWorkspace(t)
	for _, sql := range []string{
		"select abs(-9223372036854775807 - 1)", "select sum(9223372036854775807) from blocks", "select json_extract('{', '$')", "select id from blocks where json_extract(content, '$') is null",
	} {
		if e := w.checkRefused(tool.Invalid, "query_sql", "stmt", sql); e.Hint == "" {
			t.Errorf("%s: %v", sql, e)
		}
	}
}
