package notebook_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestRename(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	for given, want := range map[string]string{"新的名字": "新的名字", " in/out ": "inout"} {
		got := k.Must(t, act(t, "rename"), on(`"name":`+quoted(given))(id))
		if got.Get("name").String() != want {
			t.Errorf("renamed to %s, want %s", got.Raw, want)
		}
	}
	k.Refused(t, act(t, "rename"), on(`"name":" "`)(id), tool.Invalid)
	guarded(t, "rename", access.Write, on(`"name":"B"`))
}

func TestRenameClosed(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	if err := k.Client.CloseNotebook(t.Context(), kernel.ID(id)); err != nil {
		t.Fatal(err)
	}
	k.Refused(t, act(t, "rename"), on(`"name":"B"`)(id), tool.API)
}
