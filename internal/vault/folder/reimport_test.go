package folder_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// put writes a file of a folder, or removes it if text is empty.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	err := os.Remove(at)
	if text != "" {
		if err = os.MkdirAll(filepath.Dir(at), 0o700); err == nil {
			err = os.WriteFile(at, []byte(text), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// states returns the states in a report by path, without those of unchanged files.
func states(r folder.Report) map[string]folder.State {
	found := map[string]folder.State{}
	for _, f := range r.States {
		if f.State != folder.Unchanged {
			found[f.Path] = f.State
		}
	}
	return found
}

func wantStates(t *testing.T, r folder.Report, want map[string]folder.State) {
	t.Helper()
	if diff := cmp.Diff(want, states(r)); diff != "" {
		t.Errorf("states (-want +got):\n%s%v", diff, codes(r))
	}
}

// whole returns all documents, blocks, files and notebooks as the vault's database holds them. An import that changes
// nothing leaves it equal.
func whole(t testing.TB, w *workspace.Workspace) string {
	t.Helper()
	var out strings.Builder
	if err := w.View(t.Context(), func(tx *workspace.Tx) error {
		for _, statement := range []string{
			"SELECT id || ' ' || path || ' ' || hpath || ' ' || rev || ' ' || changed || ' ' || sort FROM document ORDER BY n",
			"SELECT id || ' ' || ial || ' ' || markdown || ' ' || updated FROM node ORDER BY n",
			"SELECT path || ' ' || hash || ' ' || changed FROM file ORDER BY path",
			"SELECT id || conf FROM notebook ORDER BY id",
		} {
			tx.Rows(func(row workspace.Row) bool { out.WriteString(row.Text(0) + "\n"); return true }, statement)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// edit changes the document of the vault that has the given path by titles.
func edit(t testing.TB, w *workspace.Workspace, name string, do func(tx *workspace.Tx, d *tree.Document)) {
	t.Helper()
	id := notes(t, w)[name].Root.ID
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		do(tx, tx.Document(id))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func addText(text string) func(*workspace.Tx, *tree.Document) {
	return func(tx *workspace.Tx, d *tree.Document) {
		d.Root.Insert(0, tx.Identify(markup.Parse(text))...)
	}
}

// sound fails the test if the vault's own check finds anything.
func sound(t *testing.T, w *workspace.Workspace) {
	t.Helper()
	found, err := w.Check(t.Context(), nil)
	if err != nil || len(found) > 0 {
		t.Errorf("check: %v, %v", found, err)
	}
}

var someNotes = files{
	"a.md":          "# Alpha\n\nSee [[b]] and [[b#Part]].\n\n- one\n- two [[c]]\n\n![p](pic.png)\n",
	"b.md":          "# Beta\n\ntext\n\n## Part\n\nmore ^mark\n",
	"deep/c.md":     "---\ntags: [x]\n---\nSee [[a]] and [[b#^mark]].\n\n> [!note] Only a title\n",
	"deep/low/d.md": "1. one\n2. two\n\n```go\nfunc main() {}\n```\n",
	"pic.png":       "PNG",
	"left.png":      "nobody names it",
}

func TestImportAgainChangesNothing(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"notes": someNotes.write(t), "generated": generated(3, await.Fewer(60)).write(t)} {
		w := newVault(t)
		first := imported(t, w, dir, folder.ImportOptions{})
		before := whole(t, w)
		again := imported(t, w, dir, folder.ImportOptions{})
		wantStates(t, again, map[string]folder.State{})
		if again.Documents != 0 || len(again.Problems) != 0 || len(again.States) < first.Documents {
			t.Errorf("%s: %+v", name, again)
		}
		if diff := cmp.Diff(before, whole(t, w)); diff != "" {
			t.Errorf("%s: the second import changed something:\n%s", name, diff)
		}
		now := time.Now().Add(time.Hour) // files with another time of change but the same bytes, and a file that no page names
		for at := range someNotes {
			if name == "notes" {
				if err := os.Chtimes(filepath.Join(dir, at), now, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		put(t, dir, "another.png", "x")
		wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
		if diff := cmp.Diff(before, whole(t, w)); diff != "" {
			t.Errorf("%s: the third import changed something:\n%s", name, diff)
		}
		sound(t, w)
	}
}

// ids returns the ids of the blocks of a document by their text, and that of the document under "".
func ids(d *tree.Document) map[string]string {
	found := map[string]string{"": d.Root.ID}
	d.Root.Walk(func(b *tree.Block) {
		if b.Text != "" {
			found[b.Text] = b.ID
		}
	})
	return found
}

func TestImportAgainUpdates(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	imported(t, w, dir, folder.ImportOptions{})
	before := notes(t, w)
	put(t, dir, "b.md", "# Beta\n\nnew first\n\ntext, changed\n\n## Part\n\nmore ^mark\n")
	put(t, dir, "e.md", "new, see [[b]]\n")
	put(t, dir, "pic.png", "PNG, another")
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Updated, "e.md": folder.Added, "pic.png": folder.Updated})
	after := notes(t, w)
	was, is := ids(before["notes/b"]), ids(after["notes/b"])
	for _, text := range []string{"", "# Beta", "## Part", "more"} {
		if was[text] != is[text] || was[text] == "" {
			t.Errorf("%q had the id %s, now %s", text, was[text], is[text])
		}
	}
	if is["text, changed"] == "" || is["new first"] == "" || is["text"] != "" {
		t.Errorf("%v", is)
	}
	if diff := cmp.Diff(markup.Kramdown(before["notes/a"].Root), markup.Kramdown(after["notes/a"].Root)); diff != "" {
		t.Errorf("a was changed:\n%s", diff)
	}
	if len(after) != len(before)+1 {
		t.Errorf("%d documents, want %d", len(after), len(before)+1)
	}
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	// A page to which a link leads that was imported before.
	put(t, dir, "f.md", "[[g]]\n")
	r := imported(t, w, dir, folder.ImportOptions{})
	wants(t, r, "link-missing f.md")
	put(t, dir, "g.md", "here\n")
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"f.md": folder.Updated, "g.md": folder.Added})
	if text := markdown(t, w)["notes/f"]; !strings.Contains(text, "((") {
		t.Errorf("the link was not resolved: %s", text)
	}
	sound(t, w)
}

func TestImportAgainKeepsWhatWasChangedHere(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	imported(t, w, dir, folder.ImportOptions{})
	edit(t, w, "notes/b", addText("mine"))
	edit(t, w, "notes/a", addText("mine too"))
	edit(t, w, "notes/deep/c", func(_ *workspace.Tx, d *tree.Document) { d.Root.Attrs["title"] = "renamed here" })
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	put(t, dir, "b.md", "theirs\n")
	put(t, dir, "deep/c.md", "changed there\n")
	dry := imported(t, w, dir, folder.ImportOptions{DryRun: true})
	before := whole(t, w)
	r := imported(t, w, dir, folder.ImportOptions{})
	want := map[string]folder.State{"b.md": folder.Conflict, "deep/c.md": folder.Updated}
	wantStates(t, dry, want)
	wantStates(t, r, want)
	wants(t, r, "conflict b.md")
	if before == whole(t, w) {
		t.Error("nothing was written")
	}
	all := markdown(t, w)
	if !strings.Contains(all["notes/b"], "mine") || strings.Contains(all["notes/b"], "theirs") || !strings.Contains(all["notes/deep/renamed here"], "changed there") {
		t.Errorf("%v", all)
	}
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Conflict})
	id := notes(t, w)["notes/b"].Root.ID
	var told []string
	r = imported(t, w, dir, folder.ImportOptions{Theirs: true, BeforeOverwrite: func(id, path string) (func(error), error) {
		told = append(told, id+" "+path)
		return func(err error) { told = append(told, fmt.Sprint(err)) }, nil
	}})
	wantStates(t, r, map[string]folder.State{"b.md": folder.Overwritten})
	if diff := cmp.Diff([]string{id + " b.md", "<nil>"}, told); diff != "" {
		t.Error(diff)
	}
	if got := notes(t, w)["notes/b"]; got.Root.ID != id || markup.Export(got.Root) != "theirs" {
		t.Errorf("%s: %s", got.Root.ID, markup.Export(got.Root))
	}
	if !strings.Contains(markdown(t, w)["notes/a"], "mine too") {
		t.Error("what was changed here alone was overwritten")
	}
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	sound(t, w)
}

func TestImportAgainAfterRemovals(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	imported(t, w, dir, folder.ImportOptions{})
	id := notes(t, w)["notes/b"].Root.ID
	edit(t, w, "notes/b", func(tx *workspace.Tx, d *tree.Document) { tx.RemoveDocument(d) })
	put(t, dir, "deep/low/d.md", "")
	for range 2 {
		wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Removed, "deep/low/d.md": folder.Gone, "deep/low/": folder.Gone})
	}
	put(t, dir, "b.md", "# Beta\n\nanother\n\n## Part\n\nmore ^mark\n")
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Removed, "deep/low/d.md": folder.Gone, "deep/low/": folder.Gone})
	all := markdown(t, w)
	if _, there := all["notes/b"]; there || all["notes/deep/low/d"] == "" {
		t.Errorf("%v", all)
	}
	wantStates(t, imported(t, w, dir, folder.ImportOptions{Theirs: true}), map[string]folder.State{"b.md": folder.Restored, "deep/low/d.md": folder.Gone, "deep/low/": folder.Gone})
	if got := notes(t, w)["notes/b"]; got == nil || got.Root.ID != id {
		t.Errorf("the document came back as %+v", got)
	}
	sound(t, w)
}

