package sqlguard_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"collie/internal/sqlguard"
	"collie/test/await"
)

// hostile are statements that try to write, to see what is below the documented tables, to run forever or to reach out.
var hostile = []string{
	// writes and the schema
	"update blocks set memo = 'x'", "delete from blocks", "insert into blocks(id) values ('x')", "replace into blocks(id) values (1)",
	"update node set content = 'x'", "delete from node", "insert into record values ('a','b','c',1,'d')", "drop table node", "drop view blocks",
	"create table x(a)", "create temp table x as select * from blocks", "create temp view v as select * from node", "create index i on node(id)",
	"create virtual table temp.v using fts5vocab(main, blocks_fts, row)", "create trigger t after insert on node begin select 1; end",
	"alter table node rename to n", "with x as (select 1) delete from blocks", "with x as (select 1) update node set id = 1",
	"with x as (select 1) insert into blocks(id) select * from x", "insert into blocks_fts(blocks_fts) values ('delete-all')",
	"insert into blocks_fts(blocks_fts, rank) values ('rebuild', 1)", "delete from blocks returning id", "select 1; delete from node",
	"insert into stat values (1,2) on conflict do nothing", "update sqlite_master set sql = 'x'", "vacuum", "vacuum into '/tmp/canary.db'", "analyze", "reindex",
	"begin", "commit", "rollback", "end", "savepoint s", "release s", "rollback to s", "attach database '/tmp/x.db' as x", "attach ':memory:' as y", "detach main",
	// settings
	"pragma writable_schema = 1", "pragma journal_mode = delete", "pragma query_only = 0", "pragma user_version = 9", "pragma application_id",
	"pragma database_list", "pragma table_list", "pragma table_info", "pragma main.table_info(node)", "pragma table_info(node)", "pragma table_info(record)",
	"pragma foreign_key_check(node)", "pragma integrity_check", "pragma temp_store_directory = '/tmp'", "pragma hard_heap_limit = 1", "pragma optimize",
	"select * from pragma_database_list", "select * from pragma_table_list", "select * from pragma_table_info('node')", "select * from pragma_compile_options",
	"select count(*) from pragma_function_list", "select count(*) from pragma_module_list", "select * from pragma_index_list('node')", "explain select 1",
	"explain query plan select * from blocks",
	// functions and modules
	"select load_extension('x')", `select "load_extension"('x')`, "select [load_extension]('x')", "select `load_extension`('x')", "select load_extension/**/('x')",
	"select load_extension \v('x')", "select hex(randomblob\n\v (9))", "select load_extension --\n('x')", "select Load_Extension('x')", "select readfile('/etc/passwd')", "select writefile('/tmp/x','y')", "select edit('x')",
	"select fts3_tokenizer('simple')", "select fts5(?1)", "select rtreecheck('node')", "select rtreenode(2, x'00')", "select sqlite_offset(id) from blocks",
	"select randomblob(1000000000)", "select zeroblob(1000000000)", "select hex(zeroblob(1000000000))", "select last_insert_rowid(), changes(), total_changes()",
	"select * from dbstat", "select count(*) from dbstat", "select * from sqlite_dbpage", "select data from sqlite_dbpage('main') limit 1", "select * from sqlite_stmt",
	"select * from bytecode('select 1')", "select * from tables_used('select * from node')", "select * from fts5vocab", "select * from fts5", "select * from rtree",
	"select subtype(1)", "select * from generate_series(1,10)", "select * from json_each((select body from record))",
	// what is below
	"select * from node", "select * from main.node", `select * from "node"`, "select * from [main].[node]", "select * from `record`", "select count(*) from node",
	"select 1 where exists (select 1 from record)", "select * from file", "select data from file", "select * from document", "select * from notebook", "select conf from notebook",
	"select * from block_row", "select count(*) from block_row", "select * from block_terms", "select term from block_terms", "select * from blocks_fts_data",
	"select * from blocks_fts_config", "select * from blocks_fts_docsize", "select count(*) from blocks_fts_idx", "select * from blocks_fts_content",
	"select * from sqlite_sequence", "select sql from sqlite_master where name like '%node%'", "select * from sqlite_temp_master", "select * from main.sqlite_master, blocks",
	"select * from temp.sqlite_master", "select * from sqlite_schema, node", "select * from temp.node", "select main.node.id from main.node",
	// names that pretend to be a documented table
	"with blocks as (select * from node) select * from blocks", "with blocks as (select * from main.record) select * from blocks",
	"with blocks as (select body from record) select (select body from blocks)", "with stat as (with refs as (select * from file) select * from refs) select * from stat",
	"with block_row as (select * from node) select * from block_row", "with x as (select * from node) select * from x", "with node as (select * from main.node) select * from node",
	"with recursive blocks(id) as (select body from record union all select id from blocks) select * from blocks limit 5",
	"select * from (select * from (select * from node) as blocks) as blocks", "select blocks.body from record as blocks", "select * from blocks, (select * from record) as refs",
	"with blocks as materialized (select * from file) select * from blocks", "select * from blocks natural join record", "select * from blocks where id in record",
	"select id from blocks where id in (select id from node)", "select id from blocks order by (select body from record)", "select max(body) over () from record",
	"select * from blocks limit (select count(*) from record)", "select case when (select count(*) from record) then 1 end", "select 1 union select body from record",
	"select 1 except select body from record", "select * from blocks group by id having (select body from record) is not null", "values ((select body from record))",
	"select iif(exists(select 1 from file), 1, 2)", "select sum(1) filter (where exists (select 1 from record)) from blocks",
	"select group_concat((select body from record)) from blocks", "select * from blocks left join record on 1",
	// what is in a closed notebook
	"select * from blocks where content like 'CAN%'", "select * from blocks_fts where blocks_fts match 'CAN' || 'ARY'", "select content from blocks_fts",
	"select snippet(blocks_fts, 11, '', '', '', 9) from blocks_fts where blocks_fts match 'text'", "select * from blocks_fts where content like '%text%'",
	"select * from blocks_fts where rowid > 0", "select * from attributes", "select * from refs", "select * from spans", "select * from assets",
	// without end, or too large
	"with recursive c(x) as (select 1 union all select x+1 from c) select count(*) from c", "select count(*) from blocks a, blocks b, blocks c, blocks d, blocks e, blocks f, blocks g, blocks h, blocks i",
	"with recursive c(x) as (select 'a' union all select x||x from c) select length(x) from c", "select group_concat(hex(zeroblob(1000)), 'x') from blocks a, blocks b, blocks c",
	"select replace(replace(replace(hex(hex(hex(hex('aaaaaaaaaa')))),'3',hex(hex('aaaaaaaa'))),'6',hex(hex('aaaaaaaaaaaaa'))),'1',hex(hex('aaaaaaaaaaaaaaaa')))",
	"select 'a' like '" + strings.Repeat("%a", 2000) + "'", "select json_group_array(a.content) from blocks a, blocks b, blocks c, blocks d, blocks e, blocks f",
	// odd texts
	"", " ", ";", ";;;", "--", "/*", "'", `"`, "`", "[", "select", "select ;", "select 1 /* open", "select 'open", "select 1\x00; delete from node", "\x00", "\ufeffselect 1",
	"select '\xff'", "select * from \ufeffblocks", "select ?", "select :a, @b, $c, ?9", "select 1) union select * from (select 2", "\u00a0select 1", "select 1 limit 1 limit 1",
	"select \"\"", "select \"\".\"\"", "select \"a\"\"b\"", "select x'4'", "select 1e", "select 0x", "select #1", "select a.b.c.d from blocks", "select * from blocks()", "select * from stat('x')",
}

