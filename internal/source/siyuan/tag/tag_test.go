package tag_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/tag"
	"collie/internal/tool"
)

// workspace is a kernel with two notebooks that share the tag shared; only one has travel, only the
// other canary.
type workspace struct {
	*actiontest.Kit
	t              *testing.T
	travel, secret kernel.ID
}

func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	t.Parallel()
	w := &workspace{Kit: actiontest.New(t), t: t}
	w.travel, w.secret = kernel.ID(w.Notebook("Travel 旅行")), kernel.ID(w.Notebook("Secret"))
	w.Doc(string(w.travel), "/Trip", "go #travel/中国# and #travel#\n\nagain #travel# #shared#\n\n#100%_x# and #traveller#")
	w.Doc(string(w.secret), "/Hidden", "#canary# #shared#\n\n#shared/canary#")
	return w
}

func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, tag.Tool(), name)
}

// mustRun runs an action of the tool, which must succeed.
func (w *workspace) mustRun(name, args string) gjson.Result {
	w.t.Helper()
	return w.Must(w.t, findAction(w.t, name), args)
}

// wantRefused runs an action of the tool, which must be refused with kind and without a write.
func (w *workspace) wantRefused(kind tool.ErrorKind, name, args string) *tool.Error {
	w.t.Helper()
	return w.Refused(w.t, findAction(w.t, name), args, kind)
}

// tagCounts returns the tags of a list as "label:count", sorted.
func tagCounts(got gjson.Result) []string {
	out := []string{}
	for _, t := range got.Get("tags").Array() {
		out = append(out, t.Get("label").Str+":"+t.Get("count").Raw)
	}
	slices.Sort(out)
	return out
}

