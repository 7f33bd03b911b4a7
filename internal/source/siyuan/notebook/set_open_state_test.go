package notebook_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestSetOpenState(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id, a := k.Notebook("A"), act(t, "set_open_state")
	for _, step := range []struct {
		open    string
		changed bool
	}{{"true", false}, {"false", true}, {"false", false}, {"true", true}} {
		k.ResetCalls()
		got := k.Must(t, a, on(`"opened":`+step.open)(id))
		if got.Get("opened").Raw != step.open || got.Get("changed").Bool() != step.changed || !got.Get("success").Bool() {
			t.Errorf("to %s: %s", step.open, got.Raw)
		}
		if wrote := len(k.Writes()) > 0; wrote != step.changed {
			t.Errorf("to %s: wrote is %v", step.open, wrote)
		}
	}
	all, err := k.Client.Notebooks(t.Context())
	if err != nil || all[0].Closed {
		t.Errorf("the kernel has %+v, %v", all, err)
	}
}

// The index is flushed before a notebook closes: unflushed it can end the kernel.
func TestSetOpenStateFlushes(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	k.ResetCalls()
	k.Must(t, act(t, "set_open_state"), on(`"opened":false`)(id))
	flushed := false
	for _, c := range k.Calls() {
		switch c.Path {
		case "/api/sqlite/flushTransaction":
			flushed = true
		case "/api/notebook/closeNotebook":
			if !flushed {
				t.Error("closed before the flush")
			}
		}
	}
}

func TestSetOpenStateKernelEnds(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	k.Fail("/api/notebook/closeNotebook", 1, kerneltest.FailLost)
	k.Refused(t, act(t, "set_open_state"), on(`"opened":false`)(id), tool.OutcomeUnknown)
}

func TestSetOpenStateGuarded(t *testing.T) {
	t.Parallel()
	guarded(t, "set_open_state", access.Write, on(`"opened":false`))
	k := actiontest.New(t)
	k.Refused(t, act(t, "set_open_state"), on("")(k.Notebook("A")), tool.Invalid)
}
