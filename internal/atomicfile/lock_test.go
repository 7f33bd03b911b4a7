package atomicfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"collie/internal/atomicfile"
)

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run", "lock")
	unlock, err := atomicfile.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := atomicfile.TryLock(path); ok || err != nil {
		t.Errorf("TryLock beside Lock = %v, %v, want false, nil", ok, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := atomicfile.Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second Lock = %v, want the context's error", err)
	}
	unlock()
	unlock()
	again, ok, err := atomicfile.TryLock(path)
	if !ok || err != nil {
		t.Fatalf("TryLock after unlock = %v, %v", ok, err)
	}
	unlock() // a late second call must not free another holder's lock
	if _, ok, _ := atomicfile.TryLock(path); ok {
		t.Error("the first holder's unlock freed the second holder's lock")
	}
	again()
}

func TestUpdateLosesNothing(t *testing.T) {
	t.Parallel()
	f := atomicfile.File{Path: filepath.Join(t.TempDir(), "n"), NoSync: true}
	var adders sync.WaitGroup
	for range 8 {
		adders.Go(func() {
			for range 5 {
				err := f.Update(t.Context(), func(old []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(old))
					return strconv.AppendInt(nil, int64(n+1), 10), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	adders.Wait()
	if got, _ := os.ReadFile(f.Path); string(got) != "40" {
		t.Errorf("count = %s, want 40", got)
	}
}

func TestUpdateWritesOnlyChanges(t *testing.T) {
	t.Parallel()
	f := atomicfile.File{Path: filepath.Join(t.TempDir(), "f")}
	set := func(s string, err error) error {
		return f.Update(t.Context(), func([]byte) ([]byte, error) { return []byte(s), err })
	}
	if err := set("a", nil); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := set("a", nil); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no")
	if err := set("b", failure); !errors.Is(err, failure) {
		t.Errorf("error = %v, want that of edit", err)
	}
	after, err := os.Stat(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the file was replaced though nothing changed")
	}
}
