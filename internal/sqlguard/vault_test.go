package sqlguard_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/sqlguard"
	"collie/internal/sqliteconn"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// newVaultFile makes a workspace with a few notes, and the canary in what no statement may see.
func newVaultFile(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notes.db")
	w, err := workspace.Open(t.Context(), path, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Update(t.Context(), func(tx *workspace.Tx) error {
		open := tx.CreateNotebook("Open")
		// The ids are fixed: statements compare ids of blocks with those of attributes and spans, and the order of ids
		// made within one second is random.
		blocks := markup.Parse("# Apple 苹果\n\napple pie #fruit#\n\n- one\n- two")
		n := 0
		for _, b := range blocks {
			b.Walk(func(b *tree.Block) {
				n++
				if b.Attrs == nil {
					b.Attrs = map[string]string{}
				}
				b.Attrs["id"] = fmt.Sprintf("209901010000%02d-fruitsx", n)
			})
		}
		tx.AddDocument(open, nil, "Fruit 水果", "20240101000000-fruitsx", tx.Identify(blocks))
		shut := tx.CreateNotebook("Shut")
		tx.AddDocument(shut, nil, canary+" title", "", tx.Identify(markup.Parse(canary+" text")))
		tx.Flush()
		shut.Conf.Closed = true
		tx.WriteFile("/data/storage/"+canary+".json", []byte(canary), time.Time{})
		tx.PutRecord(workspace.Record{Kind: canary, ID: canary, Owner: canary, Body: []byte(canary)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// connect opens a connection that may write, so that only the guard keeps a statement from it.
func connect(t testing.TB, path string) *sqlite.Conn {
	t.Helper()
	conn, err := sqliteconn.Open(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sqliteconn.Close(conn) })
	if err := sqlguard.Prepare(conn); err != nil {
		t.Fatal(err)
	}
	return conn
}

// closeAfter closes g when the test ends, and returns it.
func closeAfter(t testing.TB, g *sqlguard.Runner) *sqlguard.Runner {
	t.Helper()
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// dump returns the definitions and rows of all tables.
func dump(t testing.TB, conn *sqlite.Conn) string {
	t.Helper()
	var out strings.Builder
	var names []string
	err := sqlitex.ExecuteTransient(conn, "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'block_terms%' ORDER BY name", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sqlite.Stmt) error {
			if strings.HasPrefix(stmt.ColumnText(1), "CREATE TABLE") {
				names = append(names, stmt.ColumnText(0))
			}
			fmt.Fprintln(&out, stmt.ColumnText(0), stmt.ColumnText(1))
			return nil
		},
	})
	for _, name := range names {
		if err == nil {
			err = sqlitex.ExecuteTransient(conn, "SELECT * FROM "+name, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
				for i := range stmt.ColumnCount() {
					fmt.Fprintf(&out, "%q|", stmt.ColumnText(i))
				}
				fmt.Fprintln(&out)
				return nil
			}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
