package notebook_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestSetConf(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	got := k.Must(t, act(t, "set_conf"), on(`"conf":{"name":"日记","dailyNoteSavePath":"/d/{{now | date \"2006\"}}"}`)(id))
	if got.Get("name").String() != "日记" || got.Get("dailyNoteSavePath").String() != `/d/{{now | date "2006"}}` {
		t.Errorf("the settings are %s", got.Raw)
	}
	got = k.Must(t, act(t, "set_conf"), on(`"conf":{"closed":true}`)(id))
	if !got.Get("closed").Bool() || got.Get("name").String() != "日记" {
		t.Errorf("the settings are %s", got.Raw)
	}
	for _, c := range k.Writes() {
		if c.Path == "/api/notebook/setNotebookConf" && c.Get("conf.closed").Exists() {
			t.Error("closing was noted down instead of done")
		}
	}
	if all, err := k.Client.Notebooks(t.Context()); err != nil || !all[0].Closed {
		t.Errorf("the kernel has %+v, %v", all, err)
	}
}

func TestSetConfRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	k.Refused(t, act(t, "set_conf"), on(`"conf":{}`)(id), tool.Invalid)
	k.Refused(t, act(t, "set_conf"), on(`"conf":{"name":""}`)(id), tool.Invalid)
	// The kernel takes what it does not know, and drops it.
	k.Refused(t, act(t, "set_conf"), on(`"conf":{"name":"B","createDocNameTemplate":"x"}`)(id), tool.NotInKernel)
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
	guarded(t, "set_conf", access.Write, on(`"conf":{"name":"B"}`))
}