func TestHostile(t *testing.T) {
	t.Parallel()
	if len(hostile) < 150 {
		t.Fatalf("only %d statements", len(hostile))
	}
	path := newVaultFile(t)
	conn, watcher := connect(t, path), connect(t, path)
	g := closeAfter(t, &sqlguard.Runner{Timeout: 200 * time.Millisecond})
	before := dump(t, watcher)
	if !strings.Contains(before, canary) {
		t.Fatal("the canary is nowhere")
	}
	answered := 0
	for i, statement := range hostile {
		if await.Race && i%10 != 0 { // an endless statement is timed in steps of SQLite, which take long under the race detector
			continue
		}
		start := time.Now()
		result, err := g.Select(conn, statement, 64)
		await.Within(t, statement, time.Since(start), 10*time.Second)
		if err == nil {
			answered++
		}
		if shown := fmt.Sprint(result); strings.Contains(shown, canary) || strings.Contains(shown, fmt.Sprint(string([]byte(canary)))) {
			t.Errorf("%s shows what it may not: %.300s", statement, shown)
		}
		if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), statement, ""), canary) {
			t.Errorf("%s: the error tells what it may not: %v", statement, err)
		}
		if !conn.AutocommitEnabled() {
			t.Fatalf("%s began a transaction", statement)
		}
	}
	if after := dump(t, watcher); after != before {
		t.Error("the file has changed")
	}
	t.Logf("%d of %d were answered", answered, len(hostile))
	if answered > len(hostile)/3 {
		t.Errorf("%d of %d were answered", answered, len(hostile))
	}
}

// FuzzSelect: whatever a statement is, it neither changes nor shows what it may not.
func FuzzSelect(f *testing.F) {
	for _, statement := range hostile {
		f.Add(statement)
	}
	path := newVaultFile(f)
	conn, watcher := connect(f, path), connect(f, path)
	g := closeAfter(f, &sqlguard.Runner{Timeout: 50 * time.Millisecond, MaxBytes: 1 << 20})
	before := dump(f, watcher)
	f.Fuzz(func(t *testing.T, statement string) {
		result, _ := g.Select(conn, statement, 64)
		if shown := fmt.Sprint(result); strings.Contains(shown, canary) && !strings.Contains(strings.ToUpper(statement), canary) {
			t.Errorf("%q shows %.300s", statement, shown)
		}
		if !conn.AutocommitEnabled() || dump(t, watcher) != before {
			t.Fatalf("%q changed something", statement)
		}
	})
}
