package folder_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// The folder is suddenly empty, as when its drive was removed. The sync must not remove the notes.
func TestSyncFolderGone(t *testing.T) {
	t.Parallel()
	dir, w := files{"A.md": "one\n", "sub/B.md": "two\n"}.write(t), newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	before := markdownByPath(t, w)
	away := dir + " is elsewhere"
	if err := errors.Join(os.Rename(dir, away), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	if r := syncFolder(t, w, dir, folder.SyncOptions{}); r.Held.Count() == 0 || len(readFiles(t, dir)) != 0 {
		t.Errorf("held %v, the folder has %v", r.Held, readFiles(t, dir))
	}
	if diff := cmp.Diff(before, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Sync(t.Context(), w, dir, folder.SyncOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	wantIdleSync(t, w, dir)
	if diff := cmp.Diff(before, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
}

// All files disappear while a sync reads the folder. No note may become empty or be removed.
func TestSyncFolderGoesAway(t *testing.T) {
	t.Parallel()
	all := files{}
	for name := range strings.SplitSeq("abcdefgh", "") {
		all[name+".md"] = name + " [[b]]\n"
	}
	dir, w := all.write(t), newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	before := markdownByPath(t, w)
	putFile(t, dir, "g.md", "g, changed\n")
	putFile(t, dir, "h.md", "h, changed\n")
	away := t.TempDir()
	move := func(from, to string) {
		for name := range all {
			if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
				t.Error(err)
			}
		}
	}
	r := syncFolder(t, w, dir, folder.SyncOptions{Progress: func(done, _ int, _ string) {
		if done == 1 {
			move(dir, away)
		}
	}})
	if !slices.ContainsFunc(r.Problems, func(p folder.Problem) bool { return strings.Contains(p.Why, "went away during the sync") }) {
		t.Errorf("no file went away while it was read: %v", r.Problems)
	}
	for range 2 {
		after := markdownByPath(t, w)
		for name := range before {
			if after[name] == "" {
				t.Errorf("%s is gone or empty: %v", name, changedStates(r.Report))
			}
		}
		if list := readFiles(t, dir); len(list) > 0 {
			t.Errorf("the folder has %v", list)
		}
		r = syncFolder(t, w, dir, folder.SyncOptions{})
	}
	move(away, dir)
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	if text := markdownByPath(t, w)["notes/h"]; text != "h, changed" {
		t.Errorf("h is %q", text)
	}
}

// A file that exists but cannot be read does not count as removed: its note stays, and the sync writes no other file for it.
func TestSyncUnreadable(t *testing.T) {
	t.Parallel()
	dir, w := files{"A.md": "one\n", "B.md": "two\n", "C.md": "three\n", "D.md": "four\n"}.write(t), newVault(t)
	outside := filepath.Join(t.TempDir(), "outside.md")
	syncFolder(t, w, dir, folder.SyncOptions{})
	before := markdownByPath(t, w)
	before["notes/A/below"] = "five"
	putFile(t, dir, "A.md", "one\x00\n")
	if err := errors.Join(os.Remove(filepath.Join(dir, "B.md")), os.Symlink(outside, filepath.Join(dir, "B.md"))); err != nil {
		t.Skipf("symbolic links cannot be made here: %v", err)
	}
	putFile(t, dir, "A/below.md", "five\n")
	for range 3 {
		r := syncFolder(t, w, dir, folder.SyncOptions{})
		if diff := cmp.Diff(before, markdownByPath(t, w)); diff != "" {
			t.Errorf("%s\n%v", diff, changedStates(r.Report))
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
			t.Errorf("%v, %v: %v %v", err, entries, changedStates(r.Report), r.Problems)
		}
	}
	setText(t, w, "notes/A", "one", "one, changed here")
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
		t.Errorf("%v, %v: %v %v", err, entries, changedStates(r.Report), r.Problems)
	}
	putFile(t, dir, "A.md", "one\n")
	if err := os.Remove(filepath.Join(dir, "B.md")); err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "B.md", "two\n")
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	if diff := cmp.Diff(map[string]string{"A.md": "one, changed here\n", "B.md": "two\n", "C.md": "three\n", "D.md": "four\n", "A/below.md": "five\n"}, map[string]string(readFiles(t, dir))); diff != "" {
		t.Error(diff)
	}
}

// Files have names, and notes have titles, that some operating systems cannot use as names of files.
func TestSyncNames(t *testing.T) {
	t.Parallel()
	dir, w := files{"Case.md": "one\n", "case.md": "two\n", "a:b.md": "three\n", "what?.md": "four\n", "CON.md": "five\n"}.write(t), newVault(t)
	strange := filepath.Join(dir, "\xff\xfe.md")
	if err := os.WriteFile(strange, []byte("six\n"), 0o600); err != nil {
		t.Logf("the file system takes names in UTF-8 only: %v", err)
		strange = ""
	}
	before := timesAndTexts(t, dir)
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	t.Log(r.Problems)
	wantIdleSync(t, w, dir)
	if diff := cmp.Diff(before, timesAndTexts(t, dir)); diff != "" {
		t.Error(diff)
	}
	said := false
	for _, p := range r.Problems {
		said = said || strings.Contains(p.Path, ".md") && p.What != ""
	}
	if strange != "" && !said {
		t.Errorf("nothing was said of a name that is not UTF-8: %v", r.Problems)
	}
	titles := []string{"Same", "same", "x/y", "NUL", "dot.", " space ", `a<b>:"|?*\`, strings.Repeat("长", 200), "é", "e\u0301"}
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		box := tx.Notebooks()[0]
		for _, title := range titles {
			tx.AddDocument(box, nil, title, "", tx.Identify(markup.Parse("text of "+title)))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r = syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	have := readFiles(t, dir)
	folded := map[string]string{}
	for name := range have {
		if other := folded[strings.ToLower(name)]; other != "" && !strings.EqualFold(name, "case.md") {
			t.Errorf("%s and %s are one name on some systems", name, other)
		}
		folded[strings.ToLower(name)] = name
		if _, was := before[name]; !was && strings.ContainsAny(name, `<>:"|?*\`) {
			t.Errorf("Windows has no name %q", name)
		}
	}
	if len(have) != len(before)+len(titles) {
		t.Errorf("%d files, want %d: %v %v", len(have), len(before)+len(titles), changedStates(r.Report), r.Problems)
	}
}

