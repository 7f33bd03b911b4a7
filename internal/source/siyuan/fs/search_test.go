package fs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	kit.Config.Memory, kit.Config.UserRules = "remember the budget", "no budget talk"
	work, hidden := createNotebook(t, kit, "Work"), createNotebook(t, kit, "Hidden")
	createDocument(t, kit, work, "/Plan", "# Budget\n\nplain\n\n- the budget 预算 of 50%\n- `code` budget\n\nBUDGET")
	createDocument(t, kit, work, "/Plan/Sub", "sub budget_x")
	createDocument(t, kit, work, "/Other", "nothing here, ÉTÉ "+strings.Repeat("长", 300))
	createDocument(t, kit, hidden, "/Secret", "hidden budget")
	kit.Levels[hidden] = access.None
	search := func(pairs ...any) []string {
		t.Helper()
		got := kit.Must(t, findAction(t, "search"), args(pairs...))
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
	long := kit.Must(t, findAction(t, "search"), args("path", "/Work/Other", "query", "nothing"))
	if h := long.Get("data.0"); !h.Get("textTruncated").Bool() || h.Get("originalTextLength").Int() != 318 {
		t.Errorf("a long line: %s", h.Raw)
	}
	page := kit.Must(t, findAction(t, "search"), args("path", "/Work", "query", "budget", "pageSize", 2, "page", 2))
	if page.Get("data.#").Int() != 2 || page.Get("total").Int() != 5 || !page.Get("hasNextPage").Bool() || page.Get("pageCount").Int() != 3 {
		t.Errorf("page 2: %s", page.Raw)
	}
}

func TestSearchFindsWhatReadShows(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "# A\n\ntext\n\n- one\n- two target\n\n> q\n\ntarget")
	lines := strings.Split(readText(t, kit, "/Work/Doc"), "\n")
	hits := kit.Must(t, findAction(t, "search"), args("path", "/Work/Doc", "query", "target")).Get("data").Array()
	if len(hits) != 2 {
		t.Fatalf("%d hits, want 2", len(hits))
	}
	for _, h := range hits {
		if got := lines[h.Get("line").Int()-1]; got != h.Get("text").String() {
			t.Errorf("line %d is %q in the document and %q in the search", h.Get("line").Int(), got, h.Get("text"))
		}
	}
}

func TestSearchReadsOnlyWhatMayMatch(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	for i := range 20 {
		createDocument(t, kit, nb, fmt.Sprintf("/D%d", i), fmt.Sprintf("number %d", i))
	}
	kit.ResetCalls()
	got := kit.Must(t, findAction(t, "search"), args("path", "/Work", "query", "number 7"))
	reads := slices.DeleteFunc(requestedPaths(kit), func(p string) bool { return p != "/api/block/getBlockKramdown" })
	if len(reads) != 1 || got.Get("scannedDocs").Int() != 1 || got.Get("total").Int() != 1 {
		t.Errorf("%d documents were read for %s", len(reads), got.Raw)
	}
	kit.ResetCalls()
	kit.Must(t, findAction(t, "search"), args("path", "/Work", "query", "number 7$", "regex", true))
	if reads := slices.DeleteFunc(requestedPaths(kit), func(p string) bool { return p != "/api/block/getBlockKramdown" }); len(reads) != 20 {
		t.Errorf("a pattern read %d documents, want all", len(reads))
	}
}

func TestSearchStopsAt500Documents(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	for i := range 503 {
		createDocument(t, kit, nb, fmt.Sprintf("/D%d", i), "same")
	}
	got := kit.Must(t, findAction(t, "search"), args("path", "/", "query", "same"))
	if !got.Get("partial").Bool() || got.Get("scannedDocs").Int() != 500 || got.Get("remainingDocs").Int() != 3 || got.Get("total").Int() != 500 {
		t.Errorf("got partial %v scanned %d remaining %d total %d", got.Get("partial"), got.Get("scannedDocs").Int(), got.Get("remainingDocs").Int(), got.Get("total").Int())
	}
}

func TestInvalidPatternIsValidationError(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createNotebook(t, kit, "Work")
	for _, bad := range []string{"(", "(?=x)", `(a)\1`, "[z-a]"} {
		e := mustBeToolError(t, kit.Refused(t, findAction(t, "search"), args("path", "/Work", "query", bad, "regex", true), tool.Invalid))
		if !strings.Contains(e.Hint, "look-around") || len(e.Fields) == 0 || e.Fields[0].Path != "/query" {
			t.Errorf("%s: %s", bad, e.Payload())
		}
	}
	kit.Refused(t, findAction(t, "search"), args("path", "/Work", "query", "a\nb"), tool.Invalid)
	if !strings.Contains(findAction(t, "search").Guide, "look-around") {
		t.Error("help does not say that there is no look-around")
	}
}

func TestSearchSaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	createDocument(t, kit, nb, "/A", "word")
	createDocument(t, kit, nb, "/B", "word")
	kit.Fail("/api/block/getBlockKramdown", 1, kerneltest.FailMessage("broken"))
	got := kit.Must(t, findAction(t, "search"), args("path", "/Work", "query", "word"))
	if !got.Get("partial").Bool() || got.Get("failedDocs").Int() != 1 || got.Get("total").Int() != 1 {
		t.Errorf("got %s", got.Raw)
	}
	kit.Fail("/api/block/getBlockKramdown", 2, kerneltest.FailMessage("broken"))
	kit.Refused(t, findAction(t, "search"), args("path", "/Work", "query", "word"), kernel.API)
	kit.Levels[nb] = access.None
	kit.Refused(t, findAction(t, "search"), args("path", "/Work", "query", "word"), tool.NotFound)
}

// A plain search reads only documents that match in the index. That must not leave out a document: each
// line that read shows is found by its parts.
func TestSearchFindsAllThatIsShown(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/Doc", "# H <b> & \"q\" it's\n\n"+
		"**bold** *it* ~~s~~ ==m== `c_d` <u>u</u> ^p^ snake_case 50% [l](https://e.com/a_b?x=1&y=2 \"t\") #tag# $E=mc^2$ a\\*b \\_ c:\\d\n\n"+
		"a **red**{: style=\"color: red;\"}word\n\n"+
		"- one\n  - two_three\n    para\n- [x] done\n\n1. ```js\n   a_b = [\"1 < 2\"];\n   ```\n\n> quote\n> > inner\n\n"+
		"```go\nfunc f() { return '?' }\n\n\ttab\n```\n\n$$\n\\frac{a}{b} & c\n$$\n\n| a | b_c |\n|:--|--:|\n| 1 \\| x | **2** |\n\n---\n\n"+
		"{{{row\nleft\n\nright\n}}}\n\nfamily 👨‍👩‍👧 😀 中文，标点。\n\nΣίσυφος straße İI K")
	lines := strings.Split(readText(t, kit, "/Work/Doc"), "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		runes := []rune(line)
		for _, query := range []string{line, string(runes[len(runes)/2:]), strings.ToUpper(line)} {
			if strings.TrimSpace(query) == "" || !strings.EqualFold(query, line) && !strings.Contains(line, query) {
				continue
			}
			got := kit.Must(t, findAction(t, "search"), args("path", "/Work", "query", query))
			if !slices.ContainsFunc(got.Get("data").Array(), func(h gjson.Result) bool { return int(h.Get("line").Int()) == i+1 }) {
				t.Errorf("%q is not found in line %d, %q", query, i+1, line)
			}
		}
	}
	kit.Refused(t, findAction(t, "search"), args("path", "/Work", "query", "\u200b"), tool.Invalid)
}

// TestSearchTellsDocumentsOfOneTitleApart: the path of a hit is one that leads to the document.
func TestSearchTellsDocumentsOfOneTitleApart(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	createDocument(t, kit, nb, "/Twice", "the first")
	second := createDocument(t, kit, nb, "/Twice", "the second one")
	createDocument(t, kit, nb, "/100%2F", "a second here")
	got := kit.Must(t, findAction(t, "search"), args("path", "/Work", "query", "second"))
	want := []string{"/Work/100%252F", "/Work/Twice#" + string(second)}
	paths := stringsAt(got, "data.#.path")
	for i, path := range paths {
		if text := readText(t, kit, path); !strings.Contains(text, "second") {
			t.Errorf("%s holds %q", path, text)
		}
		if path != want[i] {
			t.Errorf("got %s, want %s", path, want[i])
		}
	}
	if len(paths) != 2 {
		t.Errorf("got %s", got.Raw)
	}
}

// TestSearchSaysThatANotebookIsClosed: an empty result for notes that cannot be searched would be
// misleading.
func TestSearchSaysThatANotebookIsClosed(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Open"), "/Doc", "word")
	shut := createNotebook(t, kit, "关")
	createDocument(t, kit, shut, "/Doc", "word")
	if err := kit.Client.FlushNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := kit.Client.CloseNotebook(t.Context(), shut); err != nil {
		t.Fatal(err)
	}
	kit.ResetCalls()
	got := kit.Must(t, findAction(t, "search"), args("path", "/", "query", "word"))
	if got.Get("total").Int() != 1 || !strings.Contains(got.Get("hint").String(), "关") {
		t.Errorf("got %s", got.Raw)
	}
	for _, path := range []string{"/关", "/关/Doc"} {
		if e := mustBeToolError(t, kit.Refused(t, findAction(t, "search"), args("path", path, "query", "word"), kernel.API)); e.Code != kernel.CodeNotebookClosed {
			t.Errorf("%s: %s", path, e.Payload())
		}
	}
}
