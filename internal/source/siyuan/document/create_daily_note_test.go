package document_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestCreateDailyNote(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	first := k.Must(t, act(t, "create_daily_note"), args("notebook", nb))
	again := k.Must(t, act(t, "create_daily_note"), args("notebook", nb, "app", "x"))
	id := first.Get("id").String()
	if id == "" || again.Get("id").String() != id || first.Get("hPath").String() != hpath(t, k, id) || first.Get("notebook").String() != nb {
		t.Errorf("first %s, then %s", first.Raw, again.Raw)
	}
	if _, err := k.Client.SetNotebookConf(t.Context(), kernel.ID(nb), map[string]any{"dailyNoteSavePath": ""}); err != nil {
		t.Fatal(err)
	}
	k.Refused(t, act(t, "create_daily_note"), args("notebook", nb), tool.API)
	k.Refused(t, act(t, "create_daily_note"), `{}`, tool.Invalid)
	on, missing := byNotebook("notebook")
	guarded(t, "create_daily_note", access.Write, on, missing)
}
