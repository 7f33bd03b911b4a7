package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/sjson"

	"collie/internal/tool"
)

func TestFulltextFindsBlocksWithOneRequest(t *testing.T) {
	w := newWorld(t)
	got := w.do("fulltext", "query", "pie")
	if n := len(w.Calls()); n != 1 {
		t.Errorf("%d requests, want 1: %v", n, w.Calls())
	}
	if got.Get("total").Int() != 2 || len(got.Get("data").Array()) != 2 || got.Get("matchedRootCount").Int() != 2 {
		t.Errorf("got %s, want one block of each notebook", got.Raw)
	}
	i := slices.Index(texts(got.Get("data"), "hPath"), "/Apple 苹果")
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
	w := newWorld(t)
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
	} {
		w.ResetCalls()
		got := w.do("fulltext", append([]any{"query", "apple"}, c.pairs...)...)
		sent := w.asked("search/fullTextSearchBlock")[0]
		if sent.Get("method").Int() != c.method || sent.Get("orderBy").Int() != c.order || sent.Get("types").Raw != c.types {
			t.Errorf("%v: sent %s", c.pairs, sent.Raw)
		}
		if name := got.Get("resolvedArgs.method").Str; name != c.resolvedMethodName {
			t.Errorf("%v: understood as %q", c.pairs, name)
		}
		if got.Get("total").Int() == 0 {
			t.Errorf("%v: no hits", c.pairs)
		}
	}
}

func TestFulltextNarrowsToWhatMayBeRead(t *testing.T) {
	w := newWorld(t)
	w.hide()
	got := w.do("fulltext", "query", "apple", "pageSize", 2, "page", 2)
	w.silent(got)
	sent := w.asked("search/fullTextSearchBlock")
	if len(sent) != 1 || sent[0].Get("paths").Raw != `["`+w.fruit+`"]` {
		t.Errorf("sent %v, want the readable notebook in paths", sent)
	}
	if got.Get("total").Int() < 3 || got.Get("page").Int() != 2 || got.Get("filteredOutCount").Exists() {
		t.Errorf("got %s, want page 2 with the totals of what may be read", got.Raw)
	}
	for _, paths := range [][]string{{w.secret}, {nowhere}, {w.secret, nowhere}} {
		got := w.do("fulltext", "query", "apple", "paths", paths)
		if w.silent(got); got.Get("total").Int() != 0 {
			t.Errorf("%v: %s", paths, got.Raw)
		}
	}
	if got := w.do("fulltext", "query", "apple", "paths", []string{w.secret, w.fruit}); got.Get("total").Int() == 0 {
		t.Errorf("nothing of the readable notebook: %s", got.Raw)
	}
	w.silent(w.do("fulltext", "query", w.secretDoc))
	w.silent(w.do("fulltext", "query", "apple", "groupBy", 1))
	w.silent(w.do("fulltext", "query", "apple OR CANARY", "method", "query_syntax"))
}

// TestFulltextFiltersWhatTheKernelShouldNotHaveAnswered: a kernel that takes no notice of paths.
func TestFulltextFiltersWhatTheKernelShouldNotHaveAnswered(t *testing.T) {
	w := newWorld(t)
	w.hide()
	w.between(func(_, body string) string {
		body, _ = sjson.Delete(body, "paths")
		return body
	})
	got := w.do("fulltext", "query", "pie")
	if got.Get("total").Int() != 1 || len(got.Get("data").Array()) != 1 {
		t.Errorf("got %s, want one hit", got.Raw)
	}
	if got.Get("filteredOutCount").Int() != 1 || got.Get("reason").Str != "permission_filtered" || got.Get("matchedRootCount").Exists() {
		t.Errorf("what was dropped is not counted, or the kernel's totals are told: %s", got.Raw)
	}
	w.silent(got)
	w.silent(w.do("fulltext", "query", "apple", "groupBy", 1))
}

