package notebook_test

import (
	"errors"
	"strings"
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
		got := k.Must(t, findAction(t, "rename"), argsFor(`"name":`+quote(given))(id))
		if got.Get("name").String() != want {
			t.Errorf("renamed to %s, want %s", got.Raw, want)
		}
	}
	k.Refused(t, findAction(t, "rename"), argsFor(`"name":" "`)(id), tool.Invalid)
	checkGuarded(t, "rename", access.Write, argsFor(`"name":"B"`))
}

func TestRenameClosed(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	if err := k.Client.CloseNotebook(t.Context(), kernel.ID(id)); err != nil {
		t.Fatal(err)
	}
	k.ResetCalls()
	e, ok := errors.AsType[*tool.Error](k.Refused(t, findAction(t, "rename"), argsFor(`"name":"B"`)(id), kernel.API))
	if !ok || e.Code != kernel.CodeNotebookClosed || len(k.Writes()) > 0 {
		t.Errorf("%v, after %v", e, k.Writes())
	}
}

func TestRenameRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	for _, name := range []string{"/", "\u200b", strings.Repeat("长", 513)} { // the kernel would say "Untitled", or refuse it in its own language
		k.Refused(t, findAction(t, "rename"), argsFor(`"name":`+quote(name))(id), tool.Invalid)
		k.Refused(t, findAction(t, "set_conf"), argsFor(`"conf":{"name":`+quote(name)+`}`)(id), tool.Invalid)
		k.Refused(t, findAction(t, "create"), `{"name":`+quote(name)+`}`, tool.Invalid)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
}
