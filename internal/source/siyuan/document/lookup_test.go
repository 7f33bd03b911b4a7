package document_test

import (
	"errors"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("笔记")
	up := k.Doc(nb, "/上", "")
	id := k.Doc(nb, "/上/下", "text")
	blocks, err := k.Client.ChildBlocks(t.Context(), kernel.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	storage := "/" + up + "/" + id + ".sy"
	for _, call := range []string{
		args("id", id), args("id", blocks[0].ID), args("notebook", nb, "path", storage), args("notebook", nb, "hpath", "/上/下"),
		args("notebook", nb, "hPath", "上/下/"), args("notebook", nb, "path", "/上/下"), args("notebook", nb, "hpath", "//上//下"),
		args("notebook", nb, "hpath", storage),
	} {
		got := k.Must(t, findAction(t, "lookup"), call)
		if got.Get("humanPath.notebookName").String() != "笔记" || got.Get("humanPath.hPath").String() != "/上/下" ||
			got.Get("idPath.id").String() != id || got.Get("idPath.notebook").String() != nb ||
			got.Get("idPath.path").String() != storage || got.Get("idPath.ids").Exists() || got.Get("docInfo").Exists() {
			t.Errorf("%s: %s", call, got.Raw)
		}
	}
	got := k.Must(t, findAction(t, "lookup"), args("id", id, "include", []string{"ids", "docInfo"}))
	if got.Get("humanPath").Exists() || got.Get("idPath.path").Exists() || got.Get("idPath.ids.0").String() != id ||
		got.Get("docInfo.name").String() != "下" {
		t.Errorf("with ids and docInfo: %s", got.Raw)
	}
	for _, call := range []string{args("notebook", nb, "path", "/"), args("notebook", nb, "hpath", "//"), args("notebook", nb, "path", storagePathOf(nb))} {
		got = k.Must(t, findAction(t, "lookup"), call)
		if got.Get("humanPath.hPath").String() != "/" || got.Get("idPath.id").String() != nb || got.Get("idPath.path").String() != "/" {
			t.Errorf("of the notebook by %s: %s", call, got.Raw)
		}
	}
	e, ok := errors.AsType[*tool.Error](k.Refused(t, findAction(t, "lookup"), args("notebook", nb, "hpath", "/笔记/上/下"), tool.NotFound))
	if !ok || !strings.Contains(e.Hint, `"/上/下"`) {
		t.Errorf("with the notebook's name the hint is %q", e.Hint)
	}
}

func TestLookupSeveral(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	k.Doc(nb, "/D", "")
	k.Doc(nb, "/D", "")
	if got := k.Must(t, findAction(t, "lookup"), args("notebook", nb, "hpath", "/D")); len(got.Get("idPath.ids").Array()) != 2 {
		t.Errorf("of two documents: %s", got.Raw)
	}
}

func TestLookupRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	id := k.Doc(other, "/D", "")
	for _, call := range []string{
		`{}`, args("id", id, "notebook", nb), args("notebook", nb), args("path", storagePathOf(id)),
		args("notebook", nb, "path", storagePathOf(id), "hpath", "/D"),
	} {
		k.Refused(t, findAction(t, "lookup"), call, tool.Conflicting)
	}
	for _, call := range []string{args("notebook", nb, "path", storagePathOf(id)), args("notebook", nb, "hpath", "/D"), args("id", actiontest.Nowhere)} {
		k.Refused(t, findAction(t, "lookup"), call, tool.NotFound)
	}
	k.Refused(t, findAction(t, "lookup"), args("notebook", nb, "path", "/../"+id+".sy"), kernel.InvalidPath)
}

func TestLookupIndexing(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Doc(k.Notebook("A"), "/D", "")
	k.Fail("/api/filetree/getHPathByID", 2, kerneltest.FailMessage("indexing"))
	if got := k.Must(t, findAction(t, "lookup"), args("id", id)); got.Get("humanPath.hPath").String() != "/D" {
		t.Errorf("got %s", got.Raw)
	}
}

// References from a hidden notebook are neither shown nor counted.
func TestLookupInfoFiltered(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, hidden := k.Notebook("A"), k.Notebook("Secret")
	id := k.Doc(nb, "/D", "")
	k.Doc(nb, "/R", "see (("+id+" 'D'))")
	k.Doc(hidden, "/S", "see (("+id+" 'D'))")
	call := args("id", id, "include", []string{"docInfo"})
	if n := k.Must(t, findAction(t, "lookup"), call).Get("docInfo.refCount").Int(); n != 2 {
		t.Fatalf("%d references are counted", n)
	}
	k.Levels[kernel.ID(hidden)] = access.None
	got := k.Must(t, findAction(t, "lookup"), call)
	if got.Get("docInfo.refCount").Int() != 1 || len(got.Get("docInfo.refIDs").Array()) != 1 || got.Get("filteredOutCount").Exists() {
		t.Errorf("got %s", got.Raw)
	}
}

// The kernel does not say which notebook a database is in, so none is named while a notebook is hidden.
func TestLookupInfoNamesNoDatabases(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id, hidden := k.Doc(k.Notebook("A"), "/D", ""), k.Notebook("Secret")
	k.Client = kernel.New(k.URL(), kernel.Options{Transport: fakeAnswer(
		"/api/block/getDocInfo", `{"id":"`+id+`","name":"D","refCount":0,"refIDs":[],"attrViews":[{"id":"20240801120000-avsecre","name":"Salaries"}]}`,
	)})
	call := args("id", id, "include", []string{"docInfo"})
	if got := k.Must(t, findAction(t, "lookup"), call); got.Get("docInfo.attrViews.0.name").String() != "Salaries" {
		t.Fatalf("without restrictions: %s", got.Raw)
	}
	k.Levels[kernel.ID(hidden)] = access.None
	if got := k.Must(t, findAction(t, "lookup"), call); strings.Contains(got.Raw, "Salaries") {
		t.Errorf("got %s", got.Raw)
	}
}

func TestLookupGuarded(t *testing.T) {
	t.Parallel()
	on, missing := guardedByID("id")
	checkGuarded(t, "lookup", access.Read, on, missing)
	checkGuarded(t, "lookup", access.Read, func(k *actiontest.Kit, nb string) (string, []string) {
		k.Doc(nb, "/D", "")
		return args("notebook", nb, "hpath", "/D"), []string{nb}
	}, func(*actiontest.Kit) string { return args("notebook", actiontest.Nowhere, "hpath", "/D") })
	// A storage path in a notebook that may be read, of a document in one that may not.
	k := actiontest.New(t)
	nb, hidden := k.Notebook("A"), k.Notebook("Secret")
	id := k.Doc(hidden, "/D", "")
	k.Levels[kernel.ID(hidden)] = access.None
	a := errorPayload(k.Refused(t, findAction(t, "lookup"), args("notebook", nb, "path", storagePathOf(id)), tool.NotFound), id)
	b := errorPayload(k.Refused(t, findAction(t, "lookup"), args("notebook", nb, "path", storagePathOf(actiontest.Nowhere)), tool.NotFound), actiontest.Nowhere)
	if a != b || strings.Contains(a, "Secret") {
		t.Errorf("a hidden document is told from none:\n%s\n%s", a, b)
	}
}
