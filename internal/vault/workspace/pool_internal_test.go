package workspace

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
)

// TestReadersAreOpenedAsNeeded looks at how many connections there are: each costs the time of reading the schema.
func TestReadersAreOpenedAsNeeded(t *testing.T) {
	t.Parallel()
	w, err := Open(t.Context(), filepath.Join(t.TempDir(), "vault.db"), Options{Readers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	look := func(inside func()) {
		if err := w.View(t.Context(), func(*Tx) error { inside(); return nil }); err != nil {
			t.Error(err)
		}
	}
	for range 4 {
		look(func() {})
	}
	if n := len(w.readers.open); n != 1 {
		t.Errorf("%d connections after views one by one, expected 1", n)
	}
	var all, ready sync.WaitGroup
	ready.Add(cap(w.readers.open))
	for range cap(w.readers.open) {
		all.Go(func() { look(func() { ready.Done(); ready.Wait() }) })
	}
	all.Wait()
	if n := len(w.readers.open); n != cap(w.readers.open) {
		t.Errorf("%d connections after %d views at once", n, cap(w.readers.open))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range cap(w.readers.open) {
		defer w.readers.release(<-w.readers.open)
	}
	if err := w.View(ctx, func(*Tx) error { return nil }); err == nil {
		t.Error("a view runs without a connection")
	}
}