// A program writes a file all the time while it is synced.
func TestSyncWhileWritten(t *testing.T) {
	t.Parallel()
	dir, w := files{"A.md": "line\n", "B.md": "other\n"}.write(t), newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	done, ended := make(chan struct{}), make(chan struct{})
	last := ""
	go func() {
		defer close(ended)
		f, err := os.OpenFile(filepath.Join(dir, "A.md"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if i < 200 {
				last = strings.Repeat("x", i%50) + " end"
				_, err = f.WriteString("\nline " + last + "\n")
				if err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	for i := range 8 {
		setText(t, w, "notes/B", "other", "other "+strings.Repeat("y", i))
		syncFolder(t, w, dir, folder.SyncOptions{})
	}
	close(done)
	<-ended
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	have := readFiles(t, dir)
	if len(have) != 2 || len(markdownByPath(t, w)) != 2 {
		t.Errorf("files %v, notes %v", slices.Sorted(maps.Keys(have)), markdownByPath(t, w))
	}
	if !strings.HasSuffix(have["A.md"], "line "+last+"\n") || !strings.HasSuffix(markdownByPath(t, w)["notes/A"], "line "+last) {
		t.Errorf("the end of the file is missing: %q", have["A.md"][max(0, len(have["A.md"])-100):])
	}
}

// The folder is read-only: changes in it reach the notes, and a change in the notes becomes a problem that names the file and
// the reason.
func TestSyncReadOnly(t *testing.T) {
	t.Parallel()
	dir := mountFolder(t, "size=8m")
	w := newVault(t)
	putFile(t, dir, "A.md", "one\n")
	putFile(t, dir, "B.md", "two\n")
	syncFolder(t, w, dir, folder.SyncOptions{Notebook: "notes"})
	putFile(t, dir, "A.md", "one, changed\n")
	setText(t, w, "notes/B", "two", "two, changed")
	remount(t, dir, "ro,size=8m")
	before := timesAndTexts(t, dir)
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	if text := markdownByPath(t, w)["notes/A"]; text != "one, changed" {
		t.Errorf("A is %q", text)
	}
	if text := markdownByPath(t, w)["notes/B"]; text != "two, changed" {
		t.Errorf("B is %q", text)
	}
	if diff := cmp.Diff(before, timesAndTexts(t, dir)); diff != "" {
		t.Error(diff)
	}
	if len(r.Problems) != 1 || r.Problems[0].Path != "B.md" || !strings.Contains(r.Problems[0].Why, "read-only") {
		t.Errorf("problems: %+v", r.Problems)
	}
	remount(t, dir, "rw,size=8m")
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	if diff := cmp.Diff(map[string]string{"A.md": "one, changed\n", "B.md": "two, changed\n"}, map[string]string(readFiles(t, dir))); diff != "" {
		t.Error(diff)
	}
}

// The disk is full: each file has its old or its complete new text, and the sync goes on once there is room.
func TestSyncFullDisk(t *testing.T) {
	t.Parallel()
	dir := mountFolder(t, "size=400k")
	w := newVault(t)
	for name := range strings.SplitSeq("abcdefgh", "") {
		putFile(t, dir, name+".md", name+" word\n")
	}
	syncFolder(t, w, dir, folder.SyncOptions{Notebook: "notes"})
	wantIdleSync(t, w, dir)
	long := strings.Repeat("many words ", 8000) // 88 kB
	for name := range strings.SplitSeq("abcdefgh", "") {
		editDocument(t, w, "notes/"+name, func(tx *workspace.Tx, d *tree.Document) {
			d.Root.Insert(len(d.Root.Children), tx.Identify(markup.Parse(long))...)
		})
	}
	before, notes := readFiles(t, dir), markdownByPath(t, w)
	for range 3 {
		_, err := folder.Sync(t.Context(), w, dir, folder.SyncOptions{})
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Fatalf("the disk is full, and the error is %v", err)
		}
		for name, text := range readFiles(t, dir) {
			if text != before[name] && !strings.HasSuffix(text, strings.TrimSpace(long)+"\n") {
				t.Errorf("%s has %d bytes, which is neither what it had nor what it gets", name, len(text))
			}
		}
		if diff := cmp.Diff(notes, markdownByPath(t, w)); diff != "" {
			t.Errorf("the notes have changed: %.300s", diff)
		}
	}
	remount(t, dir, "size=8m")
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	have := readFiles(t, dir)
	for name := range before {
		if !strings.HasPrefix(have[name], before[name]) || !strings.HasSuffix(have[name], strings.TrimSpace(long)+"\n") {
			t.Errorf("%s has %d bytes", name, len(have[name]))
		}
	}
	if len(have) != len(before) {
		t.Errorf("%d files, want %d", len(have), len(before))
	}
}
