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

// putFile writes a file of a folder.
func putFile(t testing.TB, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// removeFile removes a file of a folder.
func removeFile(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

// changedStates returns the states in a report by path, without those of unchanged files.
func changedStates(r folder.Report) map[string]folder.State {
	found := map[string]folder.State{}
	for _, f := range r.States {
		if f.State != folder.Unchanged {
			found[f.Path] = f.State
		}
	}
	return found
}

// wantStates fails the test unless the files that are not unchanged have these states.
func wantStates(t *testing.T, r folder.Report, want map[string]folder.State) {
	t.Helper()
	if diff := cmp.Diff(want, changedStates(r)); diff != "" {
		t.Errorf("states (-want +got):\n%s%v", diff, problemLines(r))
	}
}

// dumpVault returns all documents, blocks, files and notebooks as the vault's database holds them. An import that changes
// nothing leaves it equal.
func dumpVault(t testing.TB, w *workspace.Workspace) string {
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

// editDocument changes the document of the vault that has the given path by titles.
func editDocument(t testing.TB, w *workspace.Workspace, name string, do func(tx *workspace.Tx, d *tree.Document)) {
	t.Helper()
	id := documentsByPath(t, w)[name].Root.ID
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		do(tx, tx.Document(id))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// addText returns a change that appends a paragraph to a document.
func addText(text string) func(*workspace.Tx, *tree.Document) {
	return func(tx *workspace.Tx, d *tree.Document) {
		d.Root.Insert(0, tx.Identify(markup.Parse(text))...)
	}
}

// wantSound fails the test if the vault's own check finds anything.
func wantSound(t *testing.T, w *workspace.Workspace) {
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
	for name, dir := range map[string]string{"notes": someNotes.write(t), "generated": generateFolder(3, await.Fewer(60)).write(t)} {
		w := newVault(t)
		first := importFolder(t, w, dir, folder.ImportOptions{})
		before := dumpVault(t, w)
		again := importFolder(t, w, dir, folder.ImportOptions{})
		wantStates(t, again, map[string]folder.State{})
		if again.Documents != 0 || len(again.Problems) != 0 || len(again.States) < first.Documents {
			t.Errorf("%s: %+v", name, again)
		}
		if diff := cmp.Diff(before, dumpVault(t, w)); diff != "" {
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
		putFile(t, dir, "another.png", "x")
		wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
		if diff := cmp.Diff(before, dumpVault(t, w)); diff != "" {
			t.Errorf("%s: the third import changed something:\n%s", name, diff)
		}
		wantSound(t, w)
	}
}

// idsByText returns the ids of the blocks of a document by their text, and that of the document under "".
func idsByText(d *tree.Document) map[string]string {
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
	importFolder(t, w, dir, folder.ImportOptions{})
	before := documentsByPath(t, w)
	putFile(t, dir, "b.md", "# Beta\n\nnew first\n\ntext, changed\n\n## Part\n\nmore ^mark\n")
	putFile(t, dir, "e.md", "new, see [[b]]\n")
	putFile(t, dir, "pic.png", "PNG, another")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Updated, "e.md": folder.Added, "pic.png": folder.Updated})
	after := documentsByPath(t, w)
	was, is := idsByText(before["notes/b"]), idsByText(after["notes/b"])
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
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	// A page to which a link leads that was imported before.
	putFile(t, dir, "f.md", "[[g]]\n")
	r := importFolder(t, w, dir, folder.ImportOptions{})
	wantProblems(t, r, "link-missing f.md")
	putFile(t, dir, "g.md", "here\n")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"f.md": folder.Updated, "g.md": folder.Added})
	if text := markdownByPath(t, w)["notes/f"]; !strings.Contains(text, "((") {
		t.Errorf("the link was not resolved: %s", text)
	}
	wantSound(t, w)
}

func TestImportAgainKeepsWhatWasChangedHere(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	editDocument(t, w, "notes/b", addText("mine"))
	editDocument(t, w, "notes/a", addText("mine too"))
	editDocument(t, w, "notes/deep/c", func(_ *workspace.Tx, d *tree.Document) { d.Root.Attrs["title"] = "renamed here" })
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	putFile(t, dir, "b.md", "theirs\n")
	putFile(t, dir, "deep/c.md", "changed there\n")
	dry := importFolder(t, w, dir, folder.ImportOptions{DryRun: true})
	before := dumpVault(t, w)
	r := importFolder(t, w, dir, folder.ImportOptions{})
	want := map[string]folder.State{"b.md": folder.Conflict, "deep/c.md": folder.Updated}
	wantStates(t, dry, want)
	wantStates(t, r, want)
	wantProblems(t, r, "conflict b.md")
	if before == dumpVault(t, w) {
		t.Error("nothing was written")
	}
	all := markdownByPath(t, w)
	if !strings.Contains(all["notes/b"], "mine") || strings.Contains(all["notes/b"], "theirs") || !strings.Contains(all["notes/deep/renamed here"], "changed there") {
		t.Errorf("%v", all)
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Conflict})
	id := documentsByPath(t, w)["notes/b"].Root.ID
	var told []string
	r = importFolder(t, w, dir, folder.ImportOptions{Theirs: true, BeforeOverwrite: func(id, path string) (func(error), error) {
		told = append(told, id+" "+path)
		return func(err error) { told = append(told, fmt.Sprint(err)) }, nil
	}})
	wantStates(t, r, map[string]folder.State{"b.md": folder.Overwritten})
	if diff := cmp.Diff([]string{id + " b.md", "<nil>"}, told); diff != "" {
		t.Error(diff)
	}
	if got := documentsByPath(t, w)["notes/b"]; got.Root.ID != id || markup.Export(got.Root) != "theirs" {
		t.Errorf("%s: %s", got.Root.ID, markup.Export(got.Root))
	}
	if !strings.Contains(markdownByPath(t, w)["notes/a"], "mine too") {
		t.Error("what was changed here alone was overwritten")
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	wantSound(t, w)
}

func TestImportAgainAfterRemovals(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	id := documentsByPath(t, w)["notes/b"].Root.ID
	editDocument(t, w, "notes/b", func(tx *workspace.Tx, d *tree.Document) { tx.RemoveDocument(d) })
	removeFile(t, dir, "deep/low/d.md")
	for range 2 {
		wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Removed, "deep/low/d.md": folder.Gone, "deep/low/": folder.Gone})
	}
	putFile(t, dir, "b.md", "# Beta\n\nanother\n\n## Part\n\nmore ^mark\n")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Removed, "deep/low/d.md": folder.Gone, "deep/low/": folder.Gone})
	all := markdownByPath(t, w)
	if _, there := all["notes/b"]; there || all["notes/deep/low/d"] == "" {
		t.Errorf("%v", all)
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{Theirs: true}), map[string]folder.State{"b.md": folder.Restored, "deep/low/d.md": folder.Gone, "deep/low/": folder.Gone})
	if got := documentsByPath(t, w)["notes/b"]; got == nil || got.Root.ID != id {
		t.Errorf("the document came back as %+v", got)
	}
	wantSound(t, w)
}

