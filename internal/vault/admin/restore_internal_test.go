package admin

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestCopyFileLeavesNoPart checks that a copy that fails leaves no part of the file behind.
func TestCopyFileLeavesNoPart(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	if err := os.WriteFile(from, bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := copyFile(ctx, from, to); err == nil {
		t.Error("an interrupted copy brings no error")
	}
	if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part is left: %v", err)
	}
	if err := copyFile(t.Context(), from, to); err != nil {
		t.Errorf("the next time: %v", err)
	}
}
