package notebook_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestSetConf(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	got := k.Must(t, findAction(t, "set_conf"), argsFor(`"conf":{"name":"日记","dailyNoteSavePath":"/d/{{now | date \"2006\"}}"}`)(id))
	if got.Get("name").String() != "日记" || got.Get("dailyNoteSavePath").String() != `/d/{{now | date "2006"}}` {
		t.Errorf("the settings are %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "set_conf"), argsFor(`"conf":{"closed":true}`)(id))
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
	k.Refused(t, findAction(t, "set_conf"), argsFor(`"conf":{}`)(id), tool.Invalid)
	k.Refused(t, findAction(t, "set_conf"), argsFor(`"conf":{"name":""}`)(id), tool.Invalid)
	// The kernel accepts a setting that it does not know, and drops it.
	k.Refused(t, findAction(t, "set_conf"), argsFor(`"conf":{"name":"B","createDocNameTemplate":"x"}`)(id), kernel.NotInKernel)
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
	checkGuarded(t, "set_conf", access.Write, argsFor(`"conf":{"name":"B"}`))
}

// TestSetConfThatIsRendered: the kernel renders paths and templates, and a template can read every notebook. So a caller
// who may not read them all can write only templates that read none.
func TestSetConfThatIsRendered(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id, hidden := k.Notebook("A"), k.Notebook("CANARY")
	k.File("/data/templates/pure.md", []byte("# .action{ now | date \"2006\" } .action{ .title }"))
	k.File("/data/templates/sub/query.md", []byte(`.action{ range queryBlocks "SELECT * FROM blocks" }.action{ .Content }.action{ end }`))
	set := func(setting, value string) string {
		return actiontest.Args("notebook", id, "conf", map[string]any{setting: value})
	}
	refused := func(kind tool.ErrorKind, setting, value, word string) {
		t.Helper()
		k.ResetCalls()
		got := strings.ReplaceAll(string(k.Refused(t, findAction(t, "set_conf"), set(setting, value), kind).Payload()), id, "ID")
		if !strings.Contains(got, word) || strings.Contains(got, "CANARY") || strings.Contains(got, hidden) {
			t.Errorf("%s = %s is refused with %s", setting, value, got)
		}
		if w := k.Writes(); len(w) > 0 {
			t.Errorf("%s = %s: what was refused wrote %v", setting, value, w)
		}
	}
	const query = `/x{{ range queryBlocks "SELECT * FROM blocks" }}-{{ .Content }}{{ end }}`
	k.Levels[kernel.ID(hidden)] = access.None
	for _, setting := range []string{"dailyNoteSavePath", "docCreateSavePath", "refCreateSavePath", "createDocNameTemplate"} {
		refused(tool.Denied, setting, query, "queryBlocks")
		refused(tool.Denied, setting, `/{{ querySQL "SELECT 1" | print }}`, "querySQL")
		refused(tool.Denied, setting, `/{{ `, "cannot be read")
		refused(tool.Denied, setting, `/{{ range until 1000000000 }}{{ end }}`, "until")
	}
	refused(tool.Denied, "dailyNoteTemplatePath", "/sub/query.md", "queryBlocks")
	refused(tool.Denied, "dailyNoteTemplatePath", "sub/query", "queryBlocks")
	refused(tool.Denied, "dailyNoteTemplatePath", "/SUB/query.md", "not a template")
	outside := []string{
		"/../../../../outside/evil.md", "/../../outer.md", "..", "a/../../b.md", `\..\x.md`, `C:\x.md`, "//etc/x.md", "/sub/..%2f..%2fx.md",
		"/．．/x.md", "/.hidden/x.md",
	}
	for _, path := range outside {
		refused(kernel.InvalidPath, "dailyNoteTemplatePath", path, "dailyNoteTemplatePath")
	}
	for setting, value := range map[string]string{
		"dailyNoteSavePath": `/d/{{ now | date "2006-01-02" }}`, "docCreateSavePath": "New/", "refCreateSavePath": `{{ now | WeekdayCN }}`,
		"dailyNoteTemplatePath": "/pure.md",
	} {
		k.Must(t, findAction(t, "set_conf"), set(setting, value))
	}
	k.Levels[kernel.ID(hidden)] = access.Read // nothing is hidden now
	k.Must(t, findAction(t, "set_conf"), set("dailyNoteSavePath", query))
	k.Must(t, findAction(t, "set_conf"), set("dailyNoteTemplatePath", "/sub/query.md"))
	for _, path := range outside { // refused at every level: the file is outside of the templates
		refused(kernel.InvalidPath, "dailyNoteTemplatePath", path, "dailyNoteTemplatePath")
	}
}
