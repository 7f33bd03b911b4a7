package notebook_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestGetConf(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	got := k.Must(t, findAction(t, "get_conf"), argsFor("")(id))
	if got.Get("box").String() != id || got.Get("name").String() != "A" || !got.Get("conf.dailyNoteSavePath").Exists() {
		t.Errorf("the settings are %s", got.Raw)
	}
	if got.Get("conf.boxCrypt").Exists() {
		t.Errorf("what unlocks a notebook is shown: %s", got.Raw)
	}
	checkGuarded(t, "get_conf", access.Read, argsFor(""))
	k.Refused(t, findAction(t, "get_conf"), `{}`, tool.Invalid)
}

// The settings of a notebook name the notebook for new documents and a path in it. The notebook may be hidden.
func TestConfNamesNoHiddenNotebook(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id, other := k.Notebook("A"), k.Notebook("Secret")
	if _, err := k.Client.SetNotebookConf(t.Context(), kernel.ID(id), map[string]any{
		"refCreateSaveBox": other, "refCreateSavePath": "/Clients/", "docCreateSaveBox": other, "docCreateSavePath": "/Clients/",
	}); err != nil {
		t.Fatal(err)
	}
	if got := k.Must(t, findAction(t, "get_conf"), argsFor("")(id)); got.Get("conf.refCreateSaveBox").String() != other {
		t.Fatalf("the settings are %s", got.Raw)
	}
	k.Levels[kernel.ID(other)] = access.None
	for name, call := range map[string]string{"get_conf": "", "set_conf": `"conf":{"dailyNoteSavePath":"/x"}`} {
		if got := k.Must(t, findAction(t, name), argsFor(call)(id)); strings.Contains(got.Raw, other) || strings.Contains(got.Raw, "Clients") {
			t.Errorf("%s shows %s", name, got.Raw)
		}
	}
}
