package notebook_test

import (
	"errors"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestGetChildDocs(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	if got := k.Must(t, findAction(t, "get_child_docs"), argsFor("")(id)); got.Get("data").Raw != "[]" || got.Get("total").Int() != 0 {
		t.Errorf("an empty notebook has %s", got.Raw)
	}
	doc := k.Doc(id, "/文档", "x")
	k.Doc(id, "/文档/below", "x")
	k.Doc(id, "/B", "x")
	got := k.Must(t, findAction(t, "get_child_docs"), argsFor("")(id))
	one := got.Get(`data.#(id=="` + doc + `")`)
	if got.Get("total").Int() != 2 || one.Get("hPath").String() != "/文档" || one.Get("path").String() != "/"+doc+".sy" ||
		one.Get("subFileCount").Int() != 1 || one.Get("notebook").String() != id {
		t.Errorf("the children are %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "get_child_docs"), argsFor(`"page":9,"pageSize":1`)(id))
	if got.Get("page").Int() != 2 || len(got.Get("data").Array()) != 1 || got.Get("hasNextPage").Bool() {
		t.Errorf("beyond the end: %s", got.Raw)
	}
	checkGuarded(t, "get_child_docs", access.Read, argsFor(""))
}

func TestGetChildDocsOfClosed(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	const endpoint = "/api/filetree/listDocsByPath"
	k.Fail(endpoint, 2, kerneltest.FailMessage("Query notebook failed")) // it is being opened
	k.Must(t, findAction(t, "get_child_docs"), argsFor("")(id))
	k.Fail(endpoint, 3, kerneltest.FailMessage("Query notebook failed"))
	e, ok := errors.AsType[*tool.Error](k.Refused(t, findAction(t, "get_child_docs"), argsFor("")(id), tool.Internal))
	if !ok || e.Facts["reason"] != "notebook_closed_or_initializing" || e.Facts["retryable"] != true || e.Facts["retryAttempts"] != 2 {
		t.Errorf("the error has %v", e.Facts)
	}
	if err := k.Client.CloseNotebook(t.Context(), kernel.ID(id)); err != nil {
		t.Fatal(err)
	}
	k.Refused(t, findAction(t, "get_child_docs"), argsFor("")(id), tool.Internal)
}
