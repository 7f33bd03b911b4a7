package fs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	kit.Config.Memory, kit.Config.UserRules = "remember the budget", "no budget talk"
	work, hidden := notebook(t, kit, "Work"), notebook(t, kit, "Hidden")
	document(t, kit, work, "/Plan", "# Budget\n\nplain\n\n- the budget 预算 of 50%\n- `code` budget\n\nBUDGET")
	document(t, kit, work, "/Plan/Sub", "sub budget_x")
	document(t, kit, work, "/Other", "nothing here, ÉTÉ "+strings.Repeat("长", 300))
	document(t, kit, hidden, "/Secret", "hidden budget")
	kit.Levels[hidden] = access.None
	search := func(pairs ...any) []string {
		t.Helper()
		got := kit.Must(t, act(t, "search"), args(t, pairs...))
		if strings.Contains(got.Raw, "hidden budget") || strings.Contains(got.Raw, "Secret") {
			t.Errorf("a hidden notebook shows: %s", got.Raw)
		}
		var out []string
		for _, h := range got.Get("data").Array() {
			out = append(out, fmt.Sprintf("%s:%d %s", h.Get("path"), h.Get("line").Int(), h.Get("text")))
		}
		if int(got.Get("total").Int()) != len(out) {
			t.Errorf("total %d for %d lines", got.Get("total").Int(), len(out))
		}
		return out
	}
	plan := []string{"/Work/Plan:1 # Budget", "/Work/Plan:5 - the budget 预算 of 50%", "/Work/Plan:6 - `code` budget", "/Work/Plan:8 BUDGET"}
	sub := "/Work/Plan/Sub:1 sub budget_x"
	for name, c := range map[string]struct {
		got, want []string
	}{
		"everywhere":  {search("path", "/", "query", "budget"), slices.Concat(plan, []string{sub, "/AGENTS.md:1 remember the budget", "/USER_RULES.md:1 no budget talk"})},
		"notebook":    {search("path", "/Work", "query", "budget"), slices.Concat(plan, []string{sub})},
		"document":    {search("path", "/Work/Plan/Sub", "query", "budget"), []string{sub}},
		"case":        {search("path", "/Work/Plan", "query", "BUDGET", "caseSensitive", true), plan[3:]},
		"chinese":     {search("path", "/Work", "query", "预算"), plan[1:2]},
		"percent":     {search("path", "/Work", "query", "50%"), plan[1:2]},
		"underscore":  {search("path", "/Work", "query", "budget_"), []string{sub}},
		"marks":       {search("path", "/Work", "query", "`code` b"), plan[2:3]},
		"pattern":     {search("path", "/Work", "query", `^- .*get$`, "regex", true), plan[2:3]},
		"virtual":     {search("path", "/AGENTS.md", "query", "the"), []string{"/AGENTS.md:1 remember the budget"}},
		"folded case": {search("path", "/Work/Other", "query", "été"), []string{"/Work/Other:1 nothing here, ÉTÉ " + strings.Repeat("长", 182)}},
		"nothing":     {search("path", "/Work", "query", "zzz"), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	long := kit.Must(t, act(t, "search"), args(t, "path", "/Work/Other", "query", "nothing"))
	if h := long.Get("data.0"); !h.Get("textTruncated").Bool() || h.Get("originalTextLength").Int() != 318 {
		t.Errorf("a long line: %s", h.Raw)
	}
	page := kit.Must(t, act(t, "search"), args(t, "path", "/Work", "query", "budget", "pageSize", 2, "page", 2))
	if page.Get("data.#").Int() != 2 || page.Get("total").Int() != 5 || !page.Get("hasNextPage").Bool() || page.Get("pageCount").Int() != 3 {
		t.Errorf("page 2: %s", page.Raw)
	}
}

func TestSearchFindsWhatReadShows(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	document(t, kit, notebook(t, kit, "Work"), "/Doc", "# A\n\ntext\n\n- one\n- two target\n\n> q\n\ntarget")
	lines := strings.Split(shown(t, kit, "/Work/Doc"), "\n")
	hits := kit.Must(t, act(t, "search"), args(t, "path", "/Work/Doc", "query", "target")).Get("data").Array()
	if len(hits) != 2 {
		t.Fatalf("%d hits, want 2", len(hits))
	}
	for _, h := range hits {
		if got := lines[h.Get("line").Int()-1]; got != h.Get("text").String() {
			t.Errorf("line %d is %q in the document and %q in the search", h.Get("line").Int(), got, h.Get("text"))
		}
	}
}

func TestR_1_3_SearchReadsOnlyWhatMayMatch(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := notebook(t, kit, "Work")
	for i := range 20 {
		document(t, kit, nb, fmt.Sprintf("/D%d", i), fmt.Sprintf("number %d", i))
	}
	reset(kit)
	got := kit.Must(t, act(t, "search"), args(t, "path", "/Work", "query", "number 7"))
	reads := slices.DeleteFunc(asked(kit), func(p string) bool { return p != "/api/block/getBlockKramdown" })
	if len(reads) != 1 || got.Get("scannedDocs").Int() != 1 || got.Get("total").Int() != 1 {
		t.Errorf("%d documents were read for %s", len(reads), got.Raw)
	}
	reset(kit)
	kit.Must(t, act(t, "search"), args(t, "path", "/Work", "query", "number 7$", "regex", true))
	if reads := slices.DeleteFunc(asked(kit), func(p string) bool { return p != "/api/block/getBlockKramdown" }); len(reads) != 20 {
		t.Errorf("a pattern read %d documents, want all", len(reads))
	}
}

func TestR_1_3_SearchStopsAt500Documents(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := notebook(t, kit, "Work")
	for i := range 503 {
		document(t, kit, nb, fmt.Sprintf("/D%d", i), "same")
	}
	got := kit.Must(t, act(t, "search"), args(t, "path", "/", "query", "same"))
	if !got.Get("partial").Bool() || got.Get("scannedDocs").Int() != 500 || got.Get("remainingDocs").Int() != 3 || got.Get("total").Int() != 500 {
		t.Errorf("got partial %v scanned %d remaining %d total %d", got.Get("partial"), got.Get("scannedDocs").Int(), got.Get("remainingDocs").Int(), got.Get("total").Int())
	}
}

func TestR_1_3_BadPatternIsAValidationError(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	notebook(t, kit, "Work")
	for _, bad := range []string{"(", "(?=x)", `(a)\1`, "[z-a]"} {
		e := failure(t, kit.Refused(t, act(t, "search"), args(t, "path", "/Work", "query", bad, "regex", true), tool.Invalid))
		if !strings.Contains(e.Hint, "look-around") || len(e.Fields) == 0 || e.Fields[0].Path != "/query" {
			t.Errorf("%s: %s", bad, e.Payload())
		}
	}
	kit.Refused(t, act(t, "search"), args(t, "path", "/Work", "query", "a\nb"), tool.Invalid)
	if !strings.Contains(act(t, "search").Guide, "look-around") {
		t.Error("help does not say that there is no look-around")
	}
}

func TestSearchSaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := notebook(t, kit, "Work")
	document(t, kit, nb, "/A", "word")
	document(t, kit, nb, "/B", "word")
	kit.Fail("/api/block/getBlockKramdown", 1, kerneltest.FailMessage("broken"))
	got := kit.Must(t, act(t, "search"), args(t, "path", "/Work", "query", "word"))
	if !got.Get("partial").Bool() || got.Get("failedDocs").Int() != 1 || got.Get("total").Int() != 1 {
		t.Errorf("got %s", got.Raw)
	}
	kit.Fail("/api/block/getBlockKramdown", 2, kerneltest.FailMessage("broken"))
	kit.Refused(t, act(t, "search"), args(t, "path", "/Work", "query", "word"), tool.API)
	kit.Levels[nb] = access.None
	kit.Refused(t, act(t, "search"), args(t, "path", "/Work", "query", "word"), tool.Unknown)
}
