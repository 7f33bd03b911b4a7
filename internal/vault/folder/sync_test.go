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

// syncFolder makes a folder and a notebook equal.
func syncFolder(t testing.TB, w *workspace.Workspace, dir string, o folder.SyncOptions) folder.SyncReport {
	t.Helper()
	r, err := folder.Sync(t.Context(), w, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// timesAndTexts returns the times of change and the texts of all files of a folder.
func timesAndTexts(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, text := range readFiles(t, dir) {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = info.ModTime().Format(time.RFC3339Nano) + " " + text
	}
	return found
}

// wantIdleSync syncs up to two more times, until a sync finds nothing to do. It fails if these syncs changed files or notes, or if none
// was idle.
func wantIdleSync(t testing.TB, w *workspace.Workspace, dir string) {
	t.Helper()
	before, texts := dumpVault(t, w), timesAndTexts(t, dir)
	for range 2 {
		if r := syncFolder(t, w, dir, folder.SyncOptions{}); r.Idle {
			if diff := cmp.Diff(texts, timesAndTexts(t, dir)); diff != "" {
				t.Errorf("an idle sync changes files:\n%s", diff)
			}
			if diff := cmp.Diff(before, dumpVault(t, w)); diff != "" {
				t.Errorf("an idle sync changes notes:\n%s", diff)
			}
			return
		}
	}
	t.Errorf("the third sync is not idle: %v", changedStates(syncFolder(t, w, dir, folder.SyncOptions{}).Report))
}

// setText replaces the text of the first block of a document that contains a word.
func setText(t testing.TB, w *workspace.Workspace, name, word, text string) {
	t.Helper()
	editDocument(t, w, name, func(tx *workspace.Tx, d *tree.Document) {
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
	syncFolder(t, w, dir, folder.SyncOptions{})
	if diff := cmp.Diff(map[string]string(start), map[string]string(readFiles(t, dir))); diff != "" {
		t.Fatalf("the first sync changes files:\n%s", diff)
	}
	wantIdleSync(t, w, dir)

	setText(t, w, "notes/Start", "Some", "Some *new* text with ((20240101000000-aaaaaaa \"x\"))")
	setText(t, w, "notes/Other", "Second", "第二")
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	got := readFiles(t, dir)
	if want := strings.Replace(start["Start.md"], "Some *text* with [[Other]] and #tag.", "Some *new* text with ((20240101000000-aaaaaaa \"x\"))", 1); got["Start.md"] != want {
		t.Errorf("Start.md is\n%q\nwant\n%q\n%v", got["Start.md"], want, r.Problems)
	}
	if want := "Other   page\r\n\r\n第二\r\n"; got["Other.md"] != want {
		t.Errorf("Other.md is %q, want %q", got["Other.md"], want)
	}
	wantIdleSync(t, w, dir)

	// The folder changes.
	putFile(t, dir, "Other.md", "Other page, again\n")
	putFile(t, dir, "New.md", "New [[Other]]\n")
	syncFolder(t, w, dir, folder.SyncOptions{})
	if text := markdownByPath(t, w)["notes/Other"]; text != "Other page, again" {
		t.Errorf("Other is %q", text)
	}
	if text := markdownByPath(t, w)["notes/New"]; !strings.Contains(text, "'Other'") {
		t.Errorf("New is %q", text)
	}
	wantIdleSync(t, w, dir)
}

// Lists with different markers stand side by side. Replacing one of them in the notebook leaves the lines of the others in the file.
func TestSyncKeepsListsBesideAChangedOne(t *testing.T) {
	t.Parallel()
	lists := []string{"1) one\n2) two", "* item\n* other\n   * inner", "3. three\n4.  four", "+   plus\n+   more", "- minus\n   - inner"}
	for i, changed := range []string{"one", "item", "three", "plus", "minus"} {
		for _, with := range []string{"<!-- word -->", "word", "## word", "> word"} {
			w, dir := newVault(t), files{"Lists.md": "begin\n\n" + strings.Join(lists, "\n\n") + "\n\nend\n"}.write(t)
			syncFolder(t, w, dir, folder.SyncOptions{})
			editDocument(t, w, "notes/Lists", func(tx *workspace.Tx, d *tree.Document) {
				at := slices.IndexFunc(d.Root.Children, func(b *tree.Block) bool { return strings.Contains(markup.Markdown(b), changed) })
				old := d.Root.Children[at]
				vaultedit.Put(tx, d.Root, at, tx.Identify(markup.Parse(with)))
				vaultedit.Detach(tx, old)
			})
			syncFolder(t, w, dir, folder.SyncOptions{})
			want := slices.Clone(lists)
			want[i] = with
			if diff := cmp.Diff("begin\n\n"+strings.Join(want, "\n\n")+"\n\nend\n", readFiles(t, dir)["Lists.md"]); diff != "" {
				t.Errorf("%q in the place of the list with %q:\n%s", with, changed, diff)
			}
		}
	}
}

// The definitions of links at the end of a file stay there when something else in its note changes.
func TestSyncKeepsDefinitions(t *testing.T) {
	t.Parallel()
	const list = "*   item\n*   other\n\n"
	for name, tt := range map[string]struct{ text, word, to, want string }{
		"another paragraph": {
			list + "see [a][1] and [b][Two]\n\nplain\n\n[1]: https://a.example\n[two]: <https://b.example>  \"t\"\n", "plain", "new",
			list + "see [a][1] and [b][Two]\n\nnew\n\n[1]: https://a.example\n[two]: <https://b.example>  \"t\"\n",
		},
		"far away":         {"plain\n\n" + list + "see [a]\n\n[a]: https://a.example", "plain", "new", "new\n\n" + list + "see [a]\n\n[a]: https://a.example"},
		"no end of line":   {"[a]\r\n\r\nplain\r\n[a]: https://a.example", "plain", "new", "[a]\r\n\r\nnew\r\n[a]: https://a.example"},
		"one is used less": {"x\n\n[a][1]\n\n[b][2]\n\n[1]: https://a.example\n[2]: https://b.example\n", "b.example", "none", "x\n\n[a][1]\n\nnone\n\n[1]: https://a.example\n"},
		"none is used":     {list + "[a][1]\n\n[1]: https://a.example\n", "a.example", "none", list + "none\n"},
	} {
		w, dir := newVault(t), files{"Links.md": tt.text}.write(t)
		syncFolder(t, w, dir, folder.SyncOptions{})
		setText(t, w, "notes/Links", tt.word, tt.to)
		r := syncFolder(t, w, dir, folder.SyncOptions{})
		if diff := cmp.Diff(tt.want, readFiles(t, dir)["Links.md"]); diff != "" {
			t.Errorf("%s: %s\n%v", name, diff, r.Problems)
		}
		wantIdleSync(t, w, dir)
	}
}

// A definition that stands between blocks stays in the file when a block beside it is changed or removed, as long as a link
// uses it.
func TestSyncKeepsDefinitionsBetweenBlocks(t *testing.T) {
	t.Parallel()
	const text = "see [a] and [b][2]\n\nplain\n\n[a]: https://a.example\n[2]: <https://b.example> \"t\"\n\nmore\n\nend"
	for _, after := range []string{"", "\n", "\n\n[unused]: https://c.example\n", "\n\n[see]: https://c.example\n\n"} {
		for _, edit := range [][]string{{"plain"}, {"more"}, {"end"}, {"plain", "more"}, {"more", "end"}, {"plain", "more", "end"}} {
			for _, to := range []string{"", "new"} {
				w, dir := newVault(t), files{"Links.md": text + after}.write(t)
				syncFolder(t, w, dir, folder.SyncOptions{})
				editDocument(t, w, "notes/Links", func(tx *workspace.Tx, d *tree.Document) {
					for _, word := range edit {
						at := slices.IndexFunc(d.Root.Children, func(b *tree.Block) bool { return b.Text == word })
						old := d.Root.Children[at]
						if to != "" {
							vaultedit.Put(tx, d.Root, at, tx.Identify(markup.Parse(to+" "+word)))
						}
						vaultedit.Detach(tx, old)
					}
				})
				r := syncFolder(t, w, dir, folder.SyncOptions{})
				got := readFiles(t, dir)["Links.md"]
				for _, line := range []string{"see [a] and [b][2]\n", "\n[a]: https://a.example\n", "\n[2]: <https://b.example> \"t\"\n"} {
					if !strings.Contains(got+"\n", line) {
						t.Errorf("%q to %q, after the end %q: %q is not in\n%s\n%v", edit, to, after, line, got, r.Problems)
					}
				}
				wantIdleSync(t, w, dir)
				if text := markdownByPath(t, w)["notes/Links"]; !strings.HasPrefix(text, "see [a](https://a.example) and [b](https://b.example \"t\")") {
					t.Errorf("%q to %q: the note is %s", edit, to, text)
				}
			}
		}
	}
}

func TestSyncNewAndRenamed(t *testing.T) {
	t.Parallel()
	dir := files{"A.md": "to [[B]]\n\nand [[B#Part]]\n", "B.md": "# Part\n\nbody\n", "B/C.md": "c ![x](x.png)\n", "B/x.png": "X"}.write(t)
	w := newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	editDocument(t, w, "notes/B", func(_ *workspace.Tx, d *tree.Document) { d.Root.Attrs["title"] = "乙: part" })
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		box := tx.Notebooks()[0]
		b := tx.DocumentsByHPath(box.ID, "/乙: part")[0]
		tx.AddDocument(box, b, "Fresh", "", tx.Identify(markup.Parse("hi (("+b.ID()+" '乙: part')) #x#\n\n- [ ] do\n")))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	want := map[string]string{}
	maps.Copy(want, readFiles(t, dir))
	t.Log(want, changedStates(r.Report), r.Problems)
	wantIdleSync(t, w, dir)
	if diff := cmp.Diff(want, map[string]string(readFiles(t, dir))); diff != "" {
		t.Error(diff)
	}
}

func TestSyncConflictAndDeletion(t *testing.T) {
	t.Parallel()
	dir := files{"A.md": "one\n", "B.md": "two\n", "C.md": "three\n", "D.md": "four\n"}.write(t)
	w := newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	putFile(t, dir, "A.md", "one, in the file\n")
	setText(t, w, "notes/A", "one", "one, in the notebook")
	removeFile(t, dir, "B.md")
	editDocument(t, w, "notes/C", func(tx *workspace.Tx, d *tree.Document) { tx.RemoveDocument(d) })
	removeFile(t, dir, "D.md")
	setText(t, w, "notes/D", "four", "four, changed")
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	if diff := cmp.Diff(map[string]string{
		"A.md": "one, in the file\n", "A (conflict).md": "one, in the notebook\n", "D.md": "four, changed\n",
	}, map[string]string(readFiles(t, dir))); diff != "" {
		t.Errorf("%s\n%v", diff, changedStates(r.Report))
	}
	if diff := cmp.Diff(map[string]string{
		"notes/A": "one, in the file", "notes/A (conflict)": "one, in the notebook", "notes/D": "four, changed",
	}, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
	wantIdleSync(t, w, dir)
}

func TestSyncHoldsManyDeletions(t *testing.T) {
	t.Parallel()
	all := files{}
	for name := range strings.SplitSeq("abcdefghijklmnop", "") {
		all[name+".md"] = name + "\n"
	}
	dir := all.write(t)
	w := newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	for name := range all {
		removeFile(t, dir, name)
	}
	before := markdownByPath(t, w)
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	if len(r.Held.Documents) != 16 || len(readFiles(t, dir)) != 0 {
		t.Errorf("held %v, files %v", r.Held, readFiles(t, dir))
	}
	if diff := cmp.Diff(before, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
	asked := 0
	r = syncFolder(t, w, dir, folder.SyncOptions{Confirm: func(d folder.Deletions) bool { asked = d.Count(); return true }})
	if asked != 16 || r.Held.Count() != 0 || len(markdownByPath(t, w)) != 0 {
		t.Errorf("asked about %d, held %v, left %v", asked, r.Held, markdownByPath(t, w))
	}
}

// The id in a file is that of a note in another notebook. A sync of this one neither changes that note nor removes the file.
func TestSyncIDsFromElsewhere(t *testing.T) {
	t.Parallel()
	const id = "20240102030405-aaaaaaa"
	w := newVault(t)
	importFolder(t, w, files{"D.md": "---\nid: " + id + "\n---\nprivate\n", "E.md": "more\n"}.write(t), folder.ImportOptions{Notebook: "A"})
	private := documentsByPath(t, w)["A/E"].Root.ID
	for name, text := range map[string]string{
		"other text": "---\nid: " + id + "\n---\nchanged\n", "same text": "---\nid: " + id + "\n---\nprivate\n", "id of another note": "---\nid: " + private + "\n---\nchanged\n",
	} {
		before := documentsByPath(t, w)
		dir := files{"other.md": "other\n", "D.md": text}.write(t)
		for range 3 {
			r := syncFolder(t, w, dir, folder.SyncOptions{Notebook: name})
			after := documentsByPath(t, w)
			for at, d := range before {
				if after[at] == nil {
					t.Errorf("%s: %s is gone: %v", name, at, changedStates(r.Report))
				} else if diff := cmp.Diff(markup.Kramdown(d.Root), markup.Kramdown(after[at].Root)); diff != "" {
					t.Errorf("%s: %s was changed:\n%s", name, at, diff)
				}
			}
			if len(after) != len(before)+3 || after[name+"/D"] == nil {
				t.Errorf("%s: %v", name, changedStates(r.Report))
			}
			if got := readFiles(t, dir); len(got) != 2 || got["D.md"] != text {
				t.Errorf("%s: the folder has %q", name, got)
			}
		}
		putFile(t, dir, "D.md", "---\nid: "+id+"\n---\nchanged again\n")
		syncFolder(t, w, dir, folder.SyncOptions{})
		if all := markdownByPath(t, w); all[name+"/D"] != "changed again" || all["A/D"] != "private" {
			t.Errorf("%s: %q", name, all)
		}
		wantIdleSync(t, w, dir)
	}
}

// A note that was moved to another notebook is no longer the sync's. Its file is removed or, if it has changed, becomes another note.
func TestSyncNotesMovedAway(t *testing.T) {
	t.Parallel()
	dir, w := files{"A.md": "one\n", "B.md": "two\n", "C.md": "three\n", "C/D.md": "four\n"}.write(t), newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		from := tx.Notebooks()[0]
		to := tx.CreateNotebook("Elsewhere")
		for _, name := range []string{"A", "B", "C"} {
			tx.MoveDocument(tx.DocumentsByHPath(from.ID, "/"+name)[0], to, nil)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "B.md", "two, changed\n")
	for range 3 {
		r := syncFolder(t, w, dir, folder.SyncOptions{AllowDeletions: 5})
		if diff := cmp.Diff(map[string]string{
			"Elsewhere/A": "one", "Elsewhere/B": "two", "Elsewhere/C": "three", "Elsewhere/C/D": "four", "notes/B": "two, changed",
		}, markdownByPath(t, w)); diff != "" {
			t.Errorf("%s\n%v", diff, changedStates(r.Report))
		}
		if diff := cmp.Diff(map[string]string{"B.md": "two, changed\n"}, map[string]string(readFiles(t, dir))); diff != "" {
			t.Errorf("%s\n%v", diff, changedStates(r.Report))
		}
	}
	wantSound(t, w)
}

// Names of days in a folder "journals" do not make a graph of Logseq.
func TestSyncJournals(t *testing.T) {
	t.Parallel()
	dir, w := files{"A.md": "one\n"}.write(t), newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		box := tx.Notebooks()[0]
		for parent, child := range map[string]string{"journals": "2024-05-01", "pages": "Page"} {
			tx.AddDocument(box, tx.AddDocument(box, nil, parent, "", nil), child, "", tx.Identify(markup.Parse("TODO text")))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	syncFolder(t, w, dir, folder.SyncOptions{})
	if text := readFiles(t, dir)["journals/2024-05-01.md"]; text != "TODO text\n" {
		t.Errorf("the file of the day is %q", text)
	}
	wantIdleSync(t, w, dir)
	putFile(t, dir, "journals/2024-05-02.md", "TODO more\n")
	syncFolder(t, w, dir, folder.SyncOptions{})
	if text := markdownByPath(t, w)["notes/journals/2024-05-02"]; text != "TODO more" {
		t.Errorf("the note of the day is %q", text)
	}
	// The daily notes of Obsidian.
	for name, more := range map[string]files{"days alone": {}, "Obsidian": {".obsidian/app.json": "{}", "pages/Page.md": "page\n"}} {
		list := files{"journals/2024-05-01.md": "TODO text\n"}
		maps.Copy(list, more)
		dir, w := list.write(t), newVault(t)
		syncFolder(t, w, dir, folder.SyncOptions{})
		wantIdleSync(t, w, dir)
		if text := markdownByPath(t, w)["notes/journals/2024-05-01"]; text != "TODO text" {
			t.Errorf("%s: the note of the day is %q", name, text)
		}
	}
}

// The file of a note is removed while a note is added below it: the note stays without its text, and the report says so.
func TestSyncReportsEmptiedNotes(t *testing.T) {
	t.Parallel()
	dir, w := files{"A.md": "one\n", "B.md": "two\n"}.write(t), newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	removeFile(t, dir, "A.md")
	editDocument(t, w, "notes/A", func(tx *workspace.Tx, d *tree.Document) {
		tx.AddDocument(d.Box, d, "below", "", tx.Identify(markup.Parse("three")))
	})
	id := documentsByPath(t, w)["notes/A"].Root.ID
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	if diff := cmp.Diff(map[string]string{"notes/A": "", "notes/A/below": "three", "notes/B": "two"}, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(r.States, func(f folder.FileState) bool {
		return f.Path == "A.md" && f.State == folder.DocDeleted && f.Target == id
	}) {
		t.Errorf("nothing was said of the note that became empty: %v", r.States)
	}
	wantIdleSync(t, w, dir)
}
