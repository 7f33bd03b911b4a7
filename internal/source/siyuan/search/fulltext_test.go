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

func TestFulltextFindsBlocksWithOneRequest(t *testing.T) {
	w := newWorkspace(t)
	got := w.runAction("fulltext", "query", "pie")
	if n := len(w.Asked("/api/search/fullTextSearchBlock")); n != 1 || len(w.Asked("/api/query/sql")) > 0 {
		t.Errorf("%d searches, want 1: %v", n, w.Calls())
	}
	if got.Get("total").Int() != 2 || len(got.Get("data").Array()) != 2 || got.Get("matchedRootCount").Int() != 2 {
		t.Errorf("got %s, want one block of each notebook", got.Raw)
	}
	i := slices.Index(actiontest.Members(got.Get("data"), "hPath"), "/Apple 苹果")
	if i < 0 {
		t.Fatalf("got %s", got.Raw)
	}
	hit := got.Get(fmt.Sprintf("data.%d", i))
	if text := hit.Get("plainContent").Str; text != "Apple pie with apple cinnamon 苹果派" {
		t.Errorf("plainContent %q", text)
	}
	if text := hit.Get("content").Str; !strings.Contains(text, "<mark>pie</mark>") {
		t.Errorf("content %q has no mark", text)
	}
	if hit.Get("type").Str != "NodeParagraph" || hit.Get("box").Str != w.fruit || hit.Get("rootID").Str != w.doc {
		t.Errorf("hit %s", hit.Raw)
	}
}

func TestFulltextNamesAndCodes(t *testing.T) {
	w := newWorkspace(t)
	for _, c := range []struct {
		pairs                     []any
		method, order             int64
		types, resolvedMethodName string
	}{
		{[]any{}, 0, 0, "", "keyword"},
		{[]any{"method", 3, "orderBy", 7}, 3, 7, "", "regex"},
		{[]any{"method", "query", "orderBy", "date"}, 1, 4, "", "query_syntax"},
		{[]any{"method", "keyword", "methodName", "regex", "orderBy", 1, "sortBy", "content_asc"}, 3, 5, "", "regex"},
		{[]any{"method", "1"}, 1, 0, "", "query_syntax"},
		{[]any{"typeShortcodes", []string{"h", "p"}}, 0, 0, `{"heading":true,"paragraph":true}`, "keyword"},
		{[]any{"types", map[string]bool{"heading": true}}, 0, 0, `{"heading":true}`, "keyword"},
		{[]any{"types", map[string]bool{"heading": false, "paragraph": true}}, 0, 0, `{"heading":false,"paragraph":true}`, "keyword"},
	} {
		w.ResetCalls()
		got := w.runAction("fulltext", append([]any{"query", "apple"}, c.pairs...)...)
		sent := w.Asked("/api/search/fullTextSearchBlock")[0]
		if sent.Get("method").Int() != c.method || sent.Get("orderBy").Int() != c.order || sent.Get("types").Raw != c.types {
			t.Errorf("%v: sent %s", c.pairs, sent.Raw)
		}
		if name := got.Get("resolvedArgs.method").Str; name != c.resolvedMethodName {
			t.Errorf("%v: understood as %q", c.pairs, name)
		}
		for _, typ := range got.Get("resolvedArgs.types").Array() {
			if !sent.Get("types." + typ.Str).Bool() {
				t.Errorf("%v: understood as a search for the type %s", c.pairs, typ.Str)
			}
		}
		if got.Get("total").Int() == 0 {
			t.Errorf("%v: no hits", c.pairs)
		}
	}
}

