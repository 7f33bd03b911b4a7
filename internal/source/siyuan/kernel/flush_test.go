package kernel_test

import (
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
)

const flushPath = "/api/sqlite/flushTransaction"

// TestFlushAtTheStart: what another program, such as a command that has ended, wrote just before is found.
func TestFlushAtTheStart(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	k.DelayIndex(true)
	nb := k.Notebook("N")
	k.Doc(nb, "/D", "text")
	k.ResetCalls()
	c := newClient(t, k.URL(), kernel.Options{})
	for range 2 {
		rows, err := kernel.SQL[struct{ ID kernel.ID }](t.Context(), c, "SELECT DISTINCT id FROM blocks WHERE content = 'D' LIMIT 10")
		if err != nil || len(rows) != 1 {
			t.Errorf("%d rows, %v; want the document that was there before", len(rows), err)
		}
	}
	if n := countCalls(k, flushPath); n != 1 {
		t.Errorf("%d flushes, want 1", n)
	}
}

// TestFlushAfterARemoval: a kernel removes the rows of a document some time after its answer, so the first flush may
// come too early.
func TestFlushAfterARemoval(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	doc := kernel.ID(k.Doc(k.Notebook("N"), "/D", "text"))
	c := newClient(t, k.URL(), kernel.Options{})
	if err := c.RemoveDocument(t.Context(), doc); err != nil {
		t.Fatal(err)
	}
	k.ResetCalls()
	for range 2 {
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := countCalls(k, flushPath); n != 2 {
		t.Errorf("%d flushes, want 2", n)
	}
}

// TestFlushThatCannotBe: if a kernel refuses to flush because it is read-only, a statement runs without the flush.
func TestFlushThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, mode := range []kerneltest.Mode{kerneltest.FailMessage("Currently in read-only mode"), kerneltest.FailEmpty} {
		k := kerneltest.New(t)
		k.Fail(flushPath, 1, mode)
		c := newClient(t, k.URL(), kernel.Options{})
		if _, err := kernel.SQL[struct{}](t.Context(), c, "SELECT 1 LIMIT 1"); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	k := kerneltest.New(t)
	k.Fail(flushPath, 1, kerneltest.FailMessage("the index is broken"))
	_, err := kernel.SQL[struct{}](t.Context(), newClient(t, k.URL(), kernel.Options{}), "SELECT 1 LIMIT 1")
	wantToolError(t, err, kernel.API)
}
