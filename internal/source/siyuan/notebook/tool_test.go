package notebook_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/notebook"
)

// findAction returns an action of the tool by its name.
func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, notebook.Tool(), name)
}

// checkGuarded checks that an action needs a level on a notebook, whose id is in args.
func checkGuarded(t *testing.T, name string, need access.Level, args func(id string) string) {
	t.Helper()
	k := actiontest.New(t)
	id := kernel.ID(k.Notebook("Hidden"))
	k.Guarded(t, findAction(t, name), need, id, id, args(string(id)))
}

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, notebook.Tool(), actiontest.Told{
		Actions: []string{
			"list", "create", "set_open_state", "remove", "rename", "get_conf", "set_conf", "set_icon", "get_permissions", "set_permission",
			"get_child_docs",
		},
		Dangerous: []string{"remove", "set_permission"},
		Off:       []string{"remove", "set_permission"},
	})
	for _, a := range notebook.Tool().Actions {
		if len(a.Endpoints) == 0 {
			t.Errorf("%s does not say what it asks the kernel for", a.Name)
		}
		if want := a.Name == "set_permission"; a.DirectOnly != want {
			t.Errorf("%s: for a person only: %t, want %t", a.Name, a.DirectOnly, want)
		}
	}
}
