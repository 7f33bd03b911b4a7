package document_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestRename(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/P/D", "text")
	got := k.Must(t, findAction(t, "rename"), args("id", id, "title", " 新\n标题 "))
	if got.Get("hPath").String() != "/P/新 标题" || got.Get("title").String() != "新 标题" || hpathOf(t, k, id) != "/P/新 标题" {
		t.Errorf("renamed: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "rename"), args("notebook", nb, "path", got.Get("path").String(), "title", "B"))
	if got.Get("id").String() != id || hpathOf(t, k, id) != "/P/B" {
		t.Errorf("renamed by path: %s", got.Raw)
	}
}

func TestRenameRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	id := k.Doc(nb, "/D", "text")
	blocks, err := k.Client.ChildBlocks(t.Context(), kernel.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind tool.ErrorKind
		call string
	}{
		{tool.Invalid, args("id", id)},
		{tool.Invalid, args("id", id, "title", " ")},
		{tool.Invalid, args("id", id, "title", "a/b")},
		{tool.Invalid, args("id", id, "title", strings.Repeat("x", 513))},
		{tool.Invalid, args("id", blocks[0].ID, "title", "B")}, // a block is not a document
		{tool.Invalid, args("id", nb, "title", "B")},           // that would rename the notebook
		{tool.Invalid, args("notebook", nb, "path", "/", "title", "B")},
		{tool.Invalid, args("notebook", nb, "path", storagePathOf(nb), "title", "B")}, // that would rename the notebook too
		{tool.Invalid, args("id", id, "title", "..")},
		{tool.Invalid, args("id", id, "title", "\u200b")},
		{tool.Conflicting, args("title", "B")},
		{tool.Conflicting, args("id", id, "path", storagePathOf(id), "title", "B")},
		{tool.Conflicting, args("path", storagePathOf(id), "title", "B")},
		{tool.NotFound, args("notebook", other, "path", storagePathOf(id), "title", "B")},
		{kernel.InvalidPath, args("notebook", nb, "path", "/D", "title", "B")},
	} {
		k.Refused(t, findAction(t, "rename"), c.call, c.kind)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
	on, missing := guardedByID("id", "title", "B")
	checkGuarded(t, "rename", access.Write, on, missing)
}

// A kernel may write a title in a form of its own, which is not a failure; one that keeps the old
// title is.
func TestRenameTakesTheKernelsForm(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Doc(k.Notebook("A"), "/D", "text")
	k.OwnForm(t, "/api/filetree/renameDocByID", "two  spaces", "two spaces")
	got := k.Must(t, findAction(t, "rename"), args("id", id, "title", "two  spaces"))
	if got.Get("title").String() != "two spaces" || got.Get("hPath").String() != "/two spaces" {
		t.Errorf("renamed: %s", got.Raw)
	}
	k.Client = kernel.New(k.URL(), kernel.Options{Transport: fakeSuccess("/api/filetree/renameDocByID")})
	k.Refused(t, findAction(t, "rename"), args("id", id, "title", "other"), kernel.Mismatch)
}
