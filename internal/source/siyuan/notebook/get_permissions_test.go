package notebook_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
)

func TestGetPermissions(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	a, b, hidden := k.Notebook("A"), k.Notebook("B"), k.Notebook("Secret")
	k.Levels[kernel.ID(a)], k.Levels[kernel.ID(hidden)] = access.Read, access.None
	for _, args := range []string{`{}`, `{"notebook":"all"}`} {
		got := k.Must(t, findAction(t, "get_permissions"), args)
		if len(got.Get("notebooks").Array()) != 2 || strings.Contains(got.Raw, hidden) {
			t.Errorf("%s shows %s", args, got.Raw)
		}
		if l := got.Get(`notebooks.#(id=="` + a + `").permission`).String(); l != "r" {
			t.Errorf("level of A is %q", l)
		}
	}
	got := k.Must(t, findAction(t, "get_permissions"), argsFor("")(b))
	if got.Get("notebook.permission").String() != "rwd" || got.Get("notebook.name").String() != "B" {
		t.Errorf("level of B: %s", got.Raw)
	}
	checkGuarded(t, "get_permissions", access.Read, argsFor(""))
}
