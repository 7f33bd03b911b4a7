package workspace_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"collie/internal/vault/workspace"
)

func TestManyProcessesMakeANewFile(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "vault.db")
		var waits []func() error
		for range 4 {
			waits = append(waits, startVisitor(t, path))
		}
		for _, wait := range waits {
			if err := wait(); err != nil {
				t.Error(err)
			}
		}
		w := open(t, path)
		view(t, w, func(tx *workspace.Tx) {
			if n := len(tx.Notebooks()); n != 4 {
				t.Errorf("%d notebooks, want 4", n)
			}
		})
		wantSound(t, w)
	}
}

// TestWaitForAnotherWriterEndsWithItsContext has a second handle wait for the first, as another process would.
func TestWaitForAnotherWriterEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	a, b := open(t, path), open(t, path)
	update(t, a, func(tx *workspace.Tx) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := b.Update(ctx, func(*workspace.Tx) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("it waited %v", took)
		}
	})
	update(t, b, func(tx *workspace.Tx) { tx.CreateNotebook("N") })
}