func TestFulltextNarrowsToWhatMayBeRead(t *testing.T) {
	w := newWorkspace(t)
	w.hideSecret()
	got := w.runAction("fulltext", "query", "apple", "pageSize", 2, "page", 2)
	w.checkTellsNothing(got)
	sent := w.Asked("/api/search/fullTextSearchBlock")
	if len(sent) != 1 || sent[0].Get("paths").Raw != `["`+w.fruit+`"]` {
		t.Errorf("sent %v, want the readable notebook in paths", sent)
	}
	if got.Get("total").Int() < 3 || got.Get("page").Int() != 2 || got.Get("filteredOutCount").Exists() {
		t.Errorf("got %s, want page 2 with the totals of what may be read", got.Raw)
	}
	for _, paths := range [][]string{{w.secret}, {actiontest.Nowhere}, {w.secret, actiontest.Nowhere}} {
		got := w.runAction("fulltext", "query", "apple", "paths", paths)
		if w.checkTellsNothing(got); got.Get("total").Int() != 0 {
			t.Errorf("%v: %s", paths, got.Raw)
		}
	}
	absent := strings.ReplaceAll(w.runAction("fulltext", "query", "apple", "verbose", true, "paths", []string{actiontest.Nowhere}).Raw, actiontest.Nowhere, "")
	if got := w.runAction("fulltext", "query", "apple", "verbose", true, "paths", []string{w.secret}).Raw; strings.ReplaceAll(got, w.secret, "") != absent {
		t.Errorf("a notebook that is hidden: %s\none that does not exist: %s", got, absent)
	}
	if got := w.runAction("fulltext", "query", "apple", "paths", []string{w.secret, w.fruit}); got.Get("total").Int() == 0 {
		t.Errorf("nothing of the readable notebook: %s", got.Raw)
	}
	hidden, missing := w.runAction("fulltext", "query", w.secretDoc), w.runAction("fulltext", "query", actiontest.Nowhere)
	if w.checkTellsNothing(hidden); hidden.Raw != missing.Raw {
		t.Errorf("an id that is hidden: %s\none that does not exist: %s", hidden.Raw, missing.Raw)
	}
	w.checkTellsNothing(w.runAction("fulltext", "query", "apple", "groupBy", 1))
	w.checkTellsNothing(w.runAction("fulltext", "query", "apple OR CANARY", "method", "query_syntax"))
}

// TestFulltextFiltersWhatTheKernelShouldNotHaveAnswered: hidden hits are dropped even if the kernel ignores the paths
// of a request.
func TestFulltextFiltersWhatTheKernelShouldNotHaveAnswered(t *testing.T) {
	w := newWorkspace(t)
	w.hideSecret()
	w.changeRequests(func(_, body string) string { // no other request has this
		body, _ = sjson.Delete(body, "paths")
		return body
	})
	got := w.runAction("fulltext", "query", "pie")
	if got.Get("total").Int() != 1 || len(got.Get("data").Array()) != 1 {
		t.Errorf("got %s, want one hit", got.Raw)
	}
	if got.Get("filteredOutCount").Exists() || got.Get("matchedRootCount").Exists() {
		t.Errorf("what was dropped is counted, or the kernel's totals are told: %s", got.Raw)
	}
	w.checkTellsNothing(got)
	w.checkTellsNothing(w.runAction("fulltext", "query", "apple", "groupBy", 1))
}

func TestFulltextInsideABlock(t *testing.T) {
	w := newWorkspace(t)
	heading := w.children(w.doc)[0]
	got := w.runAction("fulltext", "query", "apple", "parentId", heading, "pageSize", 10)
	for _, hit := range got.Get("data").Array() {
		if hit.Get("rootID").Str != w.doc || hit.Get("id").Str == heading {
			t.Errorf("not below the heading: %s", hit.Raw)
		}
	}
	if got.Get("total").Int() != 3 || got.Get("paginationMode").Str != "post_filtered_window" {
		t.Errorf("got %s, want 3 hits", got.Raw)
	}
	inDoc := w.runAction("fulltext", "query", "apple", "parentId", w.doc)
	if inDoc.Get("total").Int() != 4 {
		t.Errorf("in the document: %s, want 4 hits", inDoc.Raw)
	}
	if inNotebook := w.runAction("fulltext", "query", "apple", "parentId", w.fruit); inNotebook.Get("total").Int() != 5 {
		t.Errorf("in the notebook: %s, want 5 hits", inNotebook.Raw)
	}
	tagged := w.runAction("fulltext", "query", "apple", "hasTags", true, "paths", []string{w.fruit})
	if tags := actiontest.Members(tagged.Get("data"), "tag"); !slices.Equal(tags, []string{"#fruit/apple#"}) {
		t.Errorf("tagged: %v", tags)
	}
	w.checkHiddenLikeMissing("fulltext", w.secretDoc, "query", "apple", "parentId", w.secretDoc)
}

func TestFulltextPages(t *testing.T) {
	w := newWorkspace(t)
	var lines []string
	for i := range 45 {
		lines = append(lines, fmt.Sprintf("plum %d", i))
	}
	w.Doc(w.fruit, "/Plums", strings.Join(lines, "\n\n"))
	got := w.runAction("fulltext", "query", "plum", "typeShortcodes", []string{"p"})
	if len(got.Get("data").Array()) != 20 || !got.Get("truncated").Bool() || got.Get("showing").Int() != 20 || got.Get("hint").Str == "" {
		t.Errorf("the default page is not shown in part: %s", got.Raw)
	}
	if got.Get("total").Int() != 45 || got.Get("pageCount").Int() != 2 || !got.Get("hasNextPage").Bool() {
		t.Errorf("totals: %s", got.Raw)
	}
	last := w.runAction("fulltext", "query", "plum", "page", 99, "pageSize", 40, "typeShortcodes", []string{"p"})
	if last.Get("page").Int() != 2 || len(last.Get("data").Array()) != 5 || last.Get("truncated").Bool() {
		t.Errorf("beyond the end: %s", last.Raw)
	}
}

