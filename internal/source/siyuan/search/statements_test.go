package search_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/test/await"
)

// allowedStatements are statements that a person or a model writes, in the forms that kernels have been seen to refuse, to change
// or to fail at, and in many others.
var allowedStatements = []string{
	// columns, names, quotes
	"select * from blocks", "select id from blocks", "SELECT ID, Content FROM Blocks", `select "id", [content], ` + "`type`" + ` from blocks`,
	`select id as "the id", content 'text of it' from blocks`, "select b.id, b.content from blocks b", "select blocks.id from blocks", "select b.* from blocks as b",
	"select id, id from blocks", "select id, content as id from blocks", "select 1", "select 1 as x, 'a;b' as y, \"content\" from blocks", "select 'it''s -- no comment' as x from blocks",
	"select distinct type from blocks", "select all type from blocks", "values (1, 'a'), (2, 'b')", "select null as n, 1.5 as f, -3 as i, x'41' as b, 0x1f as h, 1e3 as e",
	"select id -- a comment\nfrom blocks", "/* first */ select id /* in it */ from blocks -- last", "select id from blocks;", "  select id from blocks  ;  ",
	// conditions
	"select id from blocks where type = 'd'", "select id from blocks where type == 'd' and box <> ''", "select id from blocks where type != 'p' or 0",
	"select id from blocks where not type = 'p'", "select id from blocks where content like '%苹果%'", "select id from blocks where content not like '%apple%'",
	`select id from blocks where content like '%100\%%' escape '\'`, "select id from blocks where content like '%a!_b%' escape '!'", "select id from blocks where content not like '%!%%' escape '!'",
	"select id from blocks where content glob '*[Aa]pple*'", "select id from blocks where content not glob '*pie*'", "select id from blocks where content regexp 'ap+le'",
	"select id from blocks where content not regexp '^Apple'", "select id from blocks where length between 5 and 40", "select id from blocks where length not between 5 and 40",
	"select id from blocks where type in ('h', 'p')", "select id from blocks where type not in ('h', 'p')", "select id from blocks where id in (select root_id from blocks)",
	"select id from blocks where (type, subtype) in (values ('h', 'h1'))", "select id from blocks where (type, subtype) = ('h', 'h1')", "select id from blocks where name is null or name = ''",
	"select id from blocks where name is not null", "select id from blocks where name notnull", "select id from blocks where name isnull", "select id from blocks where memo is not distinct from ''",
	"select id from blocks where type is 'd'", "select id from blocks where type is not 'd'", "select id from blocks where content collate nocase = 'APPLE JUICE'",
	"select id from blocks where exists (select 1 from spans s where s.block_id = blocks.id)", "select id from blocks b where not exists (select 1 from blocks c where c.parent_id = b.id)",
	"select id from blocks where length > (select avg(length) from blocks)", "select id from blocks where instr(content, 'apple') > 0", "select id from blocks where tag like '%#fruit/%'",
	"select id from blocks where created >= strftime('%Y%m%d', 'now', '-7 days')", "select id from blocks where ial like '%custom-x=\"1\"%'", "select id from blocks where -length < -5 and ~length < 0",
	"select id from blocks where length % 2 = 0 and length << 1 > 2 and length & 1 | 0 = 0", "select id from blocks where content || '!' = 'apple juice!'", "select id from blocks where true and not false",
	// order and limit
	"select id from blocks order by id", "select id from blocks order by type, id desc", "select id from blocks order by 1", "select id from blocks order by length(content) desc, id", "select id from blocks order by content collate nocase, id",
	"select id from blocks order by name nulls last, id", "select id from blocks order by id limit 3", "select id from blocks order by id limit 3 offset 2", "select id from blocks order by id limit 2, 3",
	"select id from blocks order by id limit (select 4)", "select id from blocks order by id limit 1 + 1", "select id from blocks order by id limit -1", "select id from blocks order by id limit 0",
	// grouping and functions
	"select count(*) from blocks", "select count(*) as n, type from blocks group by type", "select type, count(*) as n from blocks group by 1 having n > 1 order by n desc, type", "select count(distinct type) from blocks",
	"select max(updated), min(created) from blocks", "select sum(length), total(length), avg(length) from blocks", "select group_concat(type, ', ') from (select type from blocks order by id)",
	"select group_concat(type, ',' order by id) from blocks", "select string_agg(type, '/') from (select distinct type from blocks order by 1)", "select count(*) filter (where type = 'p') as p from blocks",
	"select upper(type), lower(content), length(content), substr(content, 1, 3), replace(content, 'apple', 'pear'), trim(content), hex(type) from blocks", "select coalesce(nullif(name, ''), content) as title from blocks",
	"select iif(type = 'd', 'document', 'other') as what from blocks", "select case when type = 'd' then 'document' when type = 'h' then 'heading' else 'other' end as what from blocks",
	"select case type when 'd' then 1 end as x from blocks", "select cast(length as text) as t, cast('12' as integer) + 1 as n from blocks", "select typeof(length), abs(-length), round(length / 3.0, 2) from blocks",
	"select date('now') = date('now') as same", "select substr(created, 1, 6) as month, count(*) from blocks group by month", "select json_extract('{\"a\": [1, 2]}', '$.a[1]') as x", "select '{\"a\": 1}' -> '$.a' as x, '{\"a\": 1}' ->> 'a' as y",
	"select value from json_each('[1, 2, 3]')", "select b.id, j.value from blocks b, json_each('[1, 2]') j where b.type = 'd'",
	"select total(length) as \"sum of; all\" from blocks", "select ifnull(null, 1), max(1, 2), min(1, 2), char(97), unicode('a'), quote('a''b'), sign(-2)",
	// windows
	"select id, row_number() over (order by id) as n from blocks", "select id, rank() over (partition by type order by id) as n from blocks", "select id, lag(id, 1, '') over (order by id) as before from blocks",
	"select id, sum(length) over w as s from blocks window w as (partition by type order by id rows between unbounded preceding and current row)", "select id from (select id, row_number() over (partition by type order by id) as n from blocks) where n = 1",
	"select distinct first_value(id) over (partition by type order by id) as f from blocks", "select id, count(*) over () as n from blocks", "select id, ntile(2) over (order by id) from blocks",
	// compounds
	"select id from blocks where type = 'd' union select id from blocks where type = 'h'", "select id from blocks union all select block_id from spans", "select id from blocks except select block_id from spans",
	"select id from blocks intersect select block_id from spans", "select type from blocks union select 'zz' order by 1 desc limit 3", "select * from (select id from blocks where type = 'd' limit 1) union all select * from (select id from blocks where type = 'h' limit 1)",
	// joins
	"select a.id, b.content from blocks a join blocks b on a.root_id = b.id", "select a.id from blocks a left join spans s on s.block_id = a.id where s.id is null", "select a.id from blocks a inner join attributes t on t.block_id = a.id",
	"select a.id from blocks a, blocks b where a.parent_id = b.id and b.type = 'd'", "select a.id from blocks a join blocks b using (id)", "select id from blocks natural join (select 'd' as type)", "select a.id from blocks a cross join (select 1 as one) c",
	"select b.hpath, r.content, d.hpath as target from refs r join blocks b on b.id = r.block_id join blocks d on d.id = r.def_block_root_id", "select b.id, (select count(*) from blocks c where c.root_id = b.id) as n from blocks b where b.type = 'd'",
	"select d.content, count(b.id) as n from blocks d left join blocks b on b.root_id = d.id and b.type = 'p' where d.type = 'd' group by d.id order by n desc, d.id",
	// expressions before the statement
	"with d as (select * from blocks where type = 'd') select id from d", "with d as (select id from blocks), e(x) as (select id from d) select x from e", "with d as materialized (select id from blocks) select count(*) from d",
	"with d as not materialized (select id from blocks) select * from d order by 1 limit 2", "select * from (with d as (select id from blocks) select * from d)", "with n(v) as (values (1), (2)) select v, (select count(*) from blocks) as c from n",
	// the other tables
	"select * from spans", "select content, count(*) as n from spans where type like '%tag%' group by content", "select * from attributes", "select name, value from attributes where name like 'custom-%'", "select * from refs",
	"select * from assets", "select path, count(*) from assets group by path", "select * from file_annotation_refs", "select * from blocks_fts", "select id from blocks_fts where content like '%apple%'",
	"select b.content from blocks b join refs r on r.block_id = b.id where r.def_block_id like '2%'", "select count(*) from (select * from blocks) x, (select 1) y",
	// long ones
	"select id from blocks where id in ('" + strings.Repeat("20200101000000-aaaaaaa', '", 600) + "')", "select id from blocks where " + strings.Repeat("content <> 'nobody' and ", 300) + "1",
	"select id from blocks where content = '" + strings.Repeat("长", 5000) + "'",
}

