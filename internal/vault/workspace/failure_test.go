package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"collie/internal/atomicfile"
	"collie/internal/sqliteconn"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// wantSound fails the test if the check of a workspace finds problems.
func wantSound(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	problems, err := w.Check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	wantIndexed(t, w)
}

// panics runs fn and reports whether it panicked.
func panics(fn func()) (did bool) {
	defer func() { did = recover() != nil }()
	fn()
	return false
}

// TestPanicLeavesNoTransactionBehind panics in more views and updates than there are connections. Later ones must still work.
func TestPanicLeavesNoTransactionBehind(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text")
	for range 8 {
		for _, run := range []func(context.Context, func(*workspace.Tx) error) error{w.View, w.Update} {
			if !panics(func() {
				_ = run(t.Context(), func(tx *workspace.Tx) error {
					tx.Rows(func(workspace.Row) bool { panic("a handler is wrong") }, "SELECT id FROM node")
					return nil
				})
			}) {
				t.Fatal("the panic is lost")
			}
		}
	}
	update(t, w, func(tx *workspace.Tx) { tx.Document(doc).Root.Attrs["title"] = "New" })
	for range 8 {
		view(t, w, func(tx *workspace.Tx) {
			if title := tx.Document(doc).Title(); title != "New" {
				t.Errorf("a view sees the title %q", title)
			}
		})
	}
}

// TestMoveOutOfContainerIsKept moves a block out of a quote and back. That changes only the parents of blocks, and not their
// order in the document.
func TestMoveOutOfContainerIsKept(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "> a\n>\n> b\n\nc")
	move := func(fn func(root *tree.Block)) string {
		var want string
		update(t, w, func(tx *workspace.Tx) {
			fn(tx.Document(doc).Root)
			want = markup.Kramdown(tx.Document(doc).Root)
		})
		return want
	}
	for _, step := range []struct {
		name string
		do   func(root *tree.Block)
	}{
		{"out", func(root *tree.Block) {
			b := root.Children[0].Children[1]
			b.Cut()
			root.Insert(1, b)
		}},
		{"back in", func(root *tree.Block) {
			b := root.Children[1]
			b.Cut()
			root.Children[0].Insert(1, b)
		}},
	} {
		want := move(step.do)
		view(t, open(t, w.Path()), func(tx *workspace.Tx) {
			if diff := cmp.Diff(want, markup.Kramdown(tx.Document(doc).Root)); diff != "" {
				t.Errorf("%s: %s", step.name, diff)
			}
		})
	}
	wantSound(t, w)
}

func TestRowsMayBeAskedWithinThemselves(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "one\n\ntwo\n\nthree")
	view(t, w, func(tx *workspace.Tx) {
		const statement = "SELECT content FROM node WHERE type = ? AND doc = (SELECT n FROM document WHERE id = ?) ORDER BY pos"
		var seen []string
		tx.Rows(func(r workspace.Row) bool {
			tx.Rows(func(inner workspace.Row) bool {
				seen = append(seen, r.Text(0)+" "+inner.Text(0))
				return len(seen) < 100
			}, statement, "p", doc)
			return len(seen) < 100
		}, statement, "p", doc)
		if len(seen) != 9 {
			t.Errorf("%d pairs of 3 rows, want 9: %v", len(seen), seen)
		}
	})
}

// TestClosedNotebooksAreSound checks that the full text index holds the blocks of open notebooks only, also when a notebook is
// opened or closed in the transaction that changes it.
func TestClosedNotebooksAreSound(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	box, doc := createNotes(t, w, "findable text")
	hits := func(want int) {
		t.Helper()
		if got := len(firstColumn(t, w, "SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH 'findable'")); got != want {
			t.Errorf("%d hits, want %d", got, want)
		}
		wantSound(t, w)
	}
	hits(1)
	update(t, w, func(tx *workspace.Tx) { // change and close at once
		tx.Document(doc).Root.Insert(0, tx.Identify(markup.Parse("findable too"))...)
		tx.Notebook(box).Conf.Closed = true
	})
	hits(0)
	update(t, w, func(tx *workspace.Tx) { tx.Notebook(box).Conf.Closed = false })
	hits(2)
	update(t, w, func(tx *workspace.Tx) { tx.Notebook(box).Conf.Closed = true })
	update(t, w, func(tx *workspace.Tx) { // open and change at once
		tx.Notebook(box).Conf.Closed = false
		tx.Document(doc).Root.Children[0].Cut()
	})
	hits(1)
	update(t, w, func(tx *workspace.Tx) { tx.Notebook(box).Conf.Closed = true })
	update(t, w, func(tx *workspace.Tx) { tx.RemoveNotebook(tx.Notebook(box)) })
	hits(0)
}

