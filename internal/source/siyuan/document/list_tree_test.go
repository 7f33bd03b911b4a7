package document_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestListTree(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	one := k.Doc(nb, "/1", "")
	k.Doc(nb, "/1/2/3/4", "")
	k.Doc(nb, "/1/b", "")
	if got := k.Must(t, findAction(t, "list_tree"), args("notebook", nb, "path", storagePathOf(nb))); got.Get("tree.0.id").String() != one || got.Get("path").String() != "/" {
		t.Errorf("below the page of the notebook: %s", got.Raw)
	}
	got := k.Must(t, findAction(t, "list_tree"), args("notebook", nb, "path", "/"))
	three := got.Get("tree.0.children.#(name==2).children.0")
	if got.Get("box").String() != nb || got.Get("tree.0.id").String() != one || three.Get("name").String() != "3" {
		t.Fatalf("the tree is %s", got.Raw)
	}
	if three.Get("children").Exists() || three.Get("childCount").Int() != 1 || !three.Get("childrenTruncated").Bool() || got.Get("depthHint").String() == "" {
		t.Errorf("below maxDepth: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "list_tree"), args("notebook", nb, "path", storagePathOf(one), "maxDepth", 20))
	if len(got.Get("tree").Array()) != 2 || !strings.Contains(got.Raw, `"name":"4"`) || got.Get("depthHint").Exists() || got.Get("partial").Bool() {
		t.Errorf("below a document: %s", got.Raw)
	}
	if got := k.Must(t, findAction(t, "list_tree"), args("notebook", k.Notebook("B"), "path", "/")); got.Get("tree").Raw != "[]" {
		t.Errorf("an empty notebook: %s", got.Raw)
	}
}

func TestListTreePartly(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	k.Doc(nb, "/1/a", "")
	k.Fail("/api/filetree/listDocsByPath", 1, "") // the top
	k.Fail("/api/filetree/listDocsByPath", 1, kerneltest.FailMessage("no"))
	got := k.Must(t, findAction(t, "list_tree"), args("notebook", nb, "path", "/"))
	if !got.Get("partial").Bool() || len(got.Get("errors").Array()) != 1 || !got.Get("tree.0.childrenTruncated").Bool() {
		t.Errorf("with a part missing: %s", got.Raw)
	}
}

func TestListTreeRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	k.Refused(t, findAction(t, "list_tree"), args("notebook", nb), tool.Invalid)
	k.Refused(t, findAction(t, "list_tree"), args("notebook", nb, "path", "/.."), kernel.InvalidPath)
	k.Refused(t, findAction(t, "list_tree"), args("notebook", nb, "path", storagePathOf(actiontest.Nowhere)), tool.NotFound)
	on, missing := guardedByNotebook("notebook", "path", "/")
	checkGuarded(t, "list_tree", access.Read, on, missing)
}