func TestListCountsTags(t *testing.T) {
	w := newWorkspace(t)
	got := w.mustRun("list", `{}`)
	want := []string{"100%_x:1", "canary:1", "shared/canary:1", "shared:2", "travel/中国:1", "travel:2", "traveller:1"}
	if diff := cmp.Diff(want, tagCounts(got)); diff != "" || got.Get("total").Int() != int64(len(want)) {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	found := w.mustRun("list", `{"keyword":"#TRAVEL/#"}`)
	if diff := cmp.Diff([]string{"travel/中国:1"}, tagCounts(found)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if none := w.mustRun("list", `{"query":"nowhere"}`); none.Get("tags").Raw != "[]" || none.Get("total").Int() != 0 {
		t.Errorf("none: %s", none.Raw)
	}
}

// TestOddTags: a kernel answers with tags as HTML, trims new labels, and has the tags of a list's items on the list as
// well.
func TestOddTags(t *testing.T) {
	w := newWorkspace(t)
	doc := w.Doc(string(w.travel), "/Odd", "#a&b# #it's# #back\\slash# #q\"q# #x, y# #Case# #case# #case#\n\n- #in list#\n\n> #in quote#")
	if err := w.Client.SetAttrs(t.Context(), kernel.ID(doc), map[string]string{"tags": "of document,中/文"}); err != nil {
		t.Fatal(err)
	}
	odd := []string{"Case:1", "a&b:1", "back\\slash:1", "case:2", "in list:1", "in quote:1", "it's:1", "of document:1", "q\"q:1", "x, y:1", "中/文:1"}
	for _, level := range []access.Level{access.Delete, access.None} {
		w.Levels[w.secret] = level
		tags := tagCounts(w.mustRun("list", `{}`))
		for _, want := range odd {
			if !slices.Contains(tags, want) {
				t.Errorf("%v: no %s in %v", level, want, tags)
			}
		}
	}
	w.Levels[w.secret] = access.Delete
	if found := tagCounts(w.mustRun("list", `{"query":"IT'S"}`)); !slices.Equal(found, []string{"it's:1"}) {
		t.Errorf("found %v", found)
	}
	for _, c := range [][2]string{{"it's", "its"}, {"in list", "/in a list/"}, {"Case", "CASE"}, {"of document", "doc"}, {"中/文", "文/中"}, {`q"q`, "q"}} {
		got := w.mustRun("rename", actiontest.Args("oldLabel", c[0], "newLabel", c[1]))
		label := strings.Trim(c[1], "/")
		if tags := tagCounts(w.mustRun("list", `{}`)); got.Get("newLabel").Str != label || !slices.Contains(tags, label+":1") {
			t.Errorf("%v: %s, %v", c, got.Raw, tags)
		}
	}
	for _, label := range []string{"in quote", "case", "doc", "文/中", `back\slash`} {
		w.mustRun("remove", actiontest.Args("label", label))
	}
	if tags := tagCounts(w.mustRun("list", `{}`)); !slices.Contains(tags, "CASE:1") || slices.Contains(tags, "case:2") || slices.Contains(tags, "doc:1") {
		t.Errorf("after removals: %v", tags)
	}
}

// TestListLeavesTheUsersOrder: the kernel stores the order of each request as the user's setting.
func TestListLeavesTheUsersOrder(t *testing.T) {
	w := newWorkspace(t)
	if _, err := w.Client.Tags(t.Context(), 4, true); err != nil { // what the user chose
		t.Fatal(err)
	}
	w.mustRun("list", `{}`)
	if sort, err := w.Client.TagSort(t.Context()); err != nil || sort != 4 {
		t.Errorf("after list the order is %d, %v, want 4", sort, err)
	}
	w.mustRun("list", `{"sort":2}`)
	if sort, err := w.Client.TagSort(t.Context()); err != nil || sort != 2 {
		t.Errorf("after list with an order it is %d, %v, want 2", sort, err)
	}
	w.Levels[w.secret] = access.None
	w.mustRun("list", `{"sort":1}`)
	if sort, err := w.Client.TagSort(t.Context()); err != nil || sort != 2 {
		t.Errorf("a list that is not the kernel's changes the order to %d, %v", sort, err)
	}
}

func TestListOfWhatMayBeRead(t *testing.T) {
	w := newWorkspace(t)
	w.Levels[w.secret] = access.None
	got := w.mustRun("list", `{}`)
	want := []string{"100%_x:1", "shared:1", "travel/中国:1", "travel:2", "traveller:1"}
	if diff := cmp.Diff(want, tagCounts(got)); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
	if strings.Contains(got.Raw, "canary") {
		t.Errorf("a hidden tag is told: %s", got.Raw)
	}
	for _, c := range w.Calls() {
		if c.Path == "/api/tag/getTag" {
			t.Error("the kernel was asked for the tags of all notebooks")
		}
	}
}

func TestRename(t *testing.T) {
	w := newWorkspace(t)
	got := w.mustRun("rename", `{"old":"#travel#","newLabel":"trip/旅"}`)
	if !got.Get("success").Bool() || got.Get("oldLabel").Str != "travel" || got.Get("newLabel").Str != "trip/旅" {
		t.Errorf("got %s", got.Raw)
	}
	tags := tagCounts(w.mustRun("list", `{}`))
	for _, want := range []string{"trip/旅:2", "trip/旅/中国:1", "traveller:1"} {
		if !slices.Contains(tags, want) {
			t.Errorf("no %s in %v", want, tags)
		}
	}
	if len(w.tagReloads()) != 1 {
		t.Errorf("%d reloads of the tags, want 1", len(w.tagReloads()))
	}
	w.mustRun("rename", `{"oldLabel":"100%_x","newLabel":"percent"}`)
	w.mustRun("rename", `{"oldLabel":"percent","newLabel":"percent/below"}`)
}

// tagReloads returns the requests that make SiYuan's window show the tags again.
func (w *workspace) tagReloads() (out []string) {
	for _, c := range w.Calls() {
		if c.Path == "/api/ui/reloadTag" {
			out = append(out, c.Body)
		}
	}
	return out
}

func TestRenameRefuses(t *testing.T) {
	w := newWorkspace(t)
	for _, args := range []string{
		`{"oldLabel":"travel","newLabel":"#"}`, `{"oldLabel":"travel","newLabel":"a#b"}`, `{"oldLabel":"travel"}`, `{"oldLabel":"travel","newLabel":" / "}`,
		`{"oldLabel":"travel","newLabel":"a//b"}`, `{"oldLabel":"travel","newLabel":"a_b"}`, `{"oldLabel":"travel","newLabel":"a&b"}`, `{"oldLabel":"travel","newLabel":"a\nb"}`,
	} {
		w.wantRefused(tool.Invalid, "rename", args)
	}
	w.wantRefused(tool.Conflicting, "rename", `{"oldLabel":"travel","newLabel":"#travel"}`)
	w.wantRefused(tool.NotFound, "rename", `{"oldLabel":"trave","newLabel":"x"}`)
	w.wantRefused(tool.NotFound, "rename", `{"oldLabel":"100_ex","newLabel":"x"}`) // no pattern of LIKE
}

func TestRemove(t *testing.T) {
	w := newWorkspace(t)
	got := w.mustRun("remove", `{"label":"travel"}`)
	if !got.Get("success").Bool() || got.Get("label").Str != "travel" || len(w.tagReloads()) != 1 {
		t.Errorf("got %s", got.Raw)
	}
	tags := tagCounts(w.mustRun("list", `{}`))
	if slices.Contains(tags, "travel:2") || !slices.Contains(tags, "travel/中国:1") || !slices.Contains(tags, "traveller:1") {
		t.Errorf("tags %v", tags)
	}
	w.wantRefused(tool.NotFound, "remove", `{"label":"nowhere"}`)
	w.wantRefused(tool.Invalid, "remove", `{}`)
}

// TestWritesNeedEveryNotebookOfTheTag: a write needs its level in every readable notebook that has the tag. Hidden ones
// are the subject of TestHiddenNotebooksKeepTheirTags.
func TestWritesNeedEveryNotebookOfTheTag(t *testing.T) {
	w := newWorkspace(t)
	shared := map[string]string{"rename": `{"oldLabel":"shared","newLabel":"x"}`, "remove": `{"label":"shared"}`}
	travel := map[string]string{"rename": `{"oldLabel":"travel","newLabel":"x"}`, "remove": `{"label":"travel"}`}
	need := map[string]access.Level{"rename": access.Write, "remove": access.Delete}
	for name, args := range shared {
		w.Levels[w.secret] = need[name] - 1
		if e := w.wantRefused(tool.Denied, name, args); !strings.Contains(string(e.Payload()), string(w.secret)) {
			t.Errorf("%s: the notebook that lacks the level is not named: %s", name, e.Payload())
		}
	}
	// Other notebooks do not matter.
	for _, name := range []string{"rename", "remove"} {
		if _, err := w.Do(t, findAction(t, name), strings.Replace(travel[name], "travel", "traveller", 1)); err != nil && name == "rename" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHiddenTagsDoNotExist: a tag that only a hidden notebook has is answered like one that
// nobody has.
func TestHiddenTagsDoNotExist(t *testing.T) {
	w := newWorkspace(t)
	w.Levels[w.secret] = access.None
	for name, args := range map[string]string{"rename": `{"oldLabel":"canary","newLabel":"x"}`, "remove": `{"label":"canary"}`} {
		hidden := string(w.wantRefused(tool.NotFound, name, args).Payload())
		missing := string(w.wantRefused(tool.NotFound, name, strings.ReplaceAll(args, "canary", "nowhere")).Payload())
		if diff := cmp.Diff(strings.ReplaceAll(missing, "nowhere", "canary"), hidden); diff != "" {
			t.Errorf("%s (-missing +hidden):\n%s", name, diff)
		}
	}
}

// TestWritesThatDidNothingAreErrors: the kernel answers writes with success and does nothing.
func TestWritesThatDidNothingAreErrors(t *testing.T) {
	w := newWorkspace(t)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/tag/"):
			_, _ = io.WriteString(rw, `{"code":0,"msg":"","data":null}`)
			return
		case r.URL.Path == "/api/block/batchUpdateBlock":
			_, _ = io.WriteString(rw, `{"code":0,"msg":"","data":[{"doOperations":[{"action":"update","id":"20240101000000-aaaaaaa","data":""}]}]}`)
			return
		}
		w.Handler().ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.Client = kernel.New(server.URL, kernel.Options{Token: "TEST_TOKEN"})
	t.Cleanup(w.Client.Close)
	for name, args := range map[string]string{"rename": `{"oldLabel":"travel","newLabel":"x"}`, "remove": `{"label":"travel"}`} {
		w.wantRefused(kernel.Mismatch, name, args)
		if len(w.tagReloads()) != 0 {
			t.Errorf("%s: the tags are shown again, though nothing changed", name)
		}
	}
}

func TestListFailsAsTheKernelDoes(t *testing.T) {
	w := newWorkspace(t)
	w.Fail("/api/system/getConf", 1, "401")
	w.Refused(t, findAction(t, "list"), `{}`, tool.Unauthorized)
}