// TestDocumentIsErasedAndAddedAgain gives a new document the id, and its blocks the ids, of one removed in the same
// transaction.
func TestDocumentIsErasedAndAddedAgain(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	box, doc := createNotes(t, w, "old text\n{: id=\"20240801000000-aaaaaaa\"}")
	update(t, w, func(tx *workspace.Tx) {
		tx.Document(doc).Root.Children[0].Text = "changed before"
		tx.RemoveDocument(tx.Document(doc))
		if tx.Document(doc) != nil || tx.Block("20240801000000-aaaaaaa") != nil {
			t.Error("what was removed is there")
		}
		blocks := tx.Identify(markup.Parse("new words\n{: id=\"20240801000000-aaaaaaa\"}"))
		tx.AddDocument(tx.Notebook(box), nil, "Again", doc, blocks)
	})
	for _, h := range []*workspace.Workspace{w, open(t, w.Path())} {
		view(t, h, func(tx *workspace.Tx) {
			b := tx.Block("20240801000000-aaaaaaa")
			if b == nil || b.Text != "new words" || b.Doc.ID() != doc || b.Doc.Title() != "Again" {
				t.Errorf("found %+v", b)
			}
		})
	}
	if got := firstColumn(t, w, "SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH 'old OR changed'"); len(got) != 0 {
		t.Error("the old text is found")
	}
	wantSound(t, w)
}

// TestUndoneTryLeavesIndexSound writes, flushes and undoes changes within one transaction, and then makes other changes in it.
func TestUndoneTryLeavesIndexSound(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "first text")
	for i := range 20 {
		update(t, w, func(tx *workspace.Tx) {
			tx.Try(func() bool {
				d := tx.Document(doc)
				d.Root.Insert(0, tx.Identify(markup.Parse(fmt.Sprintf("undone %d", i)))...)
				tx.Flush()
				tx.AddDocument(d.Box, d, "Undone", "", nil)
				tx.Try(func() bool { tx.Document(doc).Root.Attrs["title"] = "Inner"; return i%2 == 0 })
				return false
			})
			root := tx.Document(doc).Root
			root.Insert(0, tx.Identify(markup.Parse(fmt.Sprintf("kept %d", i)))...)
		})
	}
	if got := firstColumn(t, w, "SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH 'undone'"); len(got) != 0 {
		t.Errorf("%d blocks that were undone are found", len(got))
	}
	if got := firstColumn(t, w, "SELECT rowid FROM blocks_fts WHERE blocks_fts MATCH 'kept'"); len(got) != 20 {
		t.Errorf("%d blocks that were kept are found, want 20", len(got))
	}
	wantSound(t, w)
}

// TestAnchorsOfEachOtherDoNotGrow lets two blocks refer to each other four times with dynamic anchors, which show the text of
// their target. The texts must not grow with each update.
func TestAnchorsOfEachOtherDoNotGrow(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	const a, b = "20240801000000-aaaaaaa", "20240801000000-bbbbbbb"
	_, doc := createNotes(t, w, "a\n{: id=\""+a+"\"}\n\nb\n{: id=\""+b+"\"}")
	update(t, w, func(tx *workspace.Tx) {
		tx.Block(a).Text = strings.Repeat("see (("+b+" 'x')) ", 4)
		tx.Block(b).Text = strings.Repeat("see (("+a+" 'x')) ", 4)
	})
	for i := range 6 {
		update(t, w, func(tx *workspace.Tx) {
			tx.Document(doc).Root.Attrs["custom-n"] = fmt.Sprint(i)
			tx.Block(a).Text += "."
			tx.Flush()
		})
	}
	view(t, w, func(tx *workspace.Tx) {
		if n := len(tx.Block(a).Text); n > 64<<10 {
			t.Errorf("the text has grown to %d bytes", n)
		}
	})
	wantSound(t, w)
}

// TestAnchorOfItselfIsWritten checks a block that refers to itself, whose text changes whenever its anchor is updated. In the end
// the block in memory must be equal to that in the file.
func TestAnchorOfItselfIsWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "vault.db")
	w, err := workspace.Open(t.Context(), path, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	const id = "20240801000000-aaaaaaa"
	createNotes(t, w, "a\n{: id=\""+id+"\"}")
	update(t, w, func(tx *workspace.Tx) { tx.Block(id).Text = "see ((" + id + " 'x')) end" })
	text := func(w *workspace.Workspace) (text string) {
		view(t, w, func(tx *workspace.Tx) { text = tx.Block(id).Text })
		return text
	}
	if got, want := text(w), text(open(t, path)); got != want {
		t.Errorf("%q is read, the file holds %q", got, want)
	}
}

