package folder_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	vaultedit "collie/internal/vault/edit"
	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// synced makes a folder and a notebook equal.
func synced(t testing.TB, w *workspace.Workspace, dir string, o folder.SyncOptions) folder.SyncReport {
	t.Helper()
	r, err := folder.Sync(t.Context(), w, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stamps returns the times of change and the texts of all files of a folder.
func stamps(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, text := range read(t, dir) {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = info.ModTime().Format(time.RFC3339Nano) + " " + text
	}
	return found
}

// idle syncs up to two more times, until a sync finds nothing to do. It fails if these syncs changed files or notes, or if none
// was idle.
func idle(t testing.TB, w *workspace.Workspace, dir string) {
	t.Helper()
	before, texts := whole(t, w), stamps(t, dir)
	for range 2 {
		if r := synced(t, w, dir, folder.SyncOptions{}); r.Idle {
			if diff := cmp.Diff(texts, stamps(t, dir)); diff != "" {
				t.Errorf("an idle sync changes files:\n%s", diff)
			}
			if diff := cmp.Diff(before, whole(t, w)); diff != "" {
				t.Errorf("an idle sync changes notes:\n%s", diff)
			}
			return
		}
	}
	t.Errorf("the third sync is not idle: %v", states(synced(t, w, dir, folder.SyncOptions{}).Report))
}

// setText replaces the text of the first block of a document that contains a word.
func setText(t testing.TB, w *workspace.Workspace, name, word, text string) {
	t.Helper()
	edit(t, w, name, func(tx *workspace.Tx, d *tree.Document) {
		found := false
		d.Root.Walk(func(b *tree.Block) {
			if !b.Container() && strings.Contains(b.Text, word) && !found {
				b.Text, found = text, true
			}
		})
		if !found {
			t.Errorf("%s has no block with %q: %s", name, word, markup.Export(d.Root))
		}
	})
}

func TestSyncBothWays(t *testing.T) {
	t.Parallel()
	start := files{
		"Start.md":         "---\ntags: [a,  b]   # mine\n---\n# Hello\nSome *text* with [[Other]] and #tag.\n\n* one\n* two\n\n\n+ plus\n",
		"Other.md":         "Other   page\r\n\r\nSecond\r\n",
		"Deep/Inner.md":    "See [[Start#Hello|there]] and ![p](../img/p.png)\n",
		"img/p.png":        "PNG",
		".obsidian/a.json": "{}",
		"loose.pdf":        "PDF",
	}
	dir := start.write(t)
	w := newVault(t)
	synced(t, w, dir, folder.SyncOptions{})
	if diff := cmp.Diff(map[string]string(start), map[string]string(read(t, dir))); diff != "" {
		t.Fatalf("the first sync changes files:\n%s", diff)
	}
	idle(t, w, dir)

	setText(t, w, "notes/Start", "Some", "Some *new* text with ((20240101000000-aaaaaaa \"x\"))")
	setText(t, w, "notes/Other", "Second", "第二")
	r := synced(t, w, dir, folder.SyncOptions{})
	got := read(t, dir)
	if want := strings.Replace(start["Start.md"], "Some *text* with [[Other]] and #tag.", "Some *new* text with ((20240101000000-aaaaaaa \"x\"))", 1); got["Start.md"] != want {
		t.Errorf("Start.md is\n%q\nwant\n%q\n%v", got["Start.md"], want, r.Problems)
	}
	if want := "Other   page\r\n\r\n第二\r\n"; got["Other.md"] != want {
		t.Errorf("Other.md is %q, want %q", got["Other.md"], want)
	}
	idle(t, w, dir)

	// The folder changes.
	put(t, dir, "Other.md", "Other page, again\n")
	put(t, dir, "New.md", "New [[Other]]\n")
	synced(t, w, dir, folder.SyncOptions{})
	if text := markdown(t, w)["notes/Other"]; text != "Other page, again" {
		t.Errorf("Other is %q", text)
	}
	if text := markdown(t, w)["notes/New"]; !strings.Contains(text, "'Other'") {
		t.Errorf("New is %q", text)
	}
	idle(t, w, dir)
}

// Lists with different markers stand side by side. Replacing one of them in the notebook leaves the lines of the others in the file.
func TestSyncKeepsListsBesideAChangedOne(t *testing.T) {
	t.Parallel()
	lists := []string{"1) one\n2) two", "* item\n* other\n   * inner", "3. three\n4.  four", "+   plus\n+   more", "- minus\n   - inner"}
	for i, changed := range []string{"one", "item", "three", "plus", "minus"} {
		for _, with := range []string{"<!-- word -->", "word", "## word", "> word"} {
			w, dir := newVault(t), files{"Lists.md": "begin\n\n" + strings.Join(lists, "\n\n") + "\n\nend\n"}.write(t)
			synced(t, w, dir, folder.SyncOptions{})
			edit(t, w, "notes/Lists", func(tx *workspace.Tx, d *tree.Document) {
				at := slices.IndexFunc(d.Root.Children, func(b *tree.Block) bool { return strings.Contains(markup.Markdown(b), changed) })
				old := d.Root.Children[at]
				vaultedit.Put(tx, d.Root, at, tx.Identify(markup.Parse(with)))
				vaultedit.Detach(tx, old)
			})
			synced(t, w, dir, folder.SyncOptions{})
			want := slices.Clone(lists)
			want[i] = with
			if diff := cmp.Diff("begin\n\n"+strings.Join(want, "\n\n")+"\n\nend\n", read(t, dir)["Lists.md"]); diff != "" {
				t.Errorf("%q in the place of the list with %q:\n%s", with, changed, diff)
			}
		}
	}
}

func TestSyncNewAndRenamed(t *testing.T) {
	t.Parallel()
	dir := files{"A.md": "to [[B]]\n\nand [[B#Part]]\n", "B.md": "# Part\n\nbody\n", "B/C.md": "c ![x](x.png)\n", "B/x.png": "X"}.write(t)
	w := newVault(t)
	synced(t, w, dir, folder.SyncOptions{})
	idle(t, w, dir)
	edit(t, w, "notes/B", func(_ *workspace.Tx, d *tree.Document) { d.Root.Attrs["title"] = "乙: part" })
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		box := tx.Notebooks()[0]
		b := tx.DocumentsByHPath(box.ID, "/乙: part")[0]
		tx.AddDocument(box, b, "Fresh", "", tx.Identify(markup.Parse("hi (("+b.ID()+" '乙: part')) #x#\n\n- [ ] do\n")))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r := synced(t, w, dir, folder.SyncOptions{})
	want := map[string]string{}
	maps.Copy(want, read(t, dir))
	t.Log(want, states(r.Report), r.Problems)
	idle(t, w, dir)
	if diff := cmp.Diff(want, map[string]string(read(t, dir))); diff != "" {
		t.Error(diff)
	}
}

func TestSyncConflictAndDeletion(t *testing.T) {
	t.Parallel()
	dir := files{"A.md": "one\n", "B.md": "two\n", "C.md": "three\n", "D.md": "four\n"}.write(t)
	w := newVault(t)
	synced(t, w, dir, folder.SyncOptions{})
	put(t, dir, "A.md", "one, in the file\n")
	setText(t, w, "notes/A", "one", "one, in the notebook")
	put(t, dir, "B.md", "")
	edit(t, w, "notes/C", func(tx *workspace.Tx, d *tree.Document) { tx.RemoveDocument(d) })
	put(t, dir, "D.md", "")
	setText(t, w, "notes/D", "four", "four, changed")
	r := synced(t, w, dir, folder.SyncOptions{})
	if diff := cmp.Diff(map[string]string{
		"A.md": "one, in the file\n", "A (conflict).md": "one, in the notebook\n", "D.md": "four, changed\n",
	}, map[string]string(read(t, dir))); diff != "" {
		t.Errorf("%s\n%v", diff, states(r.Report))
	}
	if diff := cmp.Diff(map[string]string{
		"notes/A": "one, in the file", "notes/A (conflict)": "one, in the notebook", "notes/D": "four, changed",
	}, markdown(t, w)); diff != "" {
		t.Error(diff)
	}
	idle(t, w, dir)
}

func TestSyncHoldsManyDeletions(t *testing.T) {
	t.Parallel()
	all := files{}
	for name := range strings.SplitSeq("abcdefghijklmnop", "") {
		all[name+".md"] = name + "\n"
	}
	dir := all.write(t)
	w := newVault(t)
	synced(t, w, dir, folder.SyncOptions{})
	for name := range all {
		put(t, dir, name, "")
	}
	before := markdown(t, w)
	r := synced(t, w, dir, folder.SyncOptions{})
	if len(r.Held.Documents) != 16 || len(read(t, dir)) != 0 {
		t.Errorf("held %v, files %v", r.Held, read(t, dir))
	}
	if diff := cmp.Diff(before, markdown(t, w)); diff != "" {
		t.Error(diff)
	}
	asked := 0
	r = synced(t, w, dir, folder.SyncOptions{Confirm: func(d folder.Deletions) bool { asked = d.Count(); return true }})
	if asked != 16 || r.Held.Count() != 0 || len(markdown(t, w)) != 0 {
		t.Errorf("asked about %d, held %v, left %v", asked, r.Held, markdown(t, w))
	}
}
