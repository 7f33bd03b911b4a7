package notebook_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestGetConf(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	got := k.Must(t, act(t, "get_conf"), on("")(id))
	if got.Get("box").String() != id || got.Get("name").String() != "A" || !got.Get("conf.dailyNoteSavePath").Exists() {
		t.Errorf("the settings are %s", got.Raw)
	}
	if got.Get("conf.boxCrypt").Exists() {
		t.Errorf("what unlocks a notebook is shown: %s", got.Raw)
	}
	guarded(t, "get_conf", access.Read, on(""))
	k.Refused(t, act(t, "get_conf"), `{}`, tool.Invalid)
}
