package document_test

import (
	"strings"
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
	first := k.Must(t, findAction(t, "create_daily_note"), args("notebook", nb))
	again := k.Must(t, findAction(t, "create_daily_note"), args("notebook", nb, "app", "x"))
	id := first.Get("id").String()
	if id == "" || again.Get("id").String() != id || first.Get("hPath").String() != hpathOf(t, k, id) || first.Get("notebook").String() != nb {
		t.Errorf("first %s, then %s", first.Raw, again.Raw)
	}
	if _, err := k.Client.SetNotebookConf(t.Context(), kernel.ID(nb), map[string]any{"dailyNoteSavePath": ""}); err != nil {
		t.Fatal(err)
	}
	k.Failed(t, findAction(t, "create_daily_note"), args("notebook", nb), kernel.API)
	k.Refused(t, findAction(t, "create_daily_note"), `{}`, tool.Invalid)
	on, missing := guardedByNotebook("notebook")
	checkGuarded(t, "create_daily_note", access.Write, on, missing)
}

// TestDailyNoteThatReadsEverything: the settings of a notebook may be a person's own, or from a time when nothing was
// hidden. They are judged when they are used.
func TestDailyNoteThatReadsEverything(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, hidden := k.Notebook("A"), k.Notebook("CANARY")
	k.Doc(hidden, "/CANARY", "CANARY text")
	k.File("/data/templates/query.md", []byte(`.action{ range queryBlocks "SELECT * FROM blocks" }.action{ .Content } .action{ end }`))
	k.File("/data/templates/pure.md", []byte(`pure .action{ now | date "2006" }`))
	conf := func(savePath, templatePath string) {
		t.Helper()
		_, err := k.Client.SetNotebookConf(t.Context(), kernel.ID(nb), map[string]any{
			"dailyNoteSavePath": savePath, "dailyNoteTemplatePath": templatePath,
		})
		if err != nil {
			t.Fatal(err)
		}
		k.ResetCalls()
	}
	const query = `/x{{ range queryBlocks "SELECT * FROM blocks WHERE type='d'" }}-{{ .Content }}{{ end }}`
	k.Levels[kernel.ID(hidden)] = access.None
	for _, tt := range []struct {
		savePath, templatePath string
		kind                   tool.ErrorKind
	}{
		{query, "", tool.Denied},
		{"/one", "/query.md", tool.Denied},
		{"/two", "query", tool.Denied},
		{"/three", "/none.md", tool.Denied},
		{"/four", "/../../outside.md", kernel.InvalidPath},
	} {
		conf(tt.savePath, tt.templatePath)
		got := errorPayload(k.Refused(t, findAction(t, "create_daily_note"), args("notebook", nb), tt.kind))
		if strings.Contains(got, "CANARY") || strings.Contains(got, hidden) {
			t.Errorf("%+v: the refusal tells %s", tt, got)
		}
		for _, c := range k.Calls() {
			if strings.Contains(c.Path, "DailyNote") {
				t.Errorf("%+v: the kernel was asked: %s %s", tt, c.Path, c.Body)
			}
		}
	}
	conf("/five", "/pure.md")
	made := k.Must(t, findAction(t, "create_daily_note"), args("notebook", nb))
	if blocks, err := k.Client.ChildBlocks(t.Context(), kernel.ID(made.Get("id").String())); err != nil || !strings.HasPrefix(blocks[0].Markdown, "pure 2") {
		t.Errorf("the note has %+v, %v", blocks, err)
	}
	k.Levels[kernel.ID(hidden)] = access.Read // nothing is hidden now
	conf("/six", "/query.md")
	k.Must(t, findAction(t, "create_daily_note"), args("notebook", nb))
	conf("/seven", "/../../outside.md")
	k.Refused(t, findAction(t, "create_daily_note"), args("notebook", nb), kernel.InvalidPath)
}
