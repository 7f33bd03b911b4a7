package folder_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// newFilledVault returns a vault with everything that an export must keep.
func newFilledVault(t testing.TB) *workspace.Workspace {
	t.Helper()
	w := newVault(t)
	err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		box := tx.CreateNotebook("Work / 工作")
		closed := tx.CreateNotebook("work _ 工作")
		parse := func(text string) []*tree.Block { return tx.Identify(markup.Parse(text)) }
		tx.WriteFile("/data/assets/pic-20240102030405-aaaaaaa.png", []byte("PNG"), time.Time{})
		tx.WriteFile("/data/assets/sub dir/doc-20240102030405-aaaaaab.pdf", []byte("PDF"), time.Time{})
		tx.WriteFile("/data/assets/sub dir/doc-20240102030405-aaaaaab.pdf.sya", []byte("{}"), time.Time{})
		tx.WriteFile("/data/storage/av/20240102030405-avavava.json", []byte(`{"id":"20240102030405-avavava","keyValues":[{"key":{"relation":{"avID":"20240102030405-avavavb"}}}]}`), time.Time{})
		tx.WriteFile("/data/storage/av/20240102030405-avavavb.json", []byte(`{ "id": "20240102030405-avavavb" }`), time.Time{})
		top := tx.AddDocument(box, nil, "a/b: c?", "20240102030405-topdoc1", parse("# H\n{: id=\"20240102030405-headin1\" fold=\"1\"}\n\n"+
			"![p](assets/pic-20240102030405-aaaaaaa.png)\n\nto ((20240102030405-target1 'x')) and [l](siyuan://blocks/20240102030405-target2)\n\n"+
			"{: id=\"20240102030405-empty01\"}\n\n- a\n{: id=\"20240102030405-list001\"}\n\n- b\n\n```\nassets/x (assets/y)\n```\n\n"+
			"{{select * from blocks where id='20240102030405-target3'}}\n\n<div data-type=\"NodeAttributeView\" data-av-id=\"20240102030405-avavava\" data-av-type=\"table\"></div>"))
		top.Root.Attrs["icon"], top.Root.Attrs["tags"], top.Root.Attrs["alias"] = "1f4d8", "one,二", "not, clean ,list"
		top.Root.Attrs["custom-x"], top.Root.Attrs["odd-name"], top.Root.Attrs["memo"] = "line one\nline \"two\" 中文 \t", "yes", ""
		top.Root.Attrs["title-img"] = `background-image:url("assets/pic-20240102030405-aaaaaaa.png")`
		tx.AddDocument(box, nil, "A_b_ C_", "", parse("same name ignoring case"))
		tx.AddDocument(box, nil, "a_b_ c_.md", "", parse("a name with an extension"))
		tx.AddDocument(box, nil, "CON", "", nil)
		tx.AddDocument(box, nil, "assets", "", nil)
		tx.AddDocument(box, nil, "...", "", parse("text {{literal}} ((20240102030405-nothere 'gone'))"))
		child := tx.AddDocument(box, top, strings.Repeat("很长的标题", 60), "20240102030405-child01", parse("one\n{: id=\"20240102030405-target1\"}\n\n"+
			"two\n{: id=\"20240102030405-target2\"}\n\n> three\n{: id=\"20240102030405-target3\"}\n\n![p](assets/pic-20240102030405-aaaaaaa.png) `(assets/no)` [d](<assets/sub dir/doc-20240102030405-aaaaaab.pdf>)\n\nodd (../assets/odd)\n\n"+
			"card\n{: id=\"20240102030405-card001\" custom-riff-decks=\"20230218211946-2kw8jgx\"}\n\n<iframe src=\"assets/pic-20240102030405-aaaaaaa.png\"></iframe>"))
		child.Root.Attrs["updated"] = "20250102030405"
		tx.AddDocument(box, child, "deep", "", parse("![p](assets/pic-20240102030405-aaaaaaa.png)"))
		tx.PutRecord(workspace.Record{Kind: "deck", ID: "20230218211946-2kw8jgx", At: 5, Body: []byte(`{"name":"D"}`)})
		tx.PutRecord(workspace.Record{Kind: "card", ID: "20240102030405-cardid1", Owner: "20230218211946-2kw8jgx", At: 7, Body: []byte(`{"block":"20240102030405-card001","n":"<&>"}`)})
		page := tx.Page(closed)
		page.Root.Children[0].Text = "the notebook's own text ![p](assets/pic-20240102030405-aaaaaaa.png)"
		tx.AddDocument(closed, nil, "In a closed notebook", "", parse("x"))
		closed.Conf.Closed, closed.Conf.Icon = true, "1f4d7"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestExportComesBack(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		first, second := newFilledVault(t), newVault(t)
		dir, r := exportNew(t, first, folder.ExportOptions{AllIDs: all})
		if got := problemLines(r); len(got) > 0 {
			t.Errorf("problems: %q", got)
		}
		for _, p := range importFolder(t, second, dir, folder.ImportOptions{}).Problems {
			t.Errorf("problem in an export of ours: %v", p)
		}
		back, _ := exportNew(t, second, folder.ExportOptions{AllIDs: all})
		compareFiles(t, readFiles(t, back), readFiles(t, dir))
		a, b := documentsByPath(t, first), documentsByPath(t, second)
		for name, d := range a {
			other := b[name]
			if other == nil {
				t.Errorf("%s is lost", name)
				continue
			}
			if got, want := markup.Export(other.Root), markup.Export(d.Root); got != want {
				t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
			}
			if d.Root.ID != other.Root.ID || d.Sort != other.Sort || !d.Box.Conf.Closed && d.Root.Attrs["custom-x"] != other.Root.Attrs["custom-x"] {
				t.Errorf("%s: %v is not %v", name, other.Root.Attrs, d.Root.Attrs)
			}
		}
		openAllAndCheck(t, second)
	}
}

