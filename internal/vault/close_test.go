package vault_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"collie/internal/vault"
	"collie/internal/vault/workspace"
)

// TestWaitForTheFirstOpeningEndsWithItsContext lets the first request open the vault slowly. A second one that waits for it
// returns when its own context ends.
func TestWaitForTheFirstOpeningEndsWithItsContext(t *testing.T) {
	t.Parallel()
	begun, proceed := make(chan struct{}), make(chan struct{})
	v := vault.New(filepath.Join(t.TempDir(), "vault.db"), vault.Options{Fill: func(context.Context, http.Handler) error {
		close(begun)
		<-proceed
		return nil
	}})
	var first sync.WaitGroup
	first.Go(func() {
		if _, err := v.Workspace(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := v.Workspace(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	close(proceed)
	first.Wait()
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}

// TestFirstRequestMayGoAway cancels the first request while it prepares the vault. The vault must be whole for the next one.
func TestFirstRequestMayGoAway(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	v := vault.New(filepath.Join(t.TempDir(), "vault.db"), vault.Options{Fill: func(ctx context.Context, h http.Handler) error {
		cancel()
		return vault.Welcome("en")(ctx, h)
	}})
	t.Cleanup(func() { _ = v.Close() })
	_, _ = v.Workspace(ctx)
	if list := ask(t, v, "/api/notebook/lsNotebooks", "{}"); len(list.Get("data.notebooks").Array()) != 1 {
		t.Error(list.Raw)
	}
}

// TestCloseWaitsForRequests closes a vault while requests run: each is answered, or told that the vault is closed.
func TestCloseWaitsForRequests(t *testing.T) {
	t.Parallel()
	v := vault.New(filepath.Join(t.TempDir(), "vault.db"), vault.Options{})
	w, err := v.Workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var requests sync.WaitGroup
	for i := range 8 {
		requests.Go(func() {
			run := w.View
			if i%2 == 0 {
				run = w.Update
			}
			for {
				err := run(t.Context(), func(tx *workspace.Tx) error { tx.Notebooks(); return nil })
				if errors.Is(err, os.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var closing sync.WaitGroup
	for range 2 {
		closing.Go(func() {
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closing.Wait()
	requests.Wait()
	if _, err := v.Workspace(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error %v", err)
	}
}
