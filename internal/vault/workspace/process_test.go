package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// TestManyProcessesMakeANewFile lets several processes open and write a vault that does not exist yet, all at once.
func TestManyProcessesMakeANewFile(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "vault.db")
		var waits []func() error
		for range 4 {
			waits = append(waits, startOtherProcess(t, path))
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

// TestWaitForAnotherWriterEndsWithItsContext lets an update wait for that of another handle, as for another process, until its
// context ends.
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
		await.Within(t, "waiting", time.Since(start), 5*time.Second)
	})
	update(t, b, func(tx *workspace.Tx) { tx.CreateNotebook("N") })
}

// TestReplacedFileIsNotWrittenTo replaces the file of an open workspace, as somebody who restores a backup does. Views and
// updates must fail then.
func TestReplacedFileIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "vault.db")
	w := open(t, path)
	createNotes(t, w, "text")
	if err := w.Backup(t.Context(), filepath.Join(dir, "backup.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "backup.db"), path); err != nil {
		t.Skip(err) // not every system can replace an open file
	}
	for name, run := range map[string]func(context.Context, func(*workspace.Tx) error) error{"view": w.View, "update": w.Update} {
		if err := run(t.Context(), func(*workspace.Tx) error { return nil }); err == nil {
			t.Errorf("%s: it goes on with the file that was there", name)
		}
	}
}

// TestNewerVersionIsNotWrittenTo changes the version of an open file, as a newer Collie that migrates it would. Updates must
// fail.
func TestNewerVersionIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w := open(t, path)
	createNotes(t, w, "text")
	conn, err := sqliteconn.Open(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA user_version = 99", nil); err != nil {
		t.Fatal(err)
	}
	if err := sqliteconn.Close(conn); err != nil {
		t.Fatal(err)
	}
	err = w.Update(t.Context(), func(tx *workspace.Tx) error { tx.CreateNotebook("N"); return nil })
	if err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("error %v", err)
	}
}