func TestFulltextInsideABlock(t *testing.T) {
	w := newWorld(t)
	heading := w.children(w.doc)[0]
	got := w.do("fulltext", "query", "apple", "parentId", heading, "pageSize", 10)
	for _, hit := range got.Get("data").Array() {
		if hit.Get("rootID").Str != w.doc || hit.Get("id").Str == heading {
			t.Errorf("not below the heading: %s", hit.Raw)
		}
	}
	if got.Get("total").Int() != 3 || got.Get("paginationMode").Str != "post_filtered_window" {
		t.Errorf("got %s, want 3 hits", got.Raw)
	}
	inDoc := w.do("fulltext", "query", "apple", "parentId", w.doc)
	if inDoc.Get("total").Int() != 4 {
		t.Errorf("in the document: %s, want 4 hits", inDoc.Raw)
	}
	tagged := w.do("fulltext", "query", "apple", "hasTags", true, "paths", []string{w.fruit})
	if tags := texts(tagged.Get("data"), "tag"); !slices.Equal(tags, []string{"#fruit/apple#"}) {
		t.Errorf("tagged: %v", tags)
	}
	w.hiddenLikeMissing("fulltext", w.secretDoc, "query", "apple", "parentId", w.secretDoc)
}

func TestFulltextPages(t *testing.T) {
	w := newWorld(t)
	var lines []string
	for i := range 45 {
		lines = append(lines, fmt.Sprintf("plum %d", i))
	}
	w.Doc(w.fruit, "/Plums", strings.Join(lines, "\n\n"))
	got := w.do("fulltext", "query", "plum", "typeShortcodes", []string{"p"})
	if len(got.Get("data").Array()) != 20 || !got.Get("truncated").Bool() || got.Get("showing").Int() != 20 || got.Get("hint").Str == "" {
		t.Errorf("the default page is not shown in part: %s", got.Raw)
	}
	if got.Get("total").Int() != 45 || got.Get("pageCount").Int() != 2 || !got.Get("hasNextPage").Bool() {
		t.Errorf("totals: %s", got.Raw)
	}
	last := w.do("fulltext", "query", "plum", "page", 99, "pageSize", 40, "typeShortcodes", []string{"p"})
	if last.Get("page").Int() != 2 || len(last.Get("data").Array()) != 5 || last.Get("truncated").Bool() {
		t.Errorf("beyond the end: %s", last.Raw)
	}
}

func TestFulltextRefuses(t *testing.T) {
	w := newWorld(t)
	w.refused(tool.Invalid, "fulltext", "query", "([", "method", "regex")
	w.refused(tool.Invalid, "fulltext", "query", "apple", "paths", []string{"../conf"})
	w.refused(tool.Invalid, "fulltext", "query", "apple", "paths", []string{w.fruit + "/' OR 1=1 --.sy"})
	w.refused(tool.Invalid, "fulltext", "query", "apple", "types", map[string]bool{"headings": true})
	w.refused(tool.Invalid, "fulltext", "query", "delete from blocks", "method", "sql")
	if got := w.do("fulltext", "query", "select * from blocks where type='d'", "method", "sql"); got.Get("total").Int() == 0 {
		t.Errorf("sql finds nothing: %s", got.Raw)
	}
	w.hide()
	w.refused(tool.Denied, "fulltext", "query", fmt.Sprintf("select id, '%s' as box, content from blocks", w.fruit), "method", "sql")
	w.refused(tool.Invalid, "fulltext", "query", "x') OR ('1'='1", "method", "regex")
}

// TestFulltextShowsABlockOnce: the index may hold rows twice.
func TestFulltextShowsABlockOnce(t *testing.T) {
	w := newWorld(t)
	w.between(func(_, body string) string {
		body, _ = sjson.Set(body, "query", "select * from blocks where type = 'h' union all select * from blocks where type = 'h'")
		body, _ = sjson.Set(body, "method", 2)
		return body
	})
	if got := w.do("fulltext", "query", "apple"); got.Get("data.#").Int() != 1 {
		t.Errorf("got %s, want one block", got.Raw)
	}
}