func TestFulltextRefuses(t *testing.T) {
	w := newWorkspace(t)
	w.checkRefused(tool.Invalid, "fulltext", "query", "([", "method", "regex")
	if e := w.checkRefused(tool.Invalid, "fulltext", "query", "a-b", "method", "query_syntax"); !strings.Contains(e.Hint, "double quotes") {
		t.Errorf("words with a hyphen are refused with %v", e)
	}
	w.checkRefused(tool.Invalid, "fulltext", "query", "apple", "paths", []string{"../conf"})
	w.checkRefused(tool.Invalid, "fulltext", "query", "apple", "paths", []string{w.fruit + "/' OR 1=1 --.sy"})
	w.checkRefused(tool.Invalid, "fulltext", "query", "apple", "types", map[string]bool{"headings": true})
	w.checkRefused(tool.Invalid, "fulltext", "query", "delete from blocks", "method", "sql")
	if got := w.runAction("fulltext", "query", "select * from blocks where type='d'", "method", "sql"); got.Get("total").Int() == 0 {
		t.Errorf("sql finds nothing: %s", got.Raw)
	}
	w.hideSecret()
	w.checkRefused(tool.Denied, "fulltext", "query", "select * from main.blocks", "method", "sql")
	w.checkRefused(tool.Invalid, "fulltext", "query", "x') OR ('1'='1", "method", "regex")
}

// TestFulltextShowsABlockOnce: the index may hold rows twice.
func TestFulltextShowsABlockOnce(t *testing.T) {
	w := newWorkspace(t)
	w.changeRequests(func(endpoint, body string) string {
		if endpoint != "/api/search/fullTextSearchBlock" {
			return body
		}
		body, _ = sjson.Set(body, "query", "select * from blocks where type = 'h' union all select * from blocks where type = 'h'")
		body, _ = sjson.Set(body, "method", 2)
		return body
	})
	if got := w.runAction("fulltext", "query", "apple"); got.Get("data.#").Int() != 1 {
		t.Errorf("got %s, want one block", got.Raw)
	}
}

// TestFulltextByStatement: a search by SQL counts and pages correctly, shows nothing hidden, and reports what it cannot run. The
// kernel's own counts and pages wrongly and gives no error.
func TestFulltextByStatement(t *testing.T) {
	w := newWorkspace(t)
	for sql, want := range map[string]int64{
		"select * from blocks where content like '%a!_b%' escape '!'":                                             0,
		"select * from blocks where type = 'p' and box = '" + w.fruit + "' and content like '%apple%' limit 2":    2,
		"select id from blocks where type = 'p' and box = '" + w.fruit + "' and content like '%apple%' limit 1,1": 1,
		"with p as (select * from blocks where content like '%cinnamon%') select id from p -- one":                1,
		"select distinct b.id from blocks b join spans s on s.block_id = b.id where s.content = 'fruit/apple';":   1,
		"select block_id as id from spans where content = 'fruit/apple'":                                          1,
		"select id from blocks where content = 'nobody'":                                                          0,
	} {
		got := w.runAction("fulltext", "query", sql, "method", "sql")
		if got.Get("total").Int() != want || int64(len(got.Get("data").Array())) != want {
			t.Errorf("%s: %s, want %d", sql, got.Raw, want)
		}
	}
	const all = "select id, content from blocks where type in ('p', 'h') and content like '%apple%' order by content desc"
	whole := actiontest.Members(w.runAction("fulltext", "query", all, "method", "sql", "pageSize", 100).Get("data"), "id")
	var paged []string
	for page := 1; page <= (len(whole)+1)/2; page++ {
		got := w.runAction("fulltext", "query", all, "method", "sql", "pageSize", 2, "page", page)
		if got.Get("total").Int() != int64(len(whole)) || got.Get("hasNextPage").Bool() != (page < (len(whole)+1)/2) {
			t.Errorf("page %d: %s", page, got.Raw)
		}
		paged = append(paged, actiontest.Members(got.Get("data"), "id")...)
	}
	if len(whole) < 5 || !slices.Equal(paged, whole) {
		t.Errorf("pages %v, all %v", paged, whole)
	}
	if beyond := w.runAction("fulltext", "query", all, "method", "sql", "pageSize", 2, "page", 99); len(beyond.Get("data").Array()) == 0 {
		t.Errorf("beyond the end: %s", beyond.Raw)
	}
	if groups := w.runAction("fulltext", "query", all, "method", "sql", "groupBy", 1); groups.Get("data.#").Int() != 2 ||
		groups.Get("total").Int() != int64(len(whole)) || groups.Get("data.0.children.0.id").Str != whole[0] {
		t.Errorf("grouped: %s", groups.Raw)
	}
	w.hideSecret()
	hidden := w.runAction("fulltext", "query", "select id, '"+w.fruit+"' as box from blocks", "method", "sql", "pageSize", 128)
	if w.checkTellsNothing(hidden); hidden.Get("total").Int() < 8 {
		t.Errorf("what may be read is not found: %s", hidden.Raw)
	}
	for _, more := range [][]any{{"types", map[string]bool{"heading": true}}, {"paths", []string{w.fruit}}, {"orderBy", "relevance"}} {
		w.checkRefused(tool.Conflicting, "fulltext", append([]any{"query", all, "method", "sql"}, more...)...)
	}
	if e := w.checkRefused(tool.Invalid, "fulltext", "query", "select count(*) from blocks", "method", "sql"); !strings.Contains(e.Message, "column id") {
		t.Errorf("no ids: %v", e)
	}
}

