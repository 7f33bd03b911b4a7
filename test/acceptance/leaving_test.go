package acceptance_test

import (
	"testing"

	"github.com/tidwall/gjson"
)

// TestMovesTakenBack undoes a move. Undoing a move is a move out of the place where the document is now, and needs the
// same levels as any other move.
func TestMovesTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archive := w.Notebook("Archive")
	levels := map[string]string{w.work: "rwd", archive: "rw"}
	w.writeLevels(levels)
	home := t.TempDir()
	collie := func(code int, args ...string) cliRun {
		t.Helper()
		r := w.runCLIIn(t, home, nil, append([]string{"--config", w.settings}, args...)...)
		r.wantCode(t, code)
		return r
	}
	moved := collie(0, "fs", "mv", "/Work/Plan/Budget", "/Archive/Budget", "--yes", "--json")
	id := gjson.Get(moved.out, "requestId").String()
	if id == "" {
		t.Fatalf("no requestId in %s", moved.out)
	}
	denied := collie(4, "siyuan", "undo", id, "--yes")
	wantWords(t, "stderr", denied.errs, "allows rw, this needs rwd")
	collie(0, "fs", "read", "/Archive/Budget")
	levels[archive] = "rwd"
	w.writeLevels(levels)
	collie(0, "siyuan", "undo", id, "--yes")
	collie(0, "fs", "read", "/Work/Plan/Budget")
}
