package document_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/tool"
)

func TestGetOutline(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/大 纲", "# H1 一\n\nt\n\n## A & B\n\n#### H4\n\n# H1b")
	got := k.Must(t, findAction(t, "get_outline"), args("id", id))
	if got.Get("headingCount").Int() != 4 || got.Get("notebook").String() != nb || got.Get("outline.0.title").String() != "H1 一" ||
		got.Get("outline.0.children.0.title").String() != "A & B" || got.Get("outline.0.children.0.level").Int() != 2 ||
		got.Get("outline.0.children.0.children.0.level").Int() != 4 || got.Get("outline.1.title").String() != "H1b" {
		t.Errorf("the outline is %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "get_outline"), args("id", id, "preview", true))
	if got.Get("outline.0.title").String() != "大 纲" {
		t.Errorf("with the title: %s", got.Raw)
	}
	got = k.Must(t, findAction(t, "get_outline"), args("id", k.Doc(nb, "/Plain", "text")))
	if got.Get("outline").Raw != "[]" || got.Get("headingCount").Int() != 0 {
		t.Errorf("without headings: %s", got.Raw)
	}
	k.Refused(t, findAction(t, "get_outline"), `{}`, tool.Invalid)
	on, missing := guardedByID("id")
	checkGuarded(t, "get_outline", access.Read, on, missing)
}
