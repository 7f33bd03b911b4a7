package fs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestMv(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, other := createNotebook(t, kit, "Work"), createNotebook(t, kit, "Archive 归档")
	doc := createDocument(t, kit, work, "/Plan", "x")
	createDocument(t, kit, work, "/Plan/Sub", "y")
	createDocument(t, kit, other, "/Old", "z")
	for _, step := range []struct{ from, to, moved, child string }{
		{"/Work/Plan", "/Work/Plan 2", "/Work/Plan 2", "/Work/Plan 2/Sub"},
		{"/Work/Plan 2", "/Archive 归档/Old/Plan", "/Archive 归档/Old/Plan", "/Archive 归档/Old/Plan/Sub"},
		{"/Archive 归档/Old/Plan", "/Work", "/Work/Plan", "/Work/Plan/Sub"},
		{"/Work/Plan", "/Archive 归档/Plan", "/Archive 归档/Plan", "/Archive 归档/Plan/Sub"},
	} {
		got := kit.Must(t, findAction(t, "mv"), args("from", step.from, "to", step.to))
		if !got.Get("success").Bool() || got.Get("movedTo").String() != step.moved || got.Get("path").String() != step.from || got.Get("id").String() != string(doc) {
			t.Errorf("%s to %s: %s", step.from, step.to, got.Raw)
		}
		if text := readText(t, kit, step.child); text != "y" {
			t.Errorf("%s holds %q", step.child, text)
		}
		kit.Refused(t, findAction(t, "read"), args("path", step.from), tool.NotFound)
	}
}

// A kernel caches what a document held when it left a notebook. When the document comes back, the cache
// must not be used, or the next write loses what was written meanwhile.
func TestMvBackToANotebookKeepsWhatWasWrittenElsewhere(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, _ := createNotebook(t, kit, "Work"), createNotebook(t, kit, "Archive")
	doc := createDocument(t, kit, work, "/Plan", "x")
	sub := createDocument(t, kit, work, "/Plan/Sub", "y")
	add := func(id kernel.ID, text string) {
		t.Helper()
		if _, err := kit.Client.Append(t.Context(), id, "markdown", text); err != nil {
			t.Fatal(err)
		}
	}
	kit.Must(t, findAction(t, "mv"), args("from", "/Work/Plan", "to", "/Archive"))
	add(doc, "elsewhere")
	add(sub, "elsewhere")
	kit.ResetCalls()
	kit.Must(t, findAction(t, "mv"), args("from", "/Archive/Plan", "to", "/Work"))
	add(doc, "after")
	add(sub, "after")
	for path, want := range map[string]string{"/Work/Plan": "x\n\nelsewhere\n\nafter", "/Work/Plan/Sub": "y\n\nelsewhere\n\nafter"} {
		if text := readText(t, kit, path); text != want {
			t.Errorf("%s holds %q", path, text)
		}
	}
	for _, c := range kit.Writes() {
		if at := fmt.Sprintf("/%s/%s", work, doc); c.Path == "/api/filetree/upsertIndexes" && c.Get("paths.0").String() == at+".sy" && c.Get("paths.1").String() == at+"/" {
			return
		}
	}
	t.Errorf("the kernel was not made to read the files again: %v", kit.Writes())
}

