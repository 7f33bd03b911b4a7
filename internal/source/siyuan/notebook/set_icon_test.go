package notebook_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestSetIcon(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	for given, want := range map[string]string{"📔": "1f4d4", "1F600": "1f600", "": ""} {
		if got := k.Must(t, findAction(t, "set_icon"), argsFor(`"icon":`+quote(given))(id)); got.Get("icon").String() != want {
			t.Errorf("%q became %s, want %q", given, got.Raw, want)
		}
	}
	k.Refused(t, findAction(t, "set_icon"), argsFor(`"icon":"a book"`)(id), tool.Invalid)
	k.Refused(t, findAction(t, "set_icon"), argsFor(`"icon":"1f4d4"`)(actiontest.Nowhere), tool.NotFound)
	if all, err := k.Client.Notebooks(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("the kernel has %+v, %v", all, err)
	}
	checkGuarded(t, "set_icon", access.Write, argsFor(`"icon":"1f4d4"`))
}

// A kernel may write what it is given in a form of its own, which is not a failure.
func TestKernelsForm(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	k.OwnForm(t, "/api/notebook/setNotebookIcon", "a b.png", "a_b.png")
	if got := k.Must(t, findAction(t, "set_icon"), argsFor(`"icon":"a b.png"`)(id)); got.Get("icon").String() != "a_b.png" {
		t.Errorf("the icon is %s", got.Raw)
	}
	k.OwnForm(t, "/api/notebook/setNotebookConf", `"journal`, `"/journal`)
	got := k.Must(t, findAction(t, "set_conf"), argsFor(`"conf":{"dailyNoteSavePath":"journal/x"}`)(id))
	if got.Get("dailyNoteSavePath").String() != "/journal/x" {
		t.Errorf("the settings are %s", got.Raw)
	}
	k.OwnForm(t, "/api/notebook/setNotebookIcon", "1f600", "a_b.png")
	k.Failed(t, findAction(t, "set_icon"), argsFor(`"icon":"1f600"`)(id), kernel.Mismatch)
}
