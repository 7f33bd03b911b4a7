package document_test

import (
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
	got := k.Must(t, act(t, "search_docs"), args("notebook", nb, "query", " 会议 "))
	if got.Get("total").Int() != 3 || strings.Contains(got.Raw, "other") || strings.Contains(got.Raw, "ecret") { // R-1-9
		t.Fatalf("found %s", got.Raw)
	}
	one := got.Get(`docs.#(id=="` + id + `")`)
	if one.Get("hPath").String() != "/P/会议 1" || one.Get("name").String() != "会议 1" || !strings.HasSuffix(one.Get("path").String(), path(id)) {
		t.Errorf("found as %s", one.Raw)
	}
	for scope, want := range map[string]int64{"/": 3, "/P": 2, "P/": 2, "/P/会": 0, one.Get("path").String(): 2} {
		got := k.Must(t, act(t, "search_docs"), args("notebook", nb, "query", "会议", "path", scope))
		if got.Get("total").Int() != want || !got.Get("pathApplied").Bool() || got.Get("pathFilteredOutCount").Int() != 3-want {
			t.Errorf("in %s: %s", scope, got.Raw)
		}
	}
	if got := k.Must(t, act(t, "search_docs"), args("notebook", nb, "query", "nothing")); got.Get("docs").Raw != "[]" {
		t.Errorf("nothing found: %s", got.Raw)
	}
	k.Refused(t, act(t, "search_docs"), args("notebook", nb, "query", " "), tool.Invalid)
	on, missing := byNotebook("notebook", "query", "x")
	guarded(t, "search_docs", access.Read, on, missing)
}

// The kernel's index may have a document several times.
func TestSearchDocsDoubled(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/D", "")
	row := `{"box":"` + nb + `","boxIcon":"","hPath":"A/D","path":"` + path(id) + `"}`
	page := `{"box":"` + nb + `","boxIcon":"","hPath":"A/","path":"/"}`
	k.Client = kernel.New(k.URL(), kernel.Options{Transport: canned("/api/filetree/searchDocs", "["+row+","+page+","+row+"]")})
	t.Cleanup(k.Client.Close)
	if got := k.Must(t, act(t, "search_docs"), args("notebook", nb, "query", "D")); got.Get("total").Int() != 1 {
		t.Errorf("found %s", got.Raw)
	}
}