// TestHonestStatements: a statement restricted to readable blocks finds the same as in a workspace that has
// only those.
func TestHonestStatements(t *testing.T) {
	if len(allowedStatements) < 130 {
		t.Fatalf("only %d statements", len(allowedStatements))
	}
	w := newWorkspace(t)
	tagged := w.Doc(w.fruit, "/Honest 100%", "# One a_b\n\nrefers to (("+w.doc+" 'Apple')) 100% a_b & <x>\n\n![pic](assets/pic-"+assetID+".png)\n\n> quote #fruit/pear#\n\n```go\nx := 1\n```")
	for block, attrs := range map[string]map[string]string{tagged: {"custom-x": "1", "memo": "m"}, w.children(tagged)[0]: {"custom-x": "1", "name": "one"}} {
		if err := w.Client.SetAttrs(t.Context(), idOf(block), attrs); err != nil {
			t.Fatal(err)
		}
	}
	run := func(sql string) gjson.Result { return w.runAction("query_sql", "stmt", sql, "maxRows", 1000) }
	w.hideSecret()
	statements := slices.Clone(allowedStatements)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(statements), func(i, j int) { statements[i], statements[j] = statements[j], statements[i] })
	statements = statements[:await.Fewer(len(statements))]
	narrowed := make([]gjson.Result, len(statements))
	for i, sql := range statements {
		narrowed[i] = run(sql)
		w.checkTellsNothing(narrowed[i])
	}
	if err := w.Client.CloseNotebook(t.Context(), idOf(w.secret)); err != nil {
		t.Fatal(err)
	}
	delete(w.Levels, idOf(w.secret))
	w.waitUntil("the rows of a closed notebook are gone", func() bool {
		return run("select id from blocks where box = '"+w.secret+"'").Get("total").Int() == 0
	})
	some, wrong := 0, 0
	for i, sql := range statements {
		plain := run(sql)
		got, want := rowsIn(narrowed[i]), rowsIn(plain)
		if len(want) > 0 {
			some++
		}
		if ordered := strings.Contains(sql, " order by "); !ordered {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			if wrong++; wrong > 5 {
				continue
			}
			t.Errorf("%.200s\nnarrowed: %d rows %.300v\nalone:    %d rows %.300v", sql, len(got), got, len(want), want)
		}
	}
	if wrong > 5 {
		t.Errorf("%d statements in all", wrong)
	}
	if some < len(statements)*3/4 {
		t.Errorf("only %d of %d statements find anything", some, len(statements))
	}
}

// rowsIn returns the rows of a result as JSON.
func rowsIn(got gjson.Result) []string {
	var rows []string
	for _, row := range got.Get("data").Array() {
		rows = append(rows, row.Raw)
	}
	return rows
}