// TestFulltextTotals: the total is the number of hits, and a hit has the path of its document.
func TestFulltextTotals(t *testing.T) {
	w := newWorkspace(t)
	w.Doc(w.fruit, "/Sour & <b> \"q\" it's", "lemon\n\nlime")
	w.Doc(w.fruit, "/Top & x/Leaf 叶", "green")
	for _, c := range []struct {
		query string
		want  int
	}{
		{"apple pie", 2}, {"apple nobody", 0},
	} {
		got := w.runAction("fulltext", "query", c.query)
		if got.Get("total").Int() != int64(c.want) || len(got.Get("data").Array()) != c.want {
			t.Errorf("%s: %s, want %d", c.query, got.Raw, c.want)
		}
	}
	if nested := w.runAction("fulltext", "query", "leaf").Get("data.0"); nested.Get("hPath").Str != "/Top & x/Leaf 叶" || nested.Get("fsPath").Str != "/Fruit 水果/Top & x/Leaf 叶" {
		t.Errorf("a document below another: %s", nested.Raw)
	}
	// The vault finds nothing for the second query, because its words are in different blocks. For a hit that is a document, both
	// the kernel and the vault give the path of its parent.
	for _, query := range []string{"lemon", "lemon lime"} {
		for _, found := range w.runAction("fulltext", "query", query).Get("data").Array() {
			if found.Get("hPath").Str != `/Sour & <b> "q" it's` || found.Get("fsPath").Str != `/Fruit 水果/Sour & <b> "q" it's` {
				t.Errorf("%s: %s", query, found.Raw)
			}
		}
	}
	all := w.runAction("fulltext", "query", "apple", "groupBy", 1, "pageSize", 128)
	tagged := w.runAction("fulltext", "query", "apple", "groupBy", 1, "hasTags", true, "pageSize", 1)
	if tagged.Get("total").Int() != 2 || tagged.Get("pageCount").Int() != 2 || tagged.Get("data.#").Int() != 1 || tagged.Get("data.0.children.#").Int() != 1 {
		t.Errorf("groups that are filtered count otherwise than others: %s", tagged.Raw)
	}
	var n int64
	for _, group := range all.Get("data").Array() {
		n += group.Get("children.#").Int()
	}
	if n != all.Get("total").Int() || n < 5 {
		t.Errorf("%d hits in groups: %s", n, all.Raw)
	}
}

// TestFulltextQuotes: a kernel inserts an expression into a statement of SQL unescaped, so a quote in it would end the
// string, and the kernel would execute what follows.
func TestFulltextQuotes(t *testing.T) {
	w := newWorkspace(t)
	w.Doc(w.fruit, "/Quotes", "it's a quince")
	count := func() int64 {
		return w.runAction("query_sql", "stmt", "select count(*) as n from blocks").Get("data.0.n").Int()
	}
	before := count()
	for query, want := range map[string]int64{
		`"it's"`: 1, `quince AND "it's a"`: 1, `"x'); DELETE FROM blocks /*"`: 0, `"x'; DELETE FROM blocks /*"`: 0, `"x')); DELETE FROM blocks /*"`: 0,
		`"x') OR 1 /*"`: 0,
	} {
		if got := w.runAction("fulltext", "query", query, "method", "query_syntax"); got.Get("total").Int() != want {
			t.Errorf("%s: %s, want %d", query, got.Raw, want)
		}
	}
	if after := count(); after != before {
		t.Errorf("%d blocks, then %d", before, after)
	}
}
