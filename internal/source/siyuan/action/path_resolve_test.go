package action_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// resolvingAction returns an action that returns what its path was resolved to.
func resolvingAction(need action.Need) *action.Action {
	type args struct {
		Path string `json:"path" about:"a path" req:"true"`
	}
	return action.New(action.Spec{
		Tool: "probe", Name: "probe", Purpose: "probe", Class: action.Reads, Needs: []action.Need{need}, Example: `{}`,
	}, func(_ context.Context, r *action.Request, _ args) (any, error) {
		return map[string]any{"targets": r.Targets("path")}, nil
	})
}

func pathArg(t *testing.T, path string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func makeNotebook(t *testing.T, kit *actiontest.Kit, name string) kernel.ID {
	t.Helper()
	n, err := kit.Client.CreateNotebook(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return n.ID
}

func makeDocument(t *testing.T, kit *actiontest.Kit, notebook kernel.ID, hpath string) kernel.ID {
	t.Helper()
	id, err := kit.Client.CreateDocument(t.Context(), notebook, hpath, "text", kernel.NewID())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func candidatesOf(t *testing.T, err error) []string {
	t.Helper()
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatalf("%v is not an error of ours", err)
	}
	out, _ := e.Facts["candidates"].([]string)
	return out
}

func TestOnPathFindsWhatHasThePath(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, home := makeNotebook(t, kit, "Work 工作"), makeNotebook(t, kit, "Home")
	plan := makeDocument(t, kit, work, "/Plan")
	sub := makeDocument(t, kit, work, "/Plan/Sub 子")
	only := makeDocument(t, kit, home, "/Only")
	all := resolvingAction(action.OnPath(access.Read, "path", action.PathNotebook))
	for path, want := range map[string]kernel.ID{
		"/Work 工作": work, "Work 工作/": work, "/Work 工作/Plan": plan, "/Work 工作//Plan/Sub 子/": sub, "/Only": only, "/Plan/Sub 子": sub,
		"/Work 工作#" + string(work) + "/Plan": plan, "/Work 工作/Plan#" + string(plan): plan, "/Home#" + string(home): home,
	} {
		if got := kit.Must(t, all, pathArg(t, path)).Get("targets.0.ID").String(); got != string(want) {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"/Work 工作/Nothing", "/Nothing", "/Work", "/work 工作", "/Home/Plan", "/Home#" + string(work)} {
		kit.Refused(t, all, pathArg(t, path), tool.NotFound)
	}
	document := resolvingAction(action.OnPath(access.Read, "path"))
	for _, path := range []string{"/", "/Home", "/AGENTS.md", "", "/a\tb"} {
		kit.Refused(t, document, pathArg(t, path), kernel.InvalidPath)
	}
	virtual := resolvingAction(action.OnPath(access.Delete, "path", action.PathRoot, action.PathVirtual))
	for _, path := range []string{"/", "/AGENTS.md", "USER_RULES.md"} {
		if got := kit.Must(t, virtual, pathArg(t, path)).Get("targets").Raw; got != "[]" {
			t.Errorf("%q has the targets %s, want none", path, got)
		}
	}
}

func TestDuplicateNotebookNamesAreAmbiguous(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	first, second, hidden := makeNotebook(t, kit, "Twin"), makeNotebook(t, kit, "Twin"), makeNotebook(t, kit, "Twin")
	kit.Levels[hidden] = access.None
	a, b := makeDocument(t, kit, first, "/Doc"), makeDocument(t, kit, second, "/Doc")
	makeDocument(t, kit, hidden, "/Doc")
	need := resolvingAction(action.OnPath(access.Read, "path", action.PathNotebook))
	for _, path := range []string{"/Twin", "/Twin/Doc", "/Twin/Nothing"} {
		err := kit.Refused(t, need, pathArg(t, path), tool.Ambiguous)
		want := []string{"/Twin#" + string(first), "/Twin#" + string(second)}
		slices.Sort(want)
		if diff := cmp.Diff(want, candidatesOf(t, err)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
	}
	for id, notebook := range map[kernel.ID]kernel.ID{a: first, b: second} {
		got := kit.Must(t, need, pathArg(t, "/Twin#"+string(notebook)+"/Doc")).Get("targets.0.ID").String()
		if got != string(id) {
			t.Errorf("the document of %s is %s, want %s", notebook, got, id)
		}
	}
	// With one of the two hidden, the name is that of the other alone.
	kit.Levels[second] = access.None
	if got := kit.Must(t, need, pathArg(t, "/Twin/Doc")).Get("targets.0.ID").String(); got != string(a) {
		t.Errorf("got %s, want %s", got, a)
	}
}

func TestHiddenNotebooksDoNotExist(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	secret := makeNotebook(t, kit, "Secret")
	doc := makeDocument(t, kit, secret, "/Diary")
	makeNotebook(t, kit, "Open")
	needs := map[string]*action.Action{
		"existing": resolvingAction(action.OnPath(access.Read, "path", action.PathNotebook)),
		"new":      resolvingAction(action.OnNewPath(access.Write, "path", action.PathNotebook)),
	}
	paths := []string{"/Secret", "/Secret/Diary", "/Diary", "/Secret#" + string(secret), "/Secret/Diary#" + string(doc), "/Secret/Diary/New", "/Open/Diary/New"}
	errs := func() map[string]string {
		out := map[string]string{}
		for name, need := range needs {
			for _, path := range paths {
				_, err := kit.Do(t, need, pathArg(t, path))
				e, ok := errors.AsType[*tool.Error](err)
				if !ok {
					t.Fatalf("%s %q: %v, want a refusal", name, path, err)
				}
				out[name+path] = string(e.Payload())
				if strings.Contains(out[name+path], string(secret)) && !strings.Contains(path, string(secret)) ||
					strings.Contains(out[name+path], string(doc)) && !strings.Contains(path, string(doc)) {
					t.Errorf("%s %q tells of a hidden notebook: %s", name, path, out[name+path])
				}
			}
		}
		return out
	}
	kit.Levels[secret] = access.None
	hidden := errs()
	if err := kit.Client.RemoveDocument(t.Context(), doc); err != nil {
		t.Fatal(err)
	}
	if err := kit.Client.RenameNotebook(t.Context(), secret, "Other"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(hidden, errs()); diff != "" {
		t.Errorf("a hidden notebook differs from none:\n%s", diff)
	}
}

func TestSlashesInNamesAreEncoded(t *testing.T) {
	t.Parallel()
	n := kernel.Notebook{ID: "20240101000000-aaaaaaa", Name: "In/Out"}
	if got := action.NotebookPath([]kernel.Notebook{n}, &n); got != "/In%2FOut" {
		t.Errorf("got %q", got)
	}
	levels := access.NewSnapshot(nil, access.Read, func(context.Context) ([]kernel.Notebook, error) { return []kernel.Notebook{n}, nil })
	kit := actiontest.New(t)
	a := resolvingAction(action.OnPath(access.Read, "path", action.PathNotebook))
	r := action.NewRequest(a, action.Env{Kernel: kit.Client, Levels: levels}, json.RawMessage(pathArg(t, "/In%2FOut")))
	if err := r.Check(t.Context()); err != nil || r.Target("path").ID != n.ID {
		t.Errorf("/In%%2FOut: %v", err)
	}
	kit.Refused(t, resolvingAction(action.OnNewPath(access.Read, "path")), pathArg(t, "/Any/In%2FOut"), kernel.InvalidPath)
}

func TestDocumentsOfOnePathAreAmbiguous(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := makeNotebook(t, kit, "Work")
	a, b := makeDocument(t, kit, work, "/Same"), makeDocument(t, kit, work, "/Same")
	need := resolvingAction(action.OnPath(access.Read, "path"))
	got := candidatesOf(t, kit.Refused(t, need, pathArg(t, "/Work/Same"), tool.Ambiguous))
	if len(got) != 2 {
		t.Fatalf("candidates %q, want two", got)
	}
	ids := map[string]bool{}
	for _, path := range got {
		ids[kit.Must(t, need, pathArg(t, path)).Get("targets.0.ID").String()] = true
	}
	if !ids[string(a)] || !ids[string(b)] {
		t.Errorf("%q lead to %v, want both documents", got, ids)
	}
	kit.Refused(t, resolvingAction(action.OnNewPath(access.Write, "path")), pathArg(t, "/Work/Same/New"), tool.Ambiguous)
}

func TestOnPathTakesTheNotebookOfTheLevel(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	low, high := makeNotebook(t, kit, "Low"), makeNotebook(t, kit, "High")
	kit.Levels[low] = access.Read
	makeDocument(t, kit, low, "/Doc")
	want := makeDocument(t, kit, high, "/Doc")
	if got := kit.Must(t, resolvingAction(action.OnPath(access.Write, "path")), pathArg(t, "/Doc")).Get("targets.0.ID").String(); got != string(want) {
		t.Errorf("got %s, want the document that may be written, %s", got, want)
	}
	kit.Refused(t, resolvingAction(action.OnPath(access.Read, "path")), pathArg(t, "/Doc"), tool.Ambiguous)
	kit.Refused(t, resolvingAction(action.OnPath(access.Write, "path")), pathArg(t, "/Low/Doc"), tool.Denied)
}

func TestOnNewPath(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := makeNotebook(t, kit, "Work")
	plan := makeDocument(t, kit, work, "/Plan")
	need := resolvingAction(action.OnNewPath(access.Write, "path"))
	for path, want := range map[string][3]string{ // id, root, hpath
		"/Work/New": {"", "", "/New"}, "/Work/Plan/New": {"", string(plan), "/Plan/New"}, "/Plan/New": {"", string(plan), "/Plan/New"},
		"/Work/Plan": {string(plan), string(plan), "/Plan"},
	} {
		got := kit.Must(t, need, pathArg(t, path)).Get("targets.0")
		if diff := cmp.Diff(want, [3]string{got.Get("ID").String(), got.Get("Root").String(), got.Get("HPath").String()}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", path, diff)
		}
		if got.Get("Notebook").String() != string(work) {
			t.Errorf("%s is in notebook %s", path, got.Get("Notebook"))
		}
	}
	for path, kind := range map[string]tool.ErrorKind{
		"/Nothing": kernel.InvalidPath, "/": kernel.InvalidPath, "/Work": kernel.InvalidPath, "/Work/Nothing/New": tool.NotFound, "/No/New": tool.NotFound,
		"/Work/" + strings.Repeat("x", 513): kernel.InvalidPath,
	} {
		kit.Refused(t, need, pathArg(t, path), kind)
	}
}

func TestOnNewPathKnowsTheDepthOfTheTree(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := makeNotebook(t, kit, "Work")
	makeDocument(t, kit, work, "/1/2/3/4/5/6/7")
	kit.Refused(t, resolvingAction(action.OnNewPath(access.Write, "path")), pathArg(t, "/Work/1/2/3/4/5/6/7/8"), kernel.InvalidPath)
	kit.Must(t, resolvingAction(action.OnNewPath(access.Write, "path")), pathArg(t, "/Work/1/2/3/4/5/6/new"))
}

func TestClosedNotebookSaysSo(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := makeNotebook(t, kit, "Work")
	makeDocument(t, kit, work, "/Doc")
	if err := kit.Client.CloseNotebook(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	for _, need := range []action.Need{action.OnPath(access.Read, "path"), action.OnNewPath(access.Write, "path")} {
		err := kit.Refused(t, resolvingAction(need), pathArg(t, "/Work/Doc"), kernel.API)
		if e, _ := errors.AsType[*tool.Error](err); e.Code != kernel.CodeNotebookClosed || !strings.Contains(e.Hint, "set_open_state") {
			t.Errorf("got %+v", e)
		}
	}
}