// TestChangedViewPanics checks that, with CheckTrees, a view that changes a tree panics and that later views do not see the
// change.
func TestChangedViewPanics(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	const id = "20240801000000-aaaaaaa"
	createNotes(t, w, "a\n{: id=\""+id+"\"}")
	if !panics(func() { view(t, w, func(tx *workspace.Tx) { tx.Block(id).Text = "b" }) }) {
		t.Error("it passed")
	}
	view(t, w, func(tx *workspace.Tx) {
		if got := tx.Block(id).Text; got != "a" {
			t.Errorf("the next one reads %q", got)
		}
	})
}

func TestPositionsNeverRunOut(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "first\n\nlast")
	var want []string
	for range 60 { // more often than the gap between two positions (posGap, 2^20) can be halved
		update(t, w, func(tx *workspace.Tx) {
			root := tx.Document(doc).Root
			root.Insert(1, tx.Identify(markup.Parse("between"))...)
			want = nil
			for _, b := range root.Children {
				want = append(want, b.ID)
			}
		})
	}
	view(t, open(t, w.Path()), func(tx *workspace.Tx) {
		var got []string
		for _, b := range tx.Document(doc).Root.Children {
			got = append(got, b.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	wantSound(t, w)
}

// TestCanceledUpdateIsWholeOrNothing ends the context of updates at different moments, the commit included. An update must be
// stored if and only if it returned no error.
func TestCanceledUpdateIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text")
	want := 1
	canceled := 0
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		var ending sync.WaitGroup
		err := w.Update(ctx, func(tx *workspace.Tx) error {
			root := tx.Document(doc).Root
			root.Insert(0, tx.Identify(markup.Parse("more"))...)
			ending.Go(func() {
				for range i * 50 { // some moments
					_ = ctx.Err()
				}
				cancel()
			})
			return nil
		})
		ending.Wait()
		cancel()
		if err == nil {
			want++
		} else if canceled++; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		view(t, w, func(tx *workspace.Tx) {
			if got := len(tx.Document(doc).Root.Children); got != want {
				t.Fatalf("round %d: %d blocks, want %d (error %v)", i, got, want, err)
			}
		})
	}
	t.Logf("%d of 200 were canceled", canceled)
	wantSound(t, w)
}

// makeForeignFile makes a SQLite file of another program.
func makeForeignFile(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	conn, err := sqliteconn.Open(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqliteconn.Close(conn); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWhatIsNoVaultIsRefusedUntouched opens files that are not vaults, for writing and for reading. Each must be refused with an
// error, without a panic, and must keep its bytes.
func TestWhatIsNoVaultIsRefusedUntouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := open(t, filepath.Join(dir, "whole.db"))
	createNotes(t, whole, strings.Repeat("text ", 10_000))
	if err := whole.Backup(t.Context(), filepath.Join(dir, "backup.db")); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(filepath.Join(dir, "backup.db"))
	if err != nil {
		t.Fatal(err)
	}
	garbled := append([]byte(nil), sound...)
	for i := 100; i < 4096; i++ {
		garbled[i] = 0xff
	}
	for name, path := range map[string]string{
		"another program's":      makeForeignFile(t, "CREATE TABLE theirs (a)", "INSERT INTO theirs VALUES (1)"),
		"another program's, new": makeForeignFile(t, "PRAGMA application_id = 7", "CREATE TABLE theirs (a)"),
		"a newer version":        makeForeignFile(t, "PRAGMA application_id = 1131378544", "PRAGMA user_version = 99", "CREATE TABLE later (a)"),
		"text":                   file("text.db", []byte(strings.Repeat("no database at all\n", 1000))),
		"a short text":           file("short.db", []byte("hello")),
		"half a header":          file("half.db", sound[:50]),
		"cut off in page 1":      file("page.db", sound[:1000]),
		"garbled":                file("garbled.db", garbled),
		"a folder":               t.TempDir(),
	} {
		for _, readOnly := range []bool{false, true} {
			before, _ := os.ReadFile(path)
			var w *workspace.Workspace
			var err error
			if panics(func() { w, err = workspace.Open(t.Context(), path, workspace.Options{ReadOnly: readOnly}) }) {
				t.Errorf("%s, read only %v: it panics", name, readOnly)
				continue
			}
			if err == nil {
				t.Errorf("%s, read only %v: it is opened", name, readOnly)
				_ = w.Close()
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Errorf("%s, read only %v: the file was changed", name, readOnly)
			}
		}
	}
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		path := filepath.Join(t.TempDir(), "vault.db")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				w, err := workspace.Open(t.Context(), path, workspace.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := w.Update(t.Context(), func(tx *workspace.Tx) error { tx.CreateNotebook("N"); return nil }); err != nil {
					t.Error(err)
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w := open(t, path)
		view(t, w, func(tx *workspace.Tx) {
			if n := len(tx.Notebooks()); n != 4 {
				t.Errorf("%d notebooks, want 4", n)
			}
		})
		wantSound(t, w)
	}
}

// TestLogDoesNotGrowWithoutBound writes while there is always an open view, because each view ends only after the next one has
// begun. The write-ahead log must not grow without bound.
func TestLogDoesNotGrowWithoutBound(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	_, doc := createNotes(t, w, "text")
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	readers.Go(func() {
		release := func() {}
		for ctx.Err() == nil {
			begun, end := make(chan struct{}), make(chan struct{})
			begins := sync.OnceFunc(func() { close(begun) })
			readers.Go(func() {
				defer begins() // if the view fails
				err := w.View(t.Context(), func(tx *workspace.Tx) error {
					tx.Document(doc)
					begins()
					<-end
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			<-begun
			release()
			release = func() { close(end) }
		}
		release()
	})
	data, noise := make([]byte, 1<<20), rand.NewChaCha8([32]byte{})
	rounds := 300
	if await.Race {
		rounds = 100 // enough for the log to be truncated beside readers
	}
	var largest int64
	for range rounds {
		_, _ = noise.Read(data)
		update(t, w, func(tx *workspace.Tx) {
			tx.WriteFile("/data/assets/a.bin", data, tx.Document(doc).Changed)
		})
		if f, err := os.Stat(w.Path() + "-wal"); err == nil {
			largest = max(largest, f.Size())
		}
	}
	cancel()
	readers.Wait()
	t.Logf("the log had at most %d MiB", largest>>20)
	if largest > 160<<20 { // on a busy machine an attempt to truncate may fail, and the next comes 64 MiB later
		t.Errorf("the log has grown to %d MiB", largest>>20)
	}
}

func TestBackupRefusesWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, filepath.Join(dir, "vault.db"))
	createNotes(t, w, "text")
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(w.Path(), link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{w.Path(), link, dir, filepath.Join(dir, "none", "b.db")} {
		if err := w.Backup(t.Context(), path); err == nil {
			t.Errorf("%s is taken for a backup", path)
		}
	}
	wantSound(t, w)
	if list, _ := filepath.Glob(filepath.Join(dir, ".collie-*")); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
}

// TestBackupDropsWhatKilledOnesLeft checks that a backup removes the folders of killed backups, and leaves those of backups that
// may be running.
func TestBackupDropsWhatKilledOnesLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, filepath.Join(dir, "vault.db"))
	// Nobody has locked the first two, the third was locked, the last one is.
	oldUnlocked, newUnlocked := filepath.Join(dir, ".collie-backup-1"), filepath.Join(dir, ".collie-backup-2")
	for _, part := range []string{oldUnlocked, newUnlocked} {
		if err := os.Mkdir(part, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	released, held := filepath.Join(dir, ".collie-backup-3"), filepath.Join(dir, ".collie-backup-4")
	for _, part := range []string{released, held} {
		unlock, free, err := atomicfile.TryLock(filepath.Join(part, "lock"))
		if err != nil || !free {
			t.Fatal(err)
		}
		if part == released {
			unlock()
		} else {
			defer unlock()
		}
	}
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(held, long, long); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(oldUnlocked, long, long); err != nil {
		t.Fatal(err)
	}
	if err := w.Backup(t.Context(), filepath.Join(dir, "backup.db")); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{oldUnlocked, released} {
		if _, err := os.Stat(part); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what a killed backup left in %s is there", part)
		}
	}
	for _, part := range []string{newUnlocked, held} {
		if _, err := os.Stat(part); err != nil {
			t.Errorf("what another backup is making in %s is gone", part)
		}
	}
}

// TestTempDirsAtOnce creates folders with one prefix concurrently, also below a folder whose name looks like a
// pattern. Each stays until its own work is done, and folders of killed processes are removed.
func TestTempDirsAtOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"notes", "[notes]"} {
		dir := filepath.Join(t.TempDir(), name)
		released := filepath.Join(dir, "work-0")
		if err := os.MkdirAll(released, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(released, "lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				for range 100 {
					path, done, err := workspace.TempDir(dir, "work-")
					if err != nil {
						t.Error(err)
						return
					}
					if err := os.WriteFile(filepath.Join(path, "vault.db"), nil, 0o600); err != nil {
						t.Error(err)
					}
					done()
				}
			})
		}
		work.Wait()
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d folders are left in %s, such as %s", len(left), name, left[0].Name())
		}
	}
}