func TestImportAgainAfterMoves(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	imported(t, w, dir, folder.ImportOptions{})
	before := notes(t, w)
	for from, to := range map[string]string{"deep": "deeper", "b.md": "beta.md"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	r := imported(t, w, dir, folder.ImportOptions{})
	for _, f := range r.States {
		if f.State == folder.Added || f.State == folder.Gone {
			t.Errorf("%+v", f)
		}
	}
	after := notes(t, w)
	for was, is := range map[string]string{"notes/b": "notes/beta", "notes/deep": "notes/deeper", "notes/deep/c": "notes/deeper/c", "notes/deep/low/d": "notes/deeper/low/d"} {
		if after[is] == nil || after[is].Root.ID != before[was].Root.ID {
			t.Errorf("%s is not %s", is, was)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d documents, want %d", len(after), len(before))
	}
	wantStates(t, imported(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	sound(t, w)
}

// TestImportGoesOn cancels imports after different numbers of files. Another import then completes each of them, and
// the result is that of one without interruption.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	dir := generated(5, 70).write(t)
	complete := newVault(t)
	imported(t, complete, dir, folder.ImportOptions{})
	want := len(notes(t, complete))
	for stop := 1; stop < await.Fewer(70); stop += 23 {
		w := newVault(t)
		ctx, cancel := contextWith(t)
		_, err := folder.Import(ctx, w, dir, folder.ImportOptions{Progress: func(done, _ int, _ string) {
			if done >= stop {
				cancel()
			}
		}})
		if err == nil {
			t.Error("it was not interrupted")
		}
		imported(t, w, dir, folder.ImportOptions{})
		if got := len(notes(t, w)); got != want {
			t.Errorf("stopped after %d: %d documents, want %d", stop, got, want)
		}
		if diff := cmp.Diff(stripped(markdown(t, complete)), stripped(markdown(t, w))); diff != "" {
			t.Errorf("stopped after %d:\n%s", stop, diff)
		}
		sound(t, w)
	}
}

func TestImportOfAnExportIntoItsVault(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	imported(t, w, dir, folder.ImportOptions{})
	out, _ := exported(t, w, folder.ExportOptions{})
	before := whole(t, w)
	wantStates(t, imported(t, w, out, folder.ImportOptions{}), map[string]folder.State{})
	if diff := cmp.Diff(before, whole(t, w)); diff != "" {
		t.Errorf("an export that was imported changed something:\n%s", diff)
	}
	other, _ := exported(t, w, folder.ExportOptions{})
	edit(t, w, "notes/a", addText("mine"))
	edit(t, w, "notes/b", addText("mine"))
	put(t, other, "notes/b.md", strings.Replace(read(t, other)["notes/b.md"], "text", "theirs", 1))
	put(t, other, "notes/deep/c.md", strings.Replace(read(t, other)["notes/deep/c.md"], "See", "Look at", 1))
	r := imported(t, w, other, folder.ImportOptions{})
	wantStates(t, r, map[string]folder.State{"notes/b.md": folder.Conflict, "notes/deep/c.md": folder.Updated})
	if all := markdown(t, w); !strings.Contains(all["notes/a"], "mine") || !strings.Contains(all["notes/deep/c"], "Look at") || len(all) != 6 {
		t.Errorf("%v", all)
	}
	sound(t, w)
}

// TestPlacesOfFolders checks that the vault remembers the place of each folder that it imported, so that it recognises a
// folder that was moved and tells it from a copy.
func TestPlacesOfFolders(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	imported(t, w, dir, folder.ImportOptions{})
	n := len(notes(t, w))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err == nil {
		wantStates(t, imported(t, w, link, folder.ImportOptions{Notebook: "notes"}), map[string]folder.State{})
	}
	copied := someNotes.write(t)
	if _, err := folder.Import(t.Context(), w, copied, folder.ImportOptions{}); !errors.Is(err, folder.ErrCopy) {
		t.Errorf("a copy of the folder: %v", err)
	}
	if _, err := folder.Import(t.Context(), w, dir, folder.ImportOptions{Notebook: "Other"}); !errors.Is(err, folder.ErrNotebook) {
		t.Errorf("another notebook: %v", err)
	}
	if _, err := folder.Import(t.Context(), w, copied, folder.ImportOptions{MovedFrom: filepath.Dir(dir)}); !errors.Is(err, folder.ErrNoOrigin) {
		t.Errorf("moved from nowhere: %v", err)
	}
	was, err := folder.PlaceOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantStates(t, imported(t, w, copied, folder.ImportOptions{MovedFrom: was}), map[string]folder.State{})
	if err := os.RemoveAll(copied); err != nil {
		t.Fatal(err)
	}
	r := imported(t, w, dir, folder.ImportOptions{}) // the folder is at its old place again, and the copy is gone
	wantStates(t, r, map[string]folder.State{})
	if r.From == "" || len(notes(t, w)) != n {
		t.Errorf("from %q, %d documents, want %d", r.From, len(notes(t, w)), n)
	}
	imported(t, w, dir, folder.ImportOptions{Copy: true, Notebook: "Twice"})
	if got := len(notes(t, w)); got != 2*n {
		t.Errorf("%d documents after a copy, want %d", got, 2*n)
	}
	wantStates(t, imported(t, w, dir, folder.ImportOptions{Notebook: "Twice"}), map[string]folder.State{})
	other := files{"a.md": "another\n", "z.md": "z\n"}.write(t) // another folder whose notebook has the same name
	r = imported(t, w, other, folder.ImportOptions{})
	wants(t, r, "path-taken a.md")
	sound(t, w)
}

// TestVaultWithoutOrigins imports into a vault of an earlier version, which does not know where its documents came from.
func TestVaultWithoutOrigins(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	imported(t, w, dir, folder.ImportOptions{})
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		for _, statement := range []string{"DELETE FROM imported", "DELETE FROM origin"} {
			tx.Rows(func(workspace.Row) bool { return true }, statement)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	n := len(notes(t, w))
	edit(t, w, "notes/b", addText("mine"))
	r := imported(t, w, dir, folder.ImportOptions{})
	if got := states(r); got["b.md"] != folder.Conflict {
		t.Errorf("%v", got)
	}
	if got := len(notes(t, w)); got != n {
		t.Errorf("%d documents, want %d: %v", got, n, states(r))
	}
	sound(t, w)
}

// contextWith returns a context that the test can cancel.
func contextWith(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// stripped returns texts without their ids.
func stripped(all map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range all {
		out[name] = anyID.ReplaceAllString(text, "ID")
	}
	return out
}
