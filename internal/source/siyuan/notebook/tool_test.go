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
	var names []string
	for _, a := range notebook.Tool().Actions {
		names = append(names, a.Name)
		if len(a.Needs) == 0 && a.Unguarded == "" {
			t.Errorf("%s needs no level and does not say why", a.Name)
		}
		if len(a.Returns) == 0 || len(a.Endpoints) == 0 || a.Purpose == "" || len(a.Purpose) > 90 {
			t.Errorf("%s does not say all about itself", a.Name)
		}
		for _, p := range a.Params() {
			if p.About == "" || len(p.About) > 60 {
				t.Errorf("%s.%s: about is %d bytes long", a.Name, p.Name, len(p.About))
			}
		}
	}
	if len(names) != 11 || names[0] != "list" || names[10] != "get_child_docs" {
		t.Errorf("actions are %v", names)
	}
	for name, want := range map[string][3]bool{ // off, dangerous, direct only
		"remove": {true, true, false}, "set_permission": {true, true, true}, "rename": {}, "set_conf": {},
	} {
		if a := act(t, name); [3]bool{a.Off, a.Dangerous, a.DirectOnly} != want {
			t.Errorf("%s: off, dangerous, direct only = %v, %v, %v", name, a.Off, a.Dangerous, a.DirectOnly)
		}
	}
}
