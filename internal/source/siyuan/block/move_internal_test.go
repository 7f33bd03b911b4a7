package block

import (
	"errors"
	"strings"
	"testing"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

func TestSectionBetween(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	doc := kernel.ID(kit.Doc(kit.Notebook("N"), "/D", "# h\n\na\n\nb\n\n# other\n\nc"))
	list, err := kit.Client.ChildBlocks(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	h, other, c := list[0].ID, list[3].ID, list[4].ID
	r := kit.Request(t, move(), `{}`)
	check := func(heading, id kernel.ID, want bool) {
		t.Helper()
		if got, err := sectionBetween(t.Context(), r, doc, heading, id); err != nil || got != want {
			t.Errorf("from %s to %s: %v, %v, want %v", heading, id, got, err, want)
		}
	}
	check(h, other, false) // not folded
	if err := kit.Client.Fold(t.Context(), h, true); err != nil {
		t.Fatal(err)
	}
	check(h, other, true)
	check(h, c, false)
	check(other, h, false)
	check("", h, false)
}

// The error of a move that ended halfway does not say that a block stayed if nobody knows, and keeps the hint.
func TestPartlyMovedError(t *testing.T) {
	t.Parallel()
	for kind, want := range map[tool.ErrorKind]string{
		tool.Invalid: "1 blocks were moved before this one failed", kernel.OutcomeUnknown: "1 blocks were moved before this one, which may have been moved too",
	} {
		err := partlyMovedError(&tool.Error{Op: "move", Kind: kind, Hint: "look"}, []kernel.ID{"a"})
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || !strings.HasPrefix(e.Message, want) || e.Kind != kind || e.Hint != "look" || e.OutcomeUnknown != (kind == kernel.OutcomeUnknown) {
			t.Errorf("%s: %s", kind, e.Payload())
		}
	}
}
