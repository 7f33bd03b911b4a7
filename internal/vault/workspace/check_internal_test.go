package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/vault/markup"
)

// newFullWorkspace makes a workspace that uses everything Check looks at.
func newFullWorkspace(t *testing.T) *Workspace {
	t.Helper()
	w, err := Open(t.Context(), filepath.Join(t.TempDir(), "vault.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	err = w.Update(t.Context(), func(tx *Tx) error {
		box := tx.CreateNotebook("Notes")
		up := tx.AddDocument(box, nil, "Up", "", tx.Identify(markup.Parse(
			"# H\n\ntext #tag# ![i](assets/a.png)\n{: id=\"20240801000000-aaaaaaa\" custom-x=\"1\"}\n\n<<assets/a-20240801000000-ddddddd.pdf/20240801000000-ccccccc \"mark\">>\n\n- a\n- ((20240801000000-aaaaaaa 'text'))")))
		tx.AddDocument(box, up, "Down", "", nil)
		tx.WriteFile("/data/assets/a.png", []byte("png"), up.Changed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestCheckFindsNothingInASoundFile(t *testing.T) {
	t.Parallel()
	problems, err := newFullWorkspace(t).Check(t.Context(), nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, error %v", problems, err)
	}
}

func TestCheckFindsEveryBreach(t *testing.T) {
	t.Parallel()
	const leaf = "(SELECT n FROM node WHERE id = '20240801000000-aaaaaaa')"
	tests := []struct{ breach, want string }{
		{"DELETE FROM notebook", "notebook"},
		{"UPDATE document SET parent = 999 WHERE parent <> 0", "lies below one"},
		{"UPDATE document SET path = '/x.sy' WHERE parent <> 0", "paths are stored"},
		{"UPDATE document SET hpath = '/Other' WHERE parent <> 0", "paths are stored"},
		{"UPDATE node SET parent = 0 WHERE n = " + leaf, "roots"},
		{"DELETE FROM document WHERE parent <> 0", "belongs to no document"},
		{"UPDATE node SET parent = 12345 WHERE n = " + leaf, "lies in none"},
		{"UPDATE node SET pos = (SELECT min(pos) FROM node WHERE parent = (SELECT parent FROM node WHERE n = " + leaf + ")) WHERE n = " + leaf, "same place"},
		{"INSERT INTO attribute VALUES (999, 'x', 'x', 'x')", "belongs to no block"},
		{"DELETE FROM node WHERE id = '20240801000000-aaaaaaa'", "not there"},
		{"DELETE FROM blocks_fts_docsize WHERE id = " + leaf, "not in the full text index"},
		{"UPDATE node SET content = 'other' WHERE n = " + leaf, "stale: content"},
		{"UPDATE node SET ial = '{: id=\"20240801000000-bbbbbbb\"}' WHERE n = " + leaf, "attribute id"},
		{"UPDATE node SET above = '' WHERE n = " + leaf, "lies under"},
		{"UPDATE node SET type = 'zz' WHERE n = " + leaf, "none"},
		{"DELETE FROM ref", "rows of ref"},
		{"DELETE FROM attribute", "rows of attribute"},
		{"DELETE FROM asset", "rows of asset"},
		{"DELETE FROM annotation", "rows of annotation"},
		{"UPDATE file SET data = x'00' WHERE dir = 0", "hash"},
		{"UPDATE file SET size = 9 WHERE dir = 0", "size"},
		{"DELETE FROM file WHERE path = '/data/assets'", "folder"},
	}
	for _, tt := range tests {
		t.Run(tt.breach, func(t *testing.T) {
			t.Parallel()
			w := newFullWorkspace(t)
			conn, err := w.writer.Acquire(t.Context(), w.closed)
			if err != nil {
				t.Fatal(err)
			}
			err = sqlitex.ExecuteTransient(conn, tt.breach, nil)
			changes := conn.Changes()
			w.writer.Release(conn)
			if err != nil || changes == 0 {
				t.Fatalf("nothing is broken: %d rows, error %v", changes, err)
			}
			problems, err := w.Check(t.Context(), nil)
			if err == nil && !strings.Contains(fmt.Sprint(problems), tt.want) {
				t.Errorf("found %v, want one with %q", problems, tt.want)
			}
		})
	}
}