func TestMvOnlyRenamesWhatStays(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/A/B", "x")
	kit.ResetCalls()
	kit.Must(t, findAction(t, "mv"), args("from", "/Work/A/B", "to", "/Work/A/C"))
	var writes []string
	for _, c := range kit.Writes() {
		writes = append(writes, c.Path)
	}
	if diff := cmp.Diff([]string{"/api/filetree/renameDocByID"}, writes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFailedRenameSaysWhereTheDocumentIs(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	createDocument(t, kit, nb, "/A", "x")
	createDocument(t, kit, nb, "/B", "y")
	kit.Fail("/api/filetree/renameDocByID", 1, kerneltest.FailMessage("no"))
	got := kit.Must(t, findAction(t, "mv"), args("from", "/Work/A", "to", "/Work/B/C"))
	if !got.Get("partial").Bool() || got.Get("success").Bool() || got.Get("movedTo").String() != "/Work/B/A" || got.Get("warning").String() == "" {
		t.Errorf("got %s", got.Raw)
	}
	if text := readText(t, kit, "/Work/B/A"); text != "x" {
		t.Errorf("it holds %q", text)
	}
	kit.Fail("/api/filetree/renameDocByID", 1, kerneltest.FailMessage("no"))
	kit.Failed(t, findAction(t, "mv"), args("from", "/Work/B", "to", "/Work/D"), kernel.API)
}

func TestMvRefusals(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work, low, hidden := createNotebook(t, kit, "Work"), createNotebook(t, kit, "Low"), createNotebook(t, kit, "Hidden")
	createDocument(t, kit, work, "/A/B", "x")
	createDocument(t, kit, work, "/C", "x")
	createDocument(t, kit, low, "/A", "x")
	createDocument(t, kit, hidden, "/S", "x")
	kit.Levels[low], kit.Levels[hidden] = access.Read, access.None
	kit.ResetCalls()
	for _, c := range []struct {
		from, to string
		kind     tool.ErrorKind
	}{
		{"/Work/A", "/Work/C", tool.Exists},
		{"/Work/A", "/Work/A/B/A", tool.Conflicting},
		{"/Work/A", "/Work/A/New", tool.Conflicting},
		{"/Work/A", "/Work/A", tool.Conflicting},
		{"/Work/A", "/Work/No/A", tool.NotFound},
		{"/Work/No", "/Work/D", tool.NotFound},
		{"/Work/A", "/New", kernel.InvalidPath},
		{"/Work/A", "/", kernel.InvalidPath},
		{"/Work", "/Work/D", kernel.InvalidPath},
		{"/AGENTS.md", "/Work/D", kernel.InvalidPath},
		{"/Work/A", "/AGENTS.md", kernel.InvalidPath},
		{"/Work/C", "/Low/D", tool.Denied},
		{"/Low/A", "/Work/D", tool.Denied},
		{"/Work/C", "/Hidden/D", tool.NotFound},
		{"/Hidden/S", "/Work/D", tool.NotFound},
		{"/Work/C", "/Hidden", kernel.InvalidPath},
		{"/Work/A", "/Work", tool.Conflicting},
	} {
		kit.Refused(t, findAction(t, "mv"), args("from", c.from, "to", c.to), c.kind)
	}
	if writes := kit.Writes(); len(writes) > 0 {
		t.Errorf("refused calls wrote: %v", writes)
	}
}

func TestRm(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	doc := createDocument(t, kit, nb, "/A", "x")
	createDocument(t, kit, nb, "/A/B", "x")
	for level, kind := range map[access.Level]tool.ErrorKind{access.None: tool.NotFound, access.Read: tool.Denied, access.Write: tool.Denied} {
		kit.Levels[nb] = level
		kit.ResetCalls()
		kit.Refused(t, findAction(t, "rm"), args("path", "/Work/A"), kind)
		if writes := kit.Writes(); len(writes) > 0 {
			t.Errorf("%s: wrote %v", level, writes)
		}
	}
	kit.Levels[nb] = access.Delete
	for _, path := range []string{"/", "/Work"} {
		kit.Refused(t, findAction(t, "rm"), args("path", path), kernel.InvalidPath)
	}
	got := kit.Must(t, findAction(t, "rm"), args("path", "/Work/A"))
	if !got.Get("success").Bool() || got.Get("path").String() != "/Work/A" || got.Get("id").String() != string(doc) {
		t.Errorf("got %s", got.Raw)
	}
	kit.Refused(t, findAction(t, "read"), args("path", "/Work/A/B"), tool.NotFound)
	if a := findAction(t, "rm"); !a.Dangerous || !findAction(t, "mv").Dangerous {
		t.Error("rm and mv are dangerous")
	}
}

func TestReorder(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	nb := createNotebook(t, kit, "Work")
	for _, name := range []string{"/P/A", "/P/B", "/P/C 丙"} {
		createDocument(t, kit, nb, name, "x")
	}
	got := kit.Must(t, findAction(t, "reorder"), args("path", "/Work/P", "orderedPaths", []string{"/Work/P/C 丙", "/Work/P/A", "/Work/P/B"}))
	want := []string{"/Work/P/C 丙", "/Work/P/A", "/Work/P/B"}
	if diff := cmp.Diff(want, stringsAt(got, "order")); diff != "" || !got.Get("orderChanged").Bool() || len(stringsAt(got, "previousOrder")) != 3 {
		t.Errorf("-want +got:\n%s\n%s", diff, got.Raw)
	}
	if diff := cmp.Diff(want, stringsAt(kit.Must(t, findAction(t, "ls"), args("path", "/Work/P")), "items.#.path")); diff != "" {
		t.Errorf("ls: -want +got:\n%s", diff)
	}
	if again := kit.Must(t, findAction(t, "reorder"), args("path", "/Work/P", "orderedPaths", []string{"C 丙", "A", "B"})); again.Get("orderChanged").Bool() {
		t.Errorf("the same order again: %s", again.Raw)
	}
	kit.ResetCalls()
	for _, bad := range [][]string{
		{"/Work/P/A", "/Work/P/B"},
		{"/Work/P/A", "/Work/P/B", "/Work/P/B", "/Work/P/C 丙"},
		{"/Work/P/A", "/Work/P/B", "/Work/P/C 丙", "/Work/P"},
		{"/Work/P/A", "/Work/P/B", "/Other/P/C 丙"},
	} {
		e := mustBeToolError(t, kit.Refused(t, findAction(t, "reorder"), args("path", "/Work/P", "orderedPaths", bad), tool.Conflicting))
		if !strings.Contains(e.Hint, "fs(") {
			t.Errorf("%v: %s", bad, e.Payload())
		}
	}
	kit.Levels[nb] = access.Read
	kit.Refused(t, findAction(t, "reorder"), args("path", "/Work/P", "orderedPaths", want), tool.Denied)
	kit.Levels[nb] = access.None
	kit.Refused(t, findAction(t, "reorder"), args("path", "/Work/P", "orderedPaths", want), tool.NotFound)
	if writes := kit.Writes(); len(writes) > 0 {
		t.Errorf("refused calls wrote: %v", writes)
	}
	kit.Levels[nb] = access.Write
	kit.Must(t, findAction(t, "reorder"), args("path", "/Work", "orderedPaths", []string{"/Work/P"}))
}

// A kernel may write a title in a form of its own, which is not a failure.
func TestMvTakesTheKernelsForm(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	createDocument(t, kit, createNotebook(t, kit, "Work"), "/A", "x")
	kit.OwnForm(t, "/api/filetree/renameDocByID", "two  spaces", "two spaces")
	got := kit.Must(t, findAction(t, "mv"), args("from", "/Work/A", "to", "/Work/two  spaces"))
	if got.Get("movedTo").String() != "/Work/two spaces" || got.Get("partial").Bool() {
		t.Errorf("got %s", got.Raw)
	}
	interceptKernel(t, kit, pretendSuccess("/api/filetree/renameDocByID"))
	kit.Refused(t, findAction(t, "mv"), args("from", "/Work/two spaces", "to", "/Work/B"), kernel.Mismatch)
}