func TestImportAgainAfterMoves(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	before := documentsByPath(t, w)
	for from, to := range map[string]string{"deep": "deeper", "b.md": "beta.md"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	r := importFolder(t, w, dir, folder.ImportOptions{})
	for _, f := range r.States {
		if f.State == folder.Added || f.State == folder.Gone {
			t.Errorf("%+v", f)
		}
	}
	after := documentsByPath(t, w)
	for was, is := range map[string]string{"notes/b": "notes/beta", "notes/deep": "notes/deeper", "notes/deep/c": "notes/deeper/c", "notes/deep/low/d": "notes/deeper/low/d"} {
		if after[is] == nil || after[is].Root.ID != before[was].Root.ID {
			t.Errorf("%s is not %s", is, was)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d documents, want %d", len(after), len(before))
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	wantSound(t, w)
}

// TestImportGoesOn cancels imports after different numbers of files. Another import then completes each of them, and
// the result is that of one without interruption.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	dir := generateFolder(5, 70).write(t)
	complete := newVault(t)
	importFolder(t, complete, dir, folder.ImportOptions{})
	want := len(documentsByPath(t, complete))
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
		importFolder(t, w, dir, folder.ImportOptions{})
		if got := len(documentsByPath(t, w)); got != want {
			t.Errorf("stopped after %d: %d documents, want %d", stop, got, want)
		}
		if diff := cmp.Diff(withoutIDs(markdownByPath(t, complete)), withoutIDs(markdownByPath(t, w))); diff != "" {
			t.Errorf("stopped after %d:\n%s", stop, diff)
		}
		wantSound(t, w)
	}
}

func TestImportOfAnExportIntoItsVault(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	out, _ := exportNew(t, w, folder.ExportOptions{})
	before := dumpVault(t, w)
	wantStates(t, importFolder(t, w, out, folder.ImportOptions{}), map[string]folder.State{})
	if diff := cmp.Diff(before, dumpVault(t, w)); diff != "" {
		t.Errorf("an export that was imported changed something:\n%s", diff)
	}
	other, _ := exportNew(t, w, folder.ExportOptions{})
	editDocument(t, w, "notes/a", addText("mine"))
	editDocument(t, w, "notes/b", addText("mine"))
	putFile(t, other, "notes/b.md", strings.Replace(readFiles(t, other)["notes/b.md"], "text", "theirs", 1))
	putFile(t, other, "notes/deep/c.md", strings.Replace(readFiles(t, other)["notes/deep/c.md"], "See", "Look at", 1))
	r := importFolder(t, w, other, folder.ImportOptions{})
	wantStates(t, r, map[string]folder.State{"notes/b.md": folder.Conflict, "notes/deep/c.md": folder.Updated})
	if all := markdownByPath(t, w); !strings.Contains(all["notes/a"], "mine") || !strings.Contains(all["notes/deep/c"], "Look at") || len(all) != 6 {
		t.Errorf("%v", all)
	}
	wantSound(t, w)
}

// TestPlacesOfFolders checks that the vault remembers the place of each folder that it imported, so that it recognises a
// folder that was moved and tells it from a copy.
func TestPlacesOfFolders(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	n := len(documentsByPath(t, w))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err == nil {
		wantStates(t, importFolder(t, w, link, folder.ImportOptions{Notebook: "notes"}), map[string]folder.State{})
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
	wantStates(t, importFolder(t, w, copied, folder.ImportOptions{MovedFrom: was}), map[string]folder.State{})
	if err := os.RemoveAll(copied); err != nil {
		t.Fatal(err)
	}
	r := importFolder(t, w, dir, folder.ImportOptions{}) // the folder is at its old place again, and the copy is gone
	wantStates(t, r, map[string]folder.State{})
	if r.From == "" || len(documentsByPath(t, w)) != n {
		t.Errorf("from %q, %d documents, want %d", r.From, len(documentsByPath(t, w)), n)
	}
	importFolder(t, w, dir, folder.ImportOptions{Copy: true, Notebook: "Twice"})
	if got := len(documentsByPath(t, w)); got != 2*n {
		t.Errorf("%d documents after a copy, want %d", got, 2*n)
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{Notebook: "Twice"}), map[string]folder.State{})
	other := files{"a.md": "another\n", "z.md": "z\n"}.write(t) // another folder whose notebook has the same name
	r = importFolder(t, w, other, folder.ImportOptions{})
	wantProblems(t, r, "path-taken a.md")
	wantSound(t, w)
}

// TestVaultWithoutOrigins imports into a vault of an earlier version, which does not know where its documents came from.
func TestVaultWithoutOrigins(t *testing.T) {
	t.Parallel()
	dir := someNotes.write(t)
	w := newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		for _, statement := range []string{"DELETE FROM imported", "DELETE FROM origin"} {
			tx.Rows(func(workspace.Row) bool { return true }, statement)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	n := len(documentsByPath(t, w))
	editDocument(t, w, "notes/b", addText("mine"))
	r := importFolder(t, w, dir, folder.ImportOptions{})
	if got := changedStates(r); got["b.md"] != folder.Conflict {
		t.Errorf("%v", got)
	}
	if got := len(documentsByPath(t, w)); got != n {
		t.Errorf("%d documents, want %d: %v", got, n, changedStates(r))
	}
	wantSound(t, w)
}

// contextWith returns a context that the test can cancel.
func contextWith(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// withoutIDs returns texts without their ids.
func withoutIDs(all map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range all {
		out[name] = anyID.ReplaceAllString(text, "ID")
	}
	return out
}

// A file that can no longer be read says nothing about its document: the import leaves it as it is, also with others below it.
func TestImportAgainUnreadable(t *testing.T) {
	t.Parallel()
	dir, w := files{"A.md": "one\n", "A/below.md": "two\n", "C.md": "three\n"}.write(t), newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	before := documentsByPath(t, w)["notes/A"]
	putFile(t, dir, "A.md", "one\x00\n")
	r := importFolder(t, w, dir, folder.ImportOptions{Theirs: true})
	wantStates(t, r, map[string]folder.State{"A.md": folder.LeftOut})
	wantProblems(t, r, "binary A.md")
	after := documentsByPath(t, w)["notes/A"]
	if after == nil {
		t.Fatalf("the document is gone: %v", markdownByPath(t, w))
	}
	if diff := cmp.Diff(markup.Kramdown(before.Root), markup.Kramdown(after.Root)); diff != "" {
		t.Errorf("the document was changed:\n%s", diff)
	}
	putFile(t, dir, "A.md", "one, mended\n")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"A.md": folder.Updated})
	wantSound(t, w)
	// At the first import the pages below it need a document, which has the name of the file.
	other := newVault(t)
	importFolder(t, other, files{"A.md": "one\x00\n", "A/below.md": "two\n"}.write(t), folder.ImportOptions{})
	if diff := cmp.Diff(map[string]string{"notes/A": "", "notes/A/below": "two"}, markdownByPath(t, other)); diff != "" {
		t.Error(diff)
	}
}

// A file is read twice. One that went away in between leaves its document as it is, and is read when it is back.
func TestImportAgainFileGoesAway(t *testing.T) {
	t.Parallel()
	dir, w := files{"a.md": "one\n", "b.md": "two\n"}.write(t), newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	putFile(t, dir, "b.md", "two, changed\n")
	removeAtFirst := func(dir, name string) folder.ImportOptions {
		return folder.ImportOptions{Progress: func(done, _ int, _ string) {
			if done == 1 {
				removeFile(t, dir, name)
			}
		}}
	}
	r := importFolder(t, w, dir, removeAtFirst(dir, "b.md"))
	wantStates(t, r, map[string]folder.State{"b.md": folder.LeftOut})
	wantProblems(t, r, "unreadable b.md")
	if diff := cmp.Diff(map[string]string{"notes/a": "one", "notes/b": "two"}, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
	putFile(t, dir, "b.md", "two, changed\n")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Updated})
	wantSound(t, w)

	many := files{"zz.md": "last\n"} // more than a transaction takes, so that progress is told before the last is read
	for i := range 100 {
		many[fmt.Sprintf("p%02d.md", i)] = "text\n"
	}
	dir, w = many.write(t), newVault(t)
	wantProblems(t, importFolder(t, w, dir, removeAtFirst(dir, "zz.md")), "unreadable zz.md")
	if text, exists := markdownByPath(t, w)["notes/zz"]; exists {
		t.Errorf("a file that was never read became a document: %q", text)
	}
	putFile(t, dir, "zz.md", "last\n")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"zz.md": folder.Added})
}

