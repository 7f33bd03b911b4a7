package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
	"collie/internal/store"
)

// things is a schema with one table, which most tests use.
var things = store.Schema{Name: "things", Migrations: []string{"CREATE TABLE thing (name TEXT PRIMARY KEY) STRICT"}}

// mustOpen opens the store in dir. It is closed with the test.
func mustOpen(t *testing.T, dir string, schemas ...store.Schema) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dir, schemas...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// countRows returns the number of rows in the table of things.
func countRows(t *testing.T, s *store.Store) (n int64) {
	t.Helper()
	err := s.Read(t.Context(), func(tx *store.Tx) error {
		n, _ = tx.Number("SELECT count(*) FROM thing")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStoresShareOneFile has several open stores, as several processes would, write at once.
func TestStoresShareOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 3 {
		s := mustOpen(t, dir, things)
		for j := range 2 {
			all.Go(func() {
				for n := range 20 {
					err := s.Write(t.Context(), func(tx *store.Tx) error {
						tx.Exec("INSERT INTO thing VALUES (?)", fmt.Sprint(i, j, n))
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	s := mustOpen(t, dir, things)
	if n := countRows(t, s); n != 120 {
		t.Errorf("%d rows, expected 120", n)
	}
	if problems, err := s.Check(t.Context()); err != nil || problems != nil {
		t.Errorf("check: %v, %v", problems, err)
	}
}

// A transaction is rolled back if its function or one of its statements fails. A read cannot write.
func TestWriteThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), things)
	wrong := errors.New("wrong")
	if err := s.Write(t.Context(), func(tx *store.Tx) error { tx.Exec("INSERT INTO thing VALUES ('a')"); return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	if err := s.Write(t.Context(), func(tx *store.Tx) error {
		tx.Exec("INSERT INTO thing VALUES ('b')")
		tx.Exec("INSERT INTO nothing VALUES ('b')")
		return nil // the transaction knows
	}); err == nil {
		t.Error("a statement that failed was committed")
	}
	if err := s.Read(t.Context(), func(tx *store.Tx) error { tx.Exec("INSERT INTO thing VALUES ('c')"); return nil }); err == nil {
		t.Error("a read wrote")
	}
	if n := countRows(t, s); n != 0 {
		t.Errorf("%d rows stay", n)
	}
}

// TestPartsMigrateByThemselves opens one file with the tables of one part, of another one, and of a newer Collie.
func TestPartsMigrateByThemselves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := mustOpen(t, dir, things)
	newer := store.Schema{Name: "things", Migrations: append(things.Migrations, "ALTER TABLE thing ADD COLUMN size INTEGER")}
	second := mustOpen(t, dir, newer, store.Schema{Name: "others", Migrations: []string{"CREATE TABLE other (n INTEGER)"}})
	insert := func(tx *store.Tx) error { tx.Exec("INSERT INTO thing (name) VALUES ('a')"); return nil }
	if err := second.Write(t.Context(), insert); err != nil {
		t.Error(err)
	}
	if err := first.Write(t.Context(), insert); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("an older store writes: %v", err)
	}
	if _, err := store.Open(t.Context(), dir, things); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("an older store opens: %v", err)
	}
}

// A file that another program wrote is neither opened nor changed.
func TestForeignFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"text": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("not a database", 100)), 0o600)
		},
		"another program's": func(path string) error {
			conn, err := sqliteconn.Open(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
			if err != nil {
				return err
			}
			return errors.Join(sqlitex.ExecuteScript(conn, "CREATE TABLE t (x)", nil), sqliteconn.Close(conn))
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, store.FileName)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := store.Open(t.Context(), dir, things); err == nil {
			t.Errorf("%s: it is opened", name)
			_ = s.Close()
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file changed, %v", name, err)
		}
	}
}

// An owner is alive until its store is closed, as other stores of the same folder see it.
func TestOwnersLiveAsLongAsTheirStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := mustOpen(t, dir, things), mustOpen(t, dir, things)
	if !one.Alive(one.Owner()) || !one.Alive(two.Owner()) || one.Owner() == two.Owner() {
		t.Error("an owner that is there is not alive")
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if one.Alive(two.Owner()) || one.Alive("nobody") {
		t.Error("an owner that is gone is alive")
	}
	if err := two.Read(t.Context(), func(*store.Tx) error { return nil }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed store answers %v", err)
	}
}

// A backup is a private file with the same rows, and overwrites no file.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), things)
	err := s.Write(t.Context(), func(tx *store.Tx) error { tx.Exec("INSERT INTO thing VALUES ('a')"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, store.FileName)
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file that is there is written over: %v", err)
	}
	if n := countRows(t, mustOpen(t, dir, things)); n != 1 {
		t.Errorf("%d rows in the backup", n)
	}
}
