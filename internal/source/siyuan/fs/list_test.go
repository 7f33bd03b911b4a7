package fs_test

import (
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

func TestLs(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, hidden, closed := createNotebook(t, kit, "Work 工作"), createNotebook(t, kit, "Hidden"), createNotebook(t, kit, "Shut")
	createDocument(t, kit, work, "/Plan/Sub", "x")
	createDocument(t, kit, work, "/50% done", "x")
	createDocument(t, kit, work, "/Same", "x")
	same := createDocument(t, kit, work, "/Same", "x")
	kit.Levels[hidden] = access.None
	if err := kit.Client.CloseNotebook(t.Context(), closed); err != nil {
		t.Fatal(err)
	}
	root := kit.Must(t, findAction(t, "ls"), `{"path":"/"}`)
	if diff := cmp.Diff([]string{"/AGENTS.md", "/Shut", "/USER_RULES.md", "/Work 工作"}, sortInPlace(stringsAt(root, "items.#.path"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := root.Get(`items.#(name=="Work 工作").children`).Int(); got != 4 {
		t.Errorf("Work has %d children, want 4", got)
	}
	if !root.Get(`items.#(name=="Shut").closed`).Bool() || !root.Get(`items.#(name=="AGENTS.md").virtual`).Bool() {
		t.Errorf("got %s", root.Raw)
	}
	if got := kit.Must(t, findAction(t, "ls"), `{}`); got.Raw != root.Raw {
		t.Errorf("without a path: %s, want the root", got.Raw)
	}
	got := kit.Must(t, findAction(t, "ls"), args("path", "/Work 工作"))
	paths := stringsAt(got, "items.#.path")
	if len(paths) != 4 {
		t.Fatalf("got %s", got.Raw)
	}
	for _, path := range paths { // every path that is shown can be used
		kit.Must(t, findAction(t, "read"), args("path", path))
	}
	if !strings.Contains(strings.Join(paths, "\n"), "/Work 工作/Same#"+string(same)) {
		t.Errorf("documents of one title are not told apart: %q", paths)
	}
	sub := kit.Must(t, findAction(t, "ls"), args("path", "/Plan"))
	if diff := cmp.Diff([]string{"/Work 工作/Plan/Sub"}, stringsAt(sub, "items.#.path")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if leaf := kit.Must(t, findAction(t, "ls"), args("path", "/Work 工作/Plan/Sub")); leaf.Get("items").Raw != "[]" {
		t.Errorf("a leaf: %s", leaf.Raw)
	}
	for _, path := range []string{"/Hidden", "/Nothing"} {
		kit.Refused(t, findAction(t, "ls"), args("path", path), tool.NotFound)
	}
	kit.Refused(t, findAction(t, "ls"), args("path", "/AGENTS.md"), kernel.InvalidPath)
	for _, c := range kit.Calls() {
		if c.Get("notebook").String() == string(hidden) {
			t.Errorf("a hidden notebook was looked into: %v", c)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, hidden := createNotebook(t, kit, "Work"), createNotebook(t, kit, "Hidden")
	kit.Levels[hidden] = access.None
	createDocument(t, kit, hidden, "/Secret", "x")
	createDocument(t, kit, work, "/A/B/C/D", "x")
	createDocument(t, kit, work, "/Leaf", "x")
	got := kit.Must(t, findAction(t, "tree"), args("path", "/Work", "maxDepth", 2))
	if strings.Contains(got.Raw, "Secret") || got.Get("topLevelDocumentCount").Int() != 2 || got.Get("partial").Bool() || got.Get("errors").Raw != "[]" {
		t.Errorf("got %s", got.Raw)
	}
	if n := got.Get(`tree.#(name=="A").children.0.children.0`); n.Get("path").String() != "/Work/A/B/C" || n.Get("children").Raw != "1" {
		t.Errorf("below the last level: %s", n.Raw)
	}
	if leaf := got.Get(`tree.#(name=="Leaf").children`).Raw; leaf != "[]" {
		t.Errorf("a leaf has children %s", leaf)
	}
	if got := kit.Must(t, findAction(t, "tree"), args("path", "/Work", "maxDepth", 0)).Get(`tree.#(name=="A").children`).Raw; got != "1" {
		t.Errorf("without depth: children %s, want their number", got)
	}
	all := kit.Must(t, findAction(t, "tree"), `{"path":"/"}`)
	if diff := cmp.Diff([]string{"/Work", "/AGENTS.md", "/USER_RULES.md"}, stringsAt(all, "tree.#.path")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if n := all.Get(`tree.#(name=="Work").children.#(name=="A").children.0.path`).String(); n != "/Work/A/B" {
		t.Errorf("got %s", all.Raw)
	}
	kit.Refused(t, findAction(t, "tree"), args("path", "/Hidden"), tool.NotFound)
	for _, c := range kit.Calls() {
		if c.Path == "/api/filetree/listDocTree" {
			t.Error("listDocTree fails for the root and for leaves")
		}
	}
}

func TestTreeShowsTheRestWhereAPartFails(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := createNotebook(t, kit, "Work")
	createDocument(t, kit, work, "/A/B", "x")
	createDocument(t, kit, work, "/C/D", "x")
	kit.Must(t, findAction(t, "tree"), args("path", "/Work"))
	a := findAction(t, "tree")
	r := kit.Request(t, a, args("path", "/Work"))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The first list is that of the notebook; one of the two after it fails.
	kit.Fail("/api/filetree/listDocsByPath", 1, "")
	kit.Fail("/api/filetree/listDocsByPath", 1, kerneltest.FailMessage("broken"))
	raw, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := gjson.ParseBytes(raw)
	if !got.Get("partial").Bool() || got.Get("failedTopLevelDocumentCount").Int() != 1 || len(got.Get("errors").Array()) != 1 ||
		got.Get("errors.0.path").String() == "" || got.Get("tree.#").Int() != 2 {
		t.Errorf("got %s", got.Raw)
	}
}

// A notebook that has just been closed, while the list of notebooks still says that it is open, does
// not keep ls from listing the others.
func TestLsOutlivesANotebookThatCloses(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	open, closing := createNotebook(t, kit, "Open"), createNotebook(t, kit, "Closing")
	createDocument(t, kit, open, "/A", "x")
	interceptKernel(t, kit, func(path, body string) (string, string) {
		if path == "/api/filetree/listDocsByPath" && strings.Contains(body, string(closing)) {
			return body, `{"code":-1,"msg":"Query notebook failed","data":null}`
		}
		return body, ""
	})
	got := kit.Must(t, findAction(t, "ls"), `{"path":"/"}`)
	if got.Get(`items.#(name=="Open").children`).Int() != 1 || !got.Get(`items.#(name=="Closing").closed`).Bool() {
		t.Errorf("got %s", got.Raw)
	}
}
