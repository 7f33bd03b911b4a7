package workspace_test

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// open opens a workspace that checks its trees, and closes it when the test ends.
func open(t *testing.T, path string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), path, workspace.Options{CheckTrees: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// update runs fn in a transaction that writes.
func update(t *testing.T, w *workspace.Workspace, fn func(*workspace.Tx)) {
	t.Helper()
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error { fn(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

// view runs fn in a transaction that reads.
func view(t *testing.T, w *workspace.Workspace, fn func(*workspace.Tx)) {
	t.Helper()
	if err := w.View(t.Context(), func(tx *workspace.Tx) error { fn(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

// firstColumn returns the first column of a statement.
func firstColumn(t *testing.T, w *workspace.Workspace, statement string, args ...any) (found []string) {
	t.Helper()
	view(t, w, func(tx *workspace.Tx) {
		tx.Rows(func(r workspace.Row) bool {
			found = append(found, r.Text(0))
			return true
		}, statement, args...)
	})
	return found
}

// createNotes makes a notebook with one document and returns their ids.
func createNotes(t *testing.T, w *workspace.Workspace, markdown string) (box, doc string) {
	t.Helper()
	update(t, w, func(tx *workspace.Tx) {
		b := tx.CreateNotebook("Notes")
		d := tx.AddDocument(b, nil, "Plan", "", tx.Identify(markup.Parse(markdown)))
		box, doc = b.ID, d.ID()
	})
	return box, doc
}

func TestTreesSurviveReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w := open(t, path)
	_, doc := createNotes(t, w, "# One\n\ntext\n\n- a\n  - b\n- c\n\n> quoted\n\n## Two\n\n尾")
	var before string
	view(t, w, func(tx *workspace.Tx) { before = markup.Kramdown(tx.Document(doc).Root) })
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	view(t, open(t, path), func(tx *workspace.Tx) {
		if diff := cmp.Diff(before, markup.Kramdown(tx.Document(doc).Root)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUpdateWritesWhatChanged(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "# One\n\nfirst\n\n# Two\n\nsecond 中文")
	update(t, w, func(tx *workspace.Tx) {
		d := tx.Document(doc)
		d.Root.Insert(1, tx.Identify(markup.Parse("between"))...)
		d.Root.Children[0].Text = "## Renamed"
		d.Root.Children[2].Cut()
		d.Root.Attrs["title"] = "Plan B"
	})
	want := []string{"Plan B", "Renamed", "between", "Two", "second 中文"}
	if diff := cmp.Diff(want, firstColumn(t, w, "SELECT content FROM blocks WHERE root_id = ? ORDER BY CASE type WHEN 'd' THEN 0 ELSE 1 END, (SELECT pos FROM node WHERE node.id = blocks.id)", doc)); diff != "" {
		t.Error(diff)
	}
	for query, want := range map[string]int{`"first"`: 0, `"betw"`: 1, `"Renam"`: 1, `"中文  "`: 1} {
		if got := len(firstColumn(t, w, "SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH ?", query)); got != want {
			t.Errorf("%s: %d hits, want %d", query, got, want)
		}
	}
	if got := firstColumn(t, w, "SELECT hpath FROM blocks WHERE root_id = ? AND type = 'p' LIMIT 1", doc); len(got) != 1 || got[0] != "/Plan B" {
		t.Errorf("hpath %q", got)
	}
	if got := firstColumn(t, w, "SELECT parent_id FROM blocks WHERE content = 'second 中文' AND parent_id = (SELECT id FROM blocks WHERE content = 'Two')"); len(got) != 1 {
		t.Error("the paragraph does not lie under its heading")
	}
}

func TestFailedUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text")
	wrong := errors.New("wrong")
	err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		d := tx.Document(doc)
		d.Root.Attrs["title"] = "Other"
		tx.Flush()
		tx.AddDocument(d.Box, d, "Child", "", nil)
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Fatalf("error %v", err)
	}
	view(t, w, func(tx *workspace.Tx) {
		if d := tx.Document(doc); d.Title() != "Plan" || len(tx.Children(d.Box, d)) != 0 {
			t.Errorf("title %q with %d children", d.Title(), len(tx.Children(d.Box, d)))
		}
	})
}

func TestTryUndoes(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text")
	update(t, w, func(tx *workspace.Tx) {
		tx.Document(doc).Root.Insert(0, tx.Identify(markup.Parse("kept"))...)
		tx.Try(func() bool {
			tx.Document(doc).Root.Insert(0, tx.Identify(markup.Parse("dropped"))...)
			return false
		})
		tx.Try(func() bool {
			tx.Document(doc).Root.Insert(0, tx.Identify(markup.Parse("also kept"))...)
			return true
		})
	})
	want := []string{"also kept", "kept", "text"}
	if diff := cmp.Diff(want, firstColumn(t, w, "SELECT content FROM node WHERE type = 'p' AND doc = (SELECT n FROM document WHERE id = ?) ORDER BY pos", doc)); diff != "" {
		t.Error(diff)
	}
}

func TestTwoProcessesSeeEachOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	a, b := open(t, path), open(t, path)
	_, doc := createNotes(t, a, "text")
	for range 3 {
		for _, w := range []*workspace.Workspace{a, b} {
			update(t, w, func(tx *workspace.Tx) {
				root := tx.Document(doc).Root
				root.Insert(len(root.Children), tx.Identify(markup.Parse("more"))...)
			})
		}
	}
	view(t, a, func(tx *workspace.Tx) {
		if n := len(tx.Document(doc).Root.Children); n != 7 {
			t.Errorf("%d blocks, want 7", n)
		}
	})
}

func TestMoveDocumentTakesTheTreeAlong(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text")
	var child, other string
	update(t, w, func(tx *workspace.Tx) {
		d := tx.Document(doc)
		child = tx.AddDocument(d.Box, d, "Child", "", nil).ID()
		b := tx.CreateNotebook("Other")
		other = b.ID
		tx.MoveDocument(d, b, nil)
		d.Root.Attrs["title"] = "Moved"
	})
	view(t, w, func(tx *workspace.Tx) {
		d := tx.Document(child)
		if d.Box.ID != other || d.HPath() != "/Moved/Child" || d.Path() != "/"+doc+"/"+child+".sy" {
			t.Errorf("box %s hpath %s path %s", d.Box.ID, d.HPath(), d.Path())
		}
		if at := tx.DocumentsByHPath(other, "/Moved/Child"); len(at) != 1 {
			t.Errorf("%d documents at the new place", len(at))
		}
	})
}

func TestIdentifyGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text\n{: id=\"20240801000000-aaaaaaa\"}")
	update(t, w, func(tx *workspace.Tx) {
		again := tx.Identify(markup.Parse("one\n{: id=\"20240801000000-aaaaaaa\"}\n\ntwo\n{: id=\"20240801000000-bbbbbbb\"}\n\nthree\n{: id=\"20240801000000-bbbbbbb\"}"))
		seen := map[string]bool{"20240801000000-aaaaaaa": true}
		for _, b := range again {
			if seen[b.ID] {
				t.Errorf("%s twice", b.ID)
			}
			seen[b.ID] = true
		}
		root := tx.Document(doc).Root
		root.Insert(0, again...)
	})
	if got := firstColumn(t, w, "SELECT count(DISTINCT id) FROM node WHERE type = 'p' AND doc = (SELECT n FROM document WHERE id = ?)", doc); got[0] != "4" {
		t.Errorf("%s paragraphs, want 4", got[0])
	}
}

// Names of attributes are the same after the file was opened anew, whatever the text has for one.
func TestNamesOfAttributesStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w, err := workspace.Open(t.Context(), path, workspace.Options{CheckTrees: true})
	if err != nil {
		t.Fatal(err)
	}
	const id = "20240801000000-aaaaaaa"
	createNotes(t, w, "text\n{: id=\""+id+"\" data.x=\"1\" a.id=\"2\" _b=\"3\" :c=\"4\"}")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = open(t, path)
	view(t, w, func(tx *workspace.Tx) {
		got := maps.Clone(tx.Block(id).Attrs)
		delete(got, "updated")
		if diff := cmp.Diff(map[string]string{"id": id, "data.x": "1", "a.id": "2", "_b": "3", ":c": "4"}, got); diff != "" {
			t.Error(diff)
		}
	})
	if found, err := w.Check(t.Context(), nil); err != nil || len(found) > 0 {
		t.Errorf("check: %v, %v", found, err)
	}
}

func TestBlockMovesBetweenDocuments(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "- a\n- b\n\nlast")
	var other, moved string
	update(t, w, func(tx *workspace.Tx) {
		d := tx.Document(doc)
		o := tx.AddDocument(d.Box, nil, "Other", "", nil)
		other = o.ID()
		item := d.Root.Children[0].Children[0]
		moved = item.ID
		item.Cut()
		list := &tree.Block{Kind: tree.List, Children: []*tree.Block{item}}
		o.Root.Insert(0, tx.Identify([]*tree.Block{list}, item.ID)...)
	})
	view(t, w, func(tx *workspace.Tx) {
		if b := tx.Block(moved); b == nil || b.Doc.ID() != other {
			t.Errorf("the item is in %v", b)
		}
	})
	if got := firstColumn(t, w, "SELECT content FROM blocks WHERE type = 'l' AND root_id = ?", doc); len(got) != 1 || got[0] != " b" {
		t.Errorf("the list it left holds %q", got)
	}
}

func TestDynamicAnchorsFollow(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "defined\n{: id=\"20240801000000-aaaaaaa\"}\n\nsee ((20240801000000-aaaaaaa 'defined')) and ((20240801000000-aaaaaaa \"fixed\"))")
	update(t, w, func(tx *workspace.Tx) { tx.Block("20240801000000-aaaaaaa").Text = "redefined" })
	want := "see ((20240801000000-aaaaaaa 'redefined')) and ((20240801000000-aaaaaaa \"fixed\"))"
	if got := firstColumn(t, w, "SELECT markdown FROM blocks WHERE content LIKE 'see %' AND root_id = ?", doc); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRenamingReachesDocumentsThatWereNotRead(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text")
	update(t, w, func(tx *workspace.Tx) {
		d := tx.Document(doc)
		child := tx.AddDocument(d.Box, d, "Child", "", nil)
		tx.AddDocument(d.Box, child, "Grandchild", "", nil)
	})
	update(t, w, func(tx *workspace.Tx) { tx.Document(doc).Root.Attrs["title"] = "改名" })
	want := []string{"/改名", "/改名/Child", "/改名/Child/Grandchild"}
	if diff := cmp.Diff(want, firstColumn(t, w, "SELECT hpath FROM blocks WHERE type = 'd' AND hpath LIKE '/改名%' ORDER BY hpath")); diff != "" {
		t.Error(diff)
	}
}

// TestAnnotationsAreNoAssets checks that the address of an annotation in a PDF does not count as the address of an asset.
func TestAnnotationsAreNoAssets(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "see <<assets/p-20240101000000-paper01.pdf/20240101000000-annota1 \"marked 文\">> in [p](assets/p-20240101000000-paper01.pdf)")
	rows := func(statement string) []string { return firstColumn(t, w, statement) }
	if got := rows("SELECT path FROM assets"); len(got) != 1 || got[0] != "assets/p-20240101000000-paper01.pdf" {
		t.Errorf("assets: %q", got)
	}
	const annotations = `SELECT annotation_id || ' ' || file_path || ' ' || content || ' ' || type || ' ' || root_id FROM file_annotation_refs`
	if got, want := rows(annotations), "20240101000000-annota1 assets/p-20240101000000-paper01.pdf marked 文 textmark "+doc; len(got) != 1 || got[0] != want {
		t.Errorf("annotations: %q, want %q", got, want)
	}
	update(t, w, func(tx *workspace.Tx) { tx.Document(doc).Root.Children[0].Text = "no more" })
	if got := rows(annotations); len(got) > 0 {
		t.Errorf("annotations of a text that is gone: %q", got)
	}
}
