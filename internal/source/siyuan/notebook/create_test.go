package notebook_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	got := k.Must(t, findAction(t, "create"), `{"name":" 读书 ","icon":"📔"}`)
	id := kernel.ID(got.Get("id").String())
	if got.Get("name").String() != "读书" || got.Get("icon").String() != "1f4d4" || !id.Valid() {
		t.Fatalf("created %s", got.Raw)
	}
	if got.Get("permission").String() != "r" || k.Levels[id] != access.Read {
		t.Errorf("a new notebook has level %s, and the result says %s", k.Levels[id], got.Get("permission"))
	}
	if hint := got.Get("permissionHint").String(); !strings.Contains(hint, "collie siyuan permission set "+string(id)) {
		t.Errorf("the hint is %q", hint)
	}
	all, err := k.Client.Notebooks(t.Context())
	if err != nil || len(all) != 1 || all[0].Icon != "1f4d4" {
		t.Errorf("the kernel has %+v, %v", all, err)
	}
}

// TestCreateUnderAProfile: in the result for a new notebook, the hint names the profile where that forbids to write. A notebook
// that the caller could not see is not created.
func TestCreateUnderAProfile(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	k.Ceiling = &access.Ceiling{Others: access.Read}
	got := k.Must(t, findAction(t, "create"), `{"name":"New"}`)
	if got.Get("permission").String() != "r" || !strings.Contains(got.Get("permissionHint").String(), "profile") {
		t.Errorf("got %s", got.Raw)
	}
	k.Ceiling = &access.Ceiling{}
	k.Refused(t, findAction(t, "create"), `{"name":"Hidden"}`, tool.Denied)
}

func TestCreateWithoutIcon(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	got := k.Must(t, findAction(t, "create"), `{"name":"a/b"}`)
	if got.Get("name").String() != "ab" { // what the kernel made of it
		t.Errorf("the name is %s", got.Get("name"))
	}
	if !strings.Contains(got.Get("iconHint").String(), "set_icon") {
		t.Errorf("no hint about icons: %s", got.Raw)
	}
}

func TestCreateRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	for _, args := range []string{`{}`, `{"name":"  "}`, `{"name":"x","icon":"book"}`} {
		k.Refused(t, findAction(t, "create"), args, tool.Invalid)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("a refused creation wrote: %v", w)
	}
}

func TestCreateIconFails(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	k.Fail("/api/notebook/setNotebookIcon", 1, kerneltest.FailMessage("no"))
	got := k.Must(t, findAction(t, "create"), `{"name":"x","icon":"1f4d4"}`)
	if got.Get("icon").String() != "" || !strings.Contains(got.Get("warnings.0").String(), "icon was not set") {
		t.Errorf("the notebook is there without its icon, and the result says %s", got.Raw)
	}
}
