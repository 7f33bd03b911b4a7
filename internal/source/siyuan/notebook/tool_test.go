package notebook_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/notebook"
	"collie/internal/tool"
)

// ghost has the form of an id and never existed.
const ghost = "20990101000000-zzzzzzz"

// act is an action of the tool by its name.
func act(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, notebook.Tool(), name)
}

// guarded holds the action against a notebook of every level below need, and of none: what is
// refused writes nothing, and none is the same as not there. args has NB in place of the id.
func guarded(t *testing.T, name string, need access.Level, args func(id string) string) {
	t.Helper()
	a := act(t, name)
	for level := access.Read; level < need; level++ {
		k := actiontest.New(t)
		id := k.Notebook("Low")
		k.Levels[kernel.ID(id)] = level
		k.Refused(t, a, args(id), tool.Denied)
		if w := k.Writes(); len(w) > 0 {
			t.Errorf("%s at level %s wrote: %v", name, level, w)
		}
	}
	k := actiontest.New(t)
	id := k.Notebook("Hidden")
	k.Levels[kernel.ID(id)] = access.None
	hidden := k.Refused(t, a, args(id), tool.Unknown)
	gone := k.Refused(t, a, args(ghost), tool.Unknown)
	if got, want := text(hidden, id), text(gone, ghost); got != want {
		t.Errorf("%s tells a hidden notebook from none:\n%s\n%s", name, got, want)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("%s on what does not exist wrote: %v", name, w)
	}
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
