package document_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestGetChildDocs(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	up := k.Doc(nb, "/上", "")
	if got := k.Must(t, findAction(t, "get_child_docs"), args("id", up)); got.Raw != "[]" {
		t.Errorf("a leaf has %s", got.Raw)
	}
	id := k.Doc(nb, "/上/下", "")
	k.Doc(nb, "/上/下/更下", "")
	one := k.Must(t, findAction(t, "get_child_docs"), args("id", up)).Get("0")
	if one.Get("id").String() != id || one.Get("hPath").String() != "/上/下" || one.Get("path").String() != "/"+up+"/"+id+".sy" ||
		one.Get("subFileCount").Int() != 1 || one.Get("name").String() != "下" || one.Get("notebook").String() != nb {
		t.Errorf("the child is %s", one.Raw)
	}
	if one := k.Must(t, findAction(t, "get_child_docs"), args("id", nb)).Get("0"); one.Get("hPath").String() != "/上" { // its page
		t.Errorf("at the top is %s", one.Raw)
	}
	k.Refused(t, findAction(t, "get_child_docs"), `{}`, tool.Invalid)
	on, missing := guardedByID("id")
	checkGuarded(t, "get_child_docs", access.Read, on, missing)
}
