package document_test

import (
	"fmt"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestSearchDocs(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other, hidden := k.Notebook("会议"), k.Notebook("Other"), k.Notebook("Secret")
	id := k.Doc(nb, "/P/会议 1", "")
	k.Doc(nb, "/P/会议 1/会议 2", "")
	k.Doc(nb, "/会议 3", "")
	k.Doc(other, "/会议 other", "")
	k.Doc(hidden, "/会议 secret", "")
	k.Levels[kernel.ID(hidden)] = access.None
	got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", " 会议 "))
	if got.Get("total").Int() != 3 || strings.Contains(got.Raw, "other") || strings.Contains(got.Raw, "ecret") {
		t.Fatalf("found %s", got.Raw)
	}
	one := got.Get(`docs.#(id=="` + id + `")`)
	if one.Get("hPath").String() != "/P/会议 1" || one.Get("name").String() != "会议 1" || !strings.HasSuffix(one.Get("path").String(), storagePathOf(id)) {
		t.Errorf("found as %s", one.Raw)
	}
	for scope, want := range map[string]int64{"/": 3, "/P": 2, "P/": 2, "/P/会": 0, one.Get("path").String(): 2} {
		got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", "会议", "path", scope))
		if got.Get("total").Int() != want || !got.Get("pathApplied").Bool() || got.Get("pathFilteredOutCount").Int() != 3-want {
			t.Errorf("in %s: %s", scope, got.Raw)
		}
	}
	if got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", "nothing")); got.Get("docs").Raw != "[]" {
		t.Errorf("nothing found: %s", got.Raw)
	}
	k.Refused(t, findAction(t, "search_docs"), args("notebook", nb, "query", " "), tool.Invalid)
	on, missing := guardedByNotebook("notebook", "query", "x")
	checkGuarded(t, "search_docs", access.Read, on, missing)
}

// The kernel's own search of titles ends after 64 hits in whatever notebook.
func TestSearchDocsCrowded(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	crowd, nb := k.Notebook("A"), k.Notebook("B")
	const crowded = 65 // one more than the kernel's own search finds
	for n := range crowded {
		k.Doc(crowd, fmt.Sprintf("/plan %d", n), "")
	}
	k.Doc(nb, "/plan", "")
	if got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", "plan")); got.Get("total").Int() != 1 {
		t.Errorf("found %s", got.Raw)
	}
	if got := k.Must(t, findAction(t, "search_docs"), args("notebook", crowd, "query", "PLAN")); got.Get("total").Int() != crowded {
		t.Errorf("found %s of 65", got.Get("total").Raw)
	}
}

func TestSearchDocsQueries(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("Plan")
	for _, hpath := range []string{"/plans/plan", "/plans/DreiÜnÏ", "/a_b 100%", "/it's [x] * ?", "/家 👨\u200d👩\u200d👧"} {
		k.Doc(nb, hpath, "")
	}
	id := k.Doc(nb, "/odd", "")
	if err := k.Client.SetAttrs(t.Context(), kernel.ID(id), map[string]string{"alias": "Ersatz", "name": "quux"}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"plan": "/plans/plan /plans", "PLANS/plan": "/plans/plan", "plans dreiünï": "/plans/DreiÜnÏ", "_": "/a_b 100%", "0%": "/a_b 100%",
		"[X] *": "/it's [x] * ?", "it's ?": "/it's [x] * ?", "👩": "/家 👨\u200d👩\u200d👧", "ersatz": "/odd", "QUUX": "/odd", "plan nothing": "", "a?b": "",
	} {
		var paths []string
		for _, h := range k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", query)).Get("docs.#.hPath").Array() {
			paths = append(paths, h.Str)
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	plans := k.Must(t, findAction(t, "lookup"), args("notebook", nb, "hpath", "/plans")).Get("idPath.id").Str
	for _, scope := range []string{plans, storagePathOf(plans)} {
		if got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", "plan", "path", scope)); got.Get("total").Int() != 2 {
			t.Errorf("below %s: %s", scope, got.Raw)
		}
	}
	for _, all := range []string{nb, storagePathOf(nb)} {
		if got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", "plan", "path", all)); got.Get("pathFilteredOutCount").Int() != 0 {
			t.Errorf("below %s: %s", all, got.Raw)
		}
	}
	k.Refused(t, findAction(t, "search_docs"), args("notebook", nb, "query", strings.Repeat("长", 2000)), tool.Invalid)
}

func TestSearchDocsCut(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	row := func(n int) string {
		return fmt.Sprintf(`{"id":"20240101120000-%07d","path":"/20240101120000-%07d.sy","hpath":"/d%d"}`, n, n, n)
	}
	rows := []string{row(1)} // the index may have a document twice
	for n := range 201 {
		rows = append(rows, row(n))
	}
	k.Client = kernel.New(k.URL(), kernel.Options{Transport: fakeAnswer("/api/query/sql", "["+strings.Join(rows, ",")+"]")})
	t.Cleanup(k.Client.Close)
	got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", "D"))
	if got.Get("total").Int() != 201 || got.Get("docs.#").Int() != 200 || !got.Get("truncated").Bool() || got.Get("hint").Str == "" {
		t.Errorf("%s of %s, truncated %s, %s", got.Get("docs.#").Raw, got.Get("total").Raw, got.Get("truncated").Raw, got.Get("hint").Raw)
	}
}

// A read-only kernel refuses SQL.
func TestSearchDocsReadOnly(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	k.NeedsVault("it has to be started read-only")
	nb, other := k.Notebook("A"), k.Notebook("B")
	id := k.Doc(nb, "/P/D", "")
	k.Doc(other, "/D", "")
	k.ReadOnly(true)
	got := k.Must(t, findAction(t, "search_docs"), args("notebook", nb, "query", "D"))
	if got.Get("total").Int() != 1 || got.Get("docs.0.id").Str != id || got.Get("docs.0.hPath").Str != "/P/D" {
		t.Errorf("found %s", got.Raw)
	}
}
