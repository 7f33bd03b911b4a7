package safety_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/block"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// TestAWriteThatWaitedIsCheckedAgain: while a write waits for another process, its document moves
// into a notebook that may not be written. Nothing is written there.
func TestAWriteThatWaitedIsCheckedAgain(t *testing.T) {
	t.Parallel()
	kit, dir := actiontest.New(t), t.TempDir()
	writes := safety.Open(safety.Options{Dir: dir})
	open, closed := kernel.ID(kit.Notebook("Open")), kernel.ID(kit.Notebook("Closed"))
	kit.Levels[closed] = access.Read
	doc := kernel.ID(kit.Doc(string(open), "/Doc", "text"))

	var unlocks []func()
	for n := range 64 { // the other process writes to everything
		unlock, err := atomicfile.Lock(t.Context(), filepath.Join(dir, "locks", fmt.Sprintf("%02d.lock", n)))
		if err != nil {
			t.Fatal(err)
		}
		unlocks = append(unlocks, unlock)
	}
	r := kit.Request(t, actiontest.Find(t, block.Tool(), "append"), actiontest.Args("parentID", doc, "dataType", "markdown", "data", "more"))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := writes.Do(context.WithoutCancel(t.Context()), r)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough to be waiting; if it is not yet, the test is only weaker
	}
	if err := kit.Client.MoveDocuments(t.Context(), []kernel.ID{doc}, closed); err != nil {
		t.Fatal(err)
	}
	kit.ResetCalls()
	for _, unlock := range unlocks {
		unlock()
	}
	if err := <-done; tool.KindOf(err) != tool.Denied {
		t.Errorf("got %v, want %s", err, tool.Denied)
	}
	if w := kit.Writes(); len(w) != 0 {
		t.Errorf("it wrote %v", w)
	}
}
