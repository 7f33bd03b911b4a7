package dirstore_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache/dirstore"
)

func TestWatchEndsWithTheStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opts := dirstore.Options{Poll: 5 * time.Millisecond}
	s, other := open(t, dir, opts), open(t, dir, opts)
	told := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() { ended <- s.Watch(t.Context(), func() { told <- struct{}{} }) }()
	commit(t, other, 0, put("a", 1))
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Error("not told of another's commit")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("Watch of a closed store: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Close does not end Watch")
	}
	if _, err := s.Load(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Load of a closed store: %v", err)
	}
}