// shownAsset returns the bytes of the only attachment that a document shows, "" without one.
func shownAsset(t testing.TB, w *workspace.Workspace, name string) (data string) {
	t.Helper()
	_, rest, found := strings.Cut(markdownByPath(t, w)[name], "](assets/")
	address, _, _ := strings.Cut(rest, ")")
	if !found {
		t.Fatalf("%s shows no attachment", name)
	}
	if err := w.View(t.Context(), func(tx *workspace.Tx) error {
		if tx.Stat("/data/assets/"+address) != nil {
			data = string(tx.ReadFile("/data/assets/" + address))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return data
}

// removeAsset removes the only attachment that a document shows.
func removeAsset(t testing.TB, w *workspace.Workspace, name string) {
	t.Helper()
	_, rest, _ := strings.Cut(markdownByPath(t, w)[name], "](assets/")
	address, _, _ := strings.Cut(rest, ")")
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error { tx.RemoveFile("/data/assets/" + address); return nil }); err != nil {
		t.Fatal(err)
	}
}

// An attachment that changed comes in also if no page has changed, and so does one that was removed here, if files have precedence.
func TestImportAgainAttachmentsAlone(t *testing.T) {
	t.Parallel()
	dir, w := someNotes.write(t), newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	putFile(t, dir, "pic.png", "PNG, another")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"pic.png": folder.Updated})
	if got := shownAsset(t, w, "notes/a"); got != "PNG, another" {
		t.Errorf("the picture is %q", got)
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	removeAsset(t, w, "notes/a")
	putFile(t, dir, "b.md", "# Beta\n\nchanged\n\n## Part\n\nmore ^mark\n")
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"b.md": folder.Updated, "pic.png": folder.Removed})
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{Theirs: true}), map[string]folder.State{"pic.png": folder.Restored})
	if got := shownAsset(t, w, "notes/a"); got != "PNG, another" {
		t.Errorf("the picture came back as %q", got)
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{Theirs: true}), map[string]folder.State{})
	wantSound(t, w)
}

