package fs_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestAgentsFileIsTheMemory(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	if got := kit.Must(t, findAction(t, "read"), `{"path":"/AGENTS.md"}`); got.Get("content").String() != "" || got.Get("totalBlocks").Int() != 0 {
		t.Errorf("an empty memory: %s", got.Raw)
	}
	if got := kit.Must(t, findAction(t, "write"), args("path", "/AGENTS.md", "markdown", "# Rules 规则\n\nfirst")); !got.Get("created").Bool() {
		t.Errorf("got %s", got.Raw)
	}
	if text := readText(t, kit, "AGENTS.md"); text != "# Rules 规则\n\nfirst" || kit.Config.Memory != text {
		t.Errorf("the memory is %q, the config has %q", text, kit.Config.Memory)
	}
	kit.Refused(t, findAction(t, "write"), args("path", "/AGENTS.md", "markdown", "x"), tool.Exists)
	kit.Must(t, findAction(t, "replace"), args("path", "/AGENTS.md", "edit", editArg("first", "second\n\nthird", false)))
	if kit.Config.Memory != "# Rules 规则\n\nsecond\n\nthird" {
		t.Errorf("the memory is %q", kit.Config.Memory)
	}
	kit.Refused(t, findAction(t, "replace"), args("path", "/AGENTS.md", "edit", editArg("nothing", "x", false)), tool.NotFound)
	if got := kit.Must(t, findAction(t, "read"), args("path", "/AGENTS.md", "blockStart", 1, "blockLimit", 1)); got.Get("content").String() != "second" ||
		got.Get("nextWindow.blockStart").Int() != 2 {
		t.Errorf("got %s", got.Raw)
	}
	kit.Must(t, findAction(t, "write"), args("path", "/AGENTS.md", "markdown", "new", "overwrite", true))
	kit.Must(t, findAction(t, "rm"), `{"path":"/AGENTS.md"}`)
	if kit.Config.Memory != "" {
		t.Errorf("the memory is %q, want it empty", kit.Config.Memory)
	}
	kit.Refused(t, findAction(t, "write"), args("path", "/AGENTS.md", "markdown", strings.Repeat("x", 65<<10)), tool.Invalid)
	for _, c := range kit.Calls() {
		t.Errorf("the kernel was asked: %s", c.Path)
	}
}

func TestUserRulesAreForReadingOnly(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	kit.Config.UserRules = "be kind"
	if text := readText(t, kit, "/USER_RULES.md"); text != "be kind" {
		t.Errorf("got %q", text)
	}
	kit.Refused(t, findAction(t, "write"), args("path", "/USER_RULES.md", "markdown", "x", "overwrite", true), tool.Denied)
	kit.Refused(t, findAction(t, "replace"), args("path", "/USER_RULES.md", "edit", editArg("be", "x", false)), tool.Denied)
	kit.Refused(t, findAction(t, "rm"), `{"path":"/USER_RULES.md"}`, tool.Denied)
}
