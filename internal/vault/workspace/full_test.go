//go:build linux || darwin

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// TestFullDisk runs fillDisk in another process, because the limit on file sizes that simulates a full disk holds for a whole
// process.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	if err := startOtherProcess(t, path, fullDisk+"=1")(); err != nil {
		t.Error(err)
	}
	wantSound(t, open(t, path))
}

// limitFileSize limits the size of files that this process writes.
func limitFileSize(size uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = min(size, limit.Max)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// checkFullDisk writes until writes fail, and checks that exactly the acknowledged blocks are in the vault. It checks that a backup
// fails without leaving files, and that writes and backups work again when there is room.
func checkFullDisk(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	ctx := context.Background()
	w, err := workspace.Open(ctx, path, workspace.Options{})
	if err != nil {
		return err
	}
	var doc string
	err = w.Update(ctx, func(tx *workspace.Tx) error {
		doc = tx.AddDocument(tx.CreateNotebook("Notes"), nil, "Plan", "", nil).ID()
		return nil
	})
	if err != nil {
		return err
	}
	acknowledged := 1
	add := func(size int) error {
		err := w.Update(ctx, func(tx *workspace.Tx) error {
			root := tx.Document(doc).Root
			root.Insert(0, tx.Identify(markup.Parse(fmt.Sprint(acknowledged)+strings.Repeat(" 文字 words", size/12)))...)
			return nil
		})
		if err == nil {
			acknowledged++
		}
		return err
	}
	if err := limitFileSize(1 << 20); err != nil {
		return err
	}
	var failures int
	for i := 0; failures < 20; i++ {
		if err := add(i % 5 * 20_000); err != nil {
			failures++
		}
		if err := wantBlocks(ctx, w, doc, acknowledged); err != nil {
			return fmt.Errorf("after %d failures: %w", failures, err)
		}
		if i > 10_000 {
			return errors.New("the disk is never full")
		}
	}
	backup := filepath.Join(filepath.Dir(path), "backup.db")
	if err := limitFileSize(64 << 10); err != nil {
		return err
	}
	if err := w.Backup(ctx, backup); err == nil {
		return errors.New("the backup fits on a full disk")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*backup*")); len(left) > 0 {
		return fmt.Errorf("the backup leaves %v", left)
	}
	if err := limitFileSize(1 << 40); err != nil {
		return err
	}
	if err := add(100_000); err != nil {
		return fmt.Errorf("there is room again: %w", err)
	}
	if err := wantBlocks(ctx, w, doc, acknowledged); err != nil {
		return err
	}
	if err := w.Backup(ctx, backup); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	for _, file := range []string{path, backup} {
		if w, err = workspace.Open(ctx, file, workspace.Options{}); err != nil {
			return err
		}
		problems, checked := w.Check(ctx, nil)
		err := errors.Join(checked, wantBlocks(ctx, w, doc, acknowledged), w.Close())
		if err != nil || len(problems) > 0 {
			return fmt.Errorf("%s: %v, %w", file, problems, err)
		}
	}
	return os.Remove(backup)
}

// wantBlocks returns an error unless a document has the given number of blocks at its top level.
func wantBlocks(ctx context.Context, w *workspace.Workspace, doc string, want int) error {
	return w.View(ctx, func(tx *workspace.Tx) error {
		d := tx.Document(doc)
		if tx.Err() != nil {
			return nil //nolint:nilerr // View returns the error of the transaction
		}
		if got := len(d.Root.Children); got != want {
			return fmt.Errorf("%d blocks, want %d", got, want)
		}
		return nil
	})
}
