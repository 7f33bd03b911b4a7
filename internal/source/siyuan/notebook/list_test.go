package notebook_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
)

func TestList(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	if got := k.Must(t, findAction(t, "list"), `{}`); got.Raw != "[]" {
		t.Errorf("an empty workspace lists %s", got.Raw)
	}
	open, hidden, closed := k.Notebook("笔记"), k.Notebook("Secret"), k.Notebook("Old")
	k.Levels[kernel.ID(hidden)] = access.None
	if err := k.Client.CloseNotebook(t.Context(), kernel.ID(closed)); err != nil {
		t.Fatal(err)
	}
	got := k.Must(t, findAction(t, "list"), `{}`)
	if n := len(got.Array()); n != 2 {
		t.Fatalf("%d notebooks are listed: %s", n, got.Raw)
	}
	if strings.Contains(got.Raw, hidden) || strings.Contains(got.Raw, "Secret") {
		t.Errorf("a hidden notebook is listed: %s", got.Raw)
	}
	if one := got.Get(`#(id=="` + open + `")`); one.Get("name").String() != "笔记" || one.Get("closed").Bool() {
		t.Errorf("listed as %s", one.Raw)
	}
	if !got.Get(`#(id=="` + closed + `").closed`).Bool() {
		t.Errorf("a closed notebook is not listed as closed: %s", got.Raw)
	}
}
