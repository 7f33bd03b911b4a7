package notebook_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id, other := k.Notebook("Gone"), k.Notebook("Stays")
	a := act(t, "remove")
	r := k.Request(t, a, on("")(id))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if effect := a.Effect(r); !strings.Contains(effect, `"Gone"`) {
		t.Errorf("a person is asked: %s", effect)
	}
	if got := k.Must(t, a, on("")(id)); got.Get("notebook").String() != id || got.Get("name").String() != "Gone" {
		t.Errorf("removed %s", got.Raw)
	}
	all, err := k.Client.Notebooks(t.Context())
	if err != nil || len(all) != 1 || string(all[0].ID) != other {
		t.Errorf("the kernel has %+v, %v", all, err)
	}
	k.Refused(t, a, on("")(id), tool.Unknown)
}

func TestRemoveNothingDone(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	k.Fail("/api/notebook/removeNotebook", 1, kerneltest.FailLost)
	k.Refused(t, act(t, "remove"), on("")(id), tool.OutcomeUnknown)
}

func TestRemoveGuarded(t *testing.T) {
	t.Parallel()
	guarded(t, "remove", access.Delete, on(""))
	actiontest.New(t).Refused(t, act(t, "remove"), `{}`, tool.Invalid)
}