func TestExportedNames(t *testing.T) {
	t.Parallel()
	dir, _ := exportNew(t, newFilledVault(t), folder.ExportOptions{})
	got := readFiles(t, dir)
	for _, want := range []string{
		"Work _ 工作 (2)/a_b_ c_.md", "Work _ 工作 (2)/A_b_ C_ (2).md", "Work _ 工作 (2)/a_b_ c_.md (2).md", "Work _ 工作 (2)/_CON.md", "Work _ 工作 (2)/assets (2).md",
		"Work _ 工作 (2)/Untitled.md", "Work _ 工作 (2)/assets/pic-20240102030405-aaaaaaa.png", "Work _ 工作 (2)/assets/sub dir/doc-20240102030405-aaaaaab.pdf.sya",
		"Work _ 工作 (2)/databases/20240102030405-avavavb.json", "Work _ 工作 (2)/cards.json", "work _ 工作.md",
	} {
		if _, there := got[want]; !there {
			t.Errorf("there is no %s in %q", want, slices.Sorted(maps.Keys(got)))
		}
	}
	for name, text := range got {
		if strings.Count(name, "/") == 2 && strings.HasSuffix(name, ".md") {
			if !strings.Contains(text, "](../assets/pic-") || !strings.Contains(text, "`(assets/no)`") && !strings.Contains(text, "`(../assets/no)`") {
				t.Errorf("%s does not reach its assets:\n%s", name, text)
			}
		}
	}
}

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	w := newFilledVault(t)
	other := files{"mine.txt": "x"}.write(t)
	if _, err := folder.Export(t.Context(), w, other, folder.ExportOptions{Overwrite: true}); err == nil {
		t.Error("a folder of somebody else was taken")
	}
	dir, _ := exportNew(t, w, folder.ExportOptions{})
	if _, err := folder.Export(t.Context(), w, dir, folder.ExportOptions{}); err == nil {
		t.Error("an export was overwritten though nobody allowed it")
	}
	if _, err := folder.Export(t.Context(), w, filepath.Join(t.TempDir(), "x"), folder.ExportOptions{Notebooks: []string{"nope"}}); err == nil {
		t.Error("a notebook that is not there was exported")
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := readFiles(t, dir)
	err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		tx.RemoveDocument(tx.Document("20240102030405-child01"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Export(t.Context(), w, dir, folder.ExportOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	after := readFiles(t, dir)
	if after["mine.txt"] != "mine" {
		t.Error("a file of somebody else is gone")
	}
	if len(after) >= len(before) {
		t.Errorf("%d files after a document was removed, %d before", len(after), len(before))
	}
	for name := range after {
		if strings.Contains(name, "很长") {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestForeignMarker changes the marker file of an export so that it names files outside of the folder. They must not be touched.
func TestForeignMarker(t *testing.T) {
	t.Parallel()
	w := newFilledVault(t)
	dir, _ := exportNew(t, w, folder.ExportOptions{})
	victim := filepath.Join(filepath.Dir(dir), "victim.txt")
	if err := os.WriteFile(victim, []byte("v"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, folder.MarkerName)
	var m map[string]any
	data, err := os.ReadFile(at)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	m["files"] = []string{"../victim.txt", victim, "a/../../victim.txt", "."}
	data, _ = json.Marshal(m)
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Export(t.Context(), w, dir, folder.ExportOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(victim); err != nil {
		t.Errorf("a file outside is gone: %v", err)
	}
	m["notebooks"] = []map[string]any{{"folder": "../x", "id": "", "conf": map[string]any{"name": "x"}}}
	data, _ = json.Marshal(m)
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Import(t.Context(), newVault(t), dir, folder.ImportOptions{}); err == nil {
		t.Error("a notebook outside of the folder was accepted")
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	dir := generateFolder(3, 120).write(t)
	w := newVault(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	r, err := folder.Import(ctx, w, dir, folder.ImportOptions{Progress: func(done, total int, _ string) {
		if seen++; done != seen || total < 120 {
			t.Errorf("progress %d of %d, want %d", done, total, seen)
		}
		if done == 50 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want that of the context", err)
	}
	if r.Documents == 0 || r.Documents >= 120 {
		t.Errorf("%d documents, want some", r.Documents)
	}
	openAllAndCheck(t, w)
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	_, err = folder.Export(ctx, w, out, folder.ExportOptions{Progress: func(done, _ int, _ string) {
		if done == 5 {
			cancel()
		}
	}})
	if err == nil {
		t.Fatal("an export that was interrupted says nothing")
	}
	if _, err := folder.Export(t.Context(), w, out, folder.ExportOptions{Overwrite: true}); err != nil {
		t.Errorf("it cannot be done again: %v", err)
	}
}

// A note was renamed in case alone, which a file system may not tell apart. The export over an earlier one keeps all files that it
// has written. Where cases are told apart, a symbolic link makes a folder reachable by both names.
func TestExportAfterRenameInCase(t *testing.T) {
	t.Parallel()
	w := newVault(t)
	importFolder(t, w, files{"project.md": "one\n", "project/x.md": "two\n"}.write(t), folder.ImportOptions{})
	dir, _ := exportNew(t, w, folder.ExportOptions{})
	editDocument(t, w, "notes/project", func(_ *workspace.Tx, d *tree.Document) { d.Root.Attrs["title"] = "Project" })
	at := filepath.Join(dir, "notes", "Project")
	if _, err := os.Lstat(at); err != nil {
		if err := os.Symlink("project", at); err != nil {
			t.Skipf("symbolic links cannot be made here: %v", err)
		}
	}
	if _, err := folder.Export(t.Context(), w, dir, folder.ExportOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, folder.MarkerName))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Files []string }
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(m.Files, "notes/Project/x.md") {
		t.Errorf("the export has %q", m.Files)
	}
	for _, name := range m.Files {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Errorf("a file that was just written is not there: %v", err)
		}
	}
}
