package workspace_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqliteconn"
	"collie/internal/vault/workspace"
)

// TestOlderVersion opens a file of the first version: for reading it stays as it is, for writing it is migrated.
func TestOlderVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w := open(t, path)
	createNotes(t, w, "text")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := sqliteconn.Open(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"DROP TABLE origin", "DROP TABLE imported", "DROP TABLE synced", "PRAGMA user_version = 1"} {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqliteconn.Close(conn); err != nil {
		t.Fatal(err)
	}
	version := func(readOnly bool, want int) {
		t.Helper()
		w, err := workspace.Open(t.Context(), path, workspace.Options{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}()
		info, err := w.Info(t.Context())
		if err != nil || info.Version != want || info.Documents != 1 {
			t.Errorf("%+v, %v; want version %d with a document", info, err, want)
		}
		if found, err := w.Check(t.Context(), nil); err != nil || len(found) > 0 {
			t.Errorf("check: %v, %v", found, err)
		}
		if err := w.View(t.Context(), func(tx *workspace.Tx) error { _ = tx.Origins(); return nil }); err != nil {
			t.Error(err)
		}
	}
	version(true, 1)
	version(false, 3)
	version(true, 3)
}

func TestImported(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	o := workspace.Origin{Place: "/notes", Notebook: "n"}
	want := workspace.Imported{
		Path: "a.md", Kind: "page", Target: "20240131120000-abcdefg", Title: "a", Parent: "p", Source: "s", Content: "h",
		Names: map[string]string{"h": "20240131120000-abcdefh"},
	}
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		tx.PutOrigin(&o)
		o.State = "x"
		tx.PutOrigin(&o)
		tx.PutImported(o.N, workspace.Imported{Path: "a.md", Kind: "page"})
		tx.PutImported(o.N, want)
		tx.PutImported(o.N, workspace.Imported{Path: "b.md"})
		tx.RemoveImported(o.N, "b.md")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.View(t.Context(), func(tx *workspace.Tx) error {
		if diff := cmp.Diff([]workspace.Origin{o}, tx.Origins()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]workspace.Imported{want}, tx.Imported(o.N)); diff != "" {
			t.Error(diff)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