// Two files with the same bytes are one attachment here. Once one of them changes, the page that shows it shows the new one.
func TestOneOfTwoEqualAttachmentsChanges(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(w *workspace.Workspace, dir string){
		"import": func(w *workspace.Workspace, dir string) { importFolder(t, w, dir, folder.ImportOptions{}) },
		"sync":   func(w *workspace.Workspace, dir string) { syncFolder(t, w, dir, folder.SyncOptions{}) },
	} {
		dir, w := files{"a.md": "![x](a/pic.png)\n", "b.md": "![x](b/pic.png)\n", "a/pic.png": "PNG", "b/pic.png": "PNG"}.write(t), newVault(t)
		again(w, dir)
		putFile(t, dir, "a/pic.png", "PNG, another")
		again(w, dir)
		if a, b := shownAsset(t, w, "notes/a"), shownAsset(t, w, "notes/b"); a != "PNG, another" || b != "PNG" {
			t.Errorf("%s: the pages show %q and %q", name, a, b)
		}
		if text := readFiles(t, dir)["a.md"]; text != "![x](a/pic.png)\n" {
			t.Errorf("%s: a.md is %q", name, text)
		}
		wantSound(t, w)
	}
}

// setClosed closes or opens the notebooks of a vault.
func setClosed(t testing.TB, w *workspace.Workspace, closed bool) {
	t.Helper()
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		for _, box := range tx.Notebooks() {
			box.Conf.Closed = closed
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// What an import left out because the notebook was closed comes in once the notebook is open.
func TestImportAgainAfterClosed(t *testing.T) {
	t.Parallel()
	dir, w := files{"a.md": "one\n", "b.md": "two\n"}.write(t), newVault(t)
	importFolder(t, w, dir, folder.ImportOptions{})
	setClosed(t, w, true)
	putFile(t, dir, "a.md", "one, changed\n")
	putFile(t, dir, "new/below.md", "three\n")
	for range 2 {
		r := importFolder(t, w, dir, folder.ImportOptions{})
		wantStates(t, r, map[string]folder.State{"a.md": folder.Closed, "b.md": folder.Closed, "new/": folder.Closed, "new/below.md": folder.Closed})
		wantProblems(t, r, "notebook-closed a.md", "notebook-closed new/below.md")
	}
	setClosed(t, w, false)
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{"a.md": folder.Updated, "new/": folder.Added, "new/below.md": folder.Added})
	if diff := cmp.Diff(map[string]string{"notes/a": "one, changed", "notes/b": "two", "notes/new": "", "notes/new/below": "three"}, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
	wantStates(t, importFolder(t, w, dir, folder.ImportOptions{}), map[string]folder.State{})
	wantSound(t, w)
	// An archive whose notebook the vault has from elsewhere, closed.
	other, later := newVault(t), gardenArchive()
	importArchive(t, other, writeArchive(t, later[:5]...), folder.ImportOptions{})
	setClosed(t, other, true)
	at := writeArchive(t, later...)
	wantProblems(t, importArchive(t, other, at, folder.ImportOptions{}), "notebook-closed Garden")
	setClosed(t, other, false)
	importArchive(t, other, at, folder.ImportOptions{})
	if documentsByPath(t, other)["Garden/Trees/苹果"] == nil {
		t.Errorf("the archive did not come in: %v", markdownByPath(t, other))
	}
	wantSound(t, other)
}
