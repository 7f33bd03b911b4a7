package folder_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Notes to which files link get other titles and places. In the files, which nobody edited, only the targets of links may change.
func TestSyncLinksFollowInPlace(t *testing.T) {
	t.Parallel()
	linking := strings.Join([]string{
		"---\nrelated: \"[[Old]]\"\n---\n",
		"-\t[[Old]]  and [[Old|label]]\n\t-  see [[Old#Part]]\n\t\t* deep [[sub/Old]] [[sub/Old.md#^mark|x]]\n",
		"|a|  [[Old\\|cell]]|\n|-|:-:|\n|  1 |[m](sub/Old.md#part)|\n",
		"[one](sub/Old.md \"title\"),   [two](<sub/Old.md>) and [three][ref]\n\n[ref]: sub/Old.md\n",
		"![[Old]]\n",
		"> [!tip] see [[Old]]\n\n> [!info]- folded [[Old|x]]\n>   text\n",
		"`[[Old]]` %%[[Old]]%% <!-- [[Old]] --> \\[[Old]]\n",
		"```\n[[Old]]\n```\n",
		"[[Old|Old]] [[missing]] [out](https://example.com/Old.md) ![[pic.png|30]] [![alt](sub/pic.png)](sub/Old.md)\n",
		"Setext [[Old]]\n---\n",
		"last *line*, no end [[Old]]",
	}, "\n")
	for _, end := range []string{"\n", "\r\n"} {
		linking := strings.ReplaceAll(linking, "\n", end)
		start := files{
			"Links.md": linking, "sub/Old.md": "# Part\n\ntext ^mark\n\nto [[#Part]] and [up](../Links.md) and ![p](pic.png)\n", "sub/pic.png": "PNG",
			"sub/Old/Below.md": "[[Old]], [up](../Old.md),   ![p](../pic.png) <img src=\"../pic.png\">\n", "Other.md": "* x\n* y\n", "sub/Stays.md": "z\n",
		}
		dir, w := start.write(t), newVault(t)
		syncFolder(t, w, dir, folder.SyncOptions{Notebook: "notes"})
		wantIdleSync(t, w, dir)
		if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
			box := tx.Notebooks()[0]
			d := tx.Document(tx.DocumentsByHPath(box.ID, "/sub/Old")[0].ID())
			d.Root.Attrs["title"] = "新 (1)"
			tx.MoveDocument(d, box, nil)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		r := syncFolder(t, w, dir, folder.SyncOptions{})
		notes := markdownByPath(t, w)
		want := map[string]string{
			"Links.md": strings.NewReplacer(
				"\"[[Old]]\"", "\"[[Old]]\"", "`[[Old]]`", "`[[Old]]`", "%%[[Old]]%%", "%%[[Old]]%%", "<!-- [[Old]] -->", "<!-- [[Old]] -->", "\\[[Old]]", "\\[[Old]]",
				"```"+end+"[[Old]]", "```"+end+"[[Old]]", "https://example.com/Old.md", "https://example.com/Old.md",
				"[[sub/Old.md", "[[新 (1).md", "[[sub/Old", "[[新 (1)", "[[Old", "[[新 (1)", "<sub/Old.md>", "<新 (1).md>", "sub/Old.md", "新%20%281%29.md",
			).Replace(linking),
			"新 (1).md":       "# Part\n\ntext ^mark\n\nto [[#Part]] and [up](Links.md) and ![p](sub/pic.png)\n",
			"新 (1)/Below.md": "[[新 (1)]], [up](../新%20%281%29.md),   ![p](../sub/pic.png) <img src=\"../sub/pic.png\">\n",
			"Other.md":       "* x\n* y\n", "sub/pic.png": "PNG", "sub/Stays.md": "z\n",
		}
		if diff := cmp.Diff(want, map[string]string(readFiles(t, dir))); diff != "" {
			t.Errorf("%s\n%v", diff, changedStates(r.Report))
		}
		syncFolder(t, w, dir, folder.SyncOptions{})
		wantIdleSync(t, w, dir)
		if diff := cmp.Diff(notes, markdownByPath(t, w)); diff != "" {
			t.Errorf("the notes have changed because of it:\n%s", diff)
		}
	}
}

// People who move files by hand seldom change the links to them or in them. These links follow, and the notes keep their
// references.
func TestSyncLinksToMovedFiles(t *testing.T) {
	t.Parallel()
	dir := files{
		"A.md": "-\t[[B]] [[B#Part|part]]\n\t*  [m](B.md#part) [[sub/C]] ![[pic.png]]\n",
		"B.md": "# Part\n\n[c](sub/C.md)  [[A]] ![p](sub/pic.png)\n", "sub/C.md": "[up](../B.md), [[B]]\n* x\n", "sub/pic.png": "PNG", "Gone.md": "g\n",
		"D.md": "[[Gone]] [[B]]\n",
	}.write(t)
	w := newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	before := markdownByPath(t, w)
	for _, move := range [][2]string{{"B.md", "deep/er/新 B.md"}, {"sub/C.md", "C.md"}} {
		to := filepath.Join(dir, filepath.FromSlash(move[1]))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(filepath.Join(dir, filepath.FromSlash(move[0])), to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "Gone.md")); err != nil {
		t.Fatal(err)
	}
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	want := map[string]string{
		"A.md":           "-\t[[新 B]] [[新 B#Part|part]]\n\t*  [m](deep/er/%E6%96%B0%20B.md#part) [[C]] ![[pic.png]]\n",
		"deep/er/新 B.md": "# Part\n\n[c](../../C.md)  [[A]] ![p](sub/pic.png)\n", "C.md": "[up](deep/er/%E6%96%B0%20B.md), [[新 B]]\n* x\n", "sub/pic.png": "PNG",
		"D.md": "[[Gone]] [[新 B]]\n",
	}
	got := map[string]string(readFiles(t, dir))
	got["A.md"] = strings.ReplaceAll(got["A.md"], "deep/er/新%20B.md", "deep/er/%E6%96%B0%20B.md")
	got["C.md"] = strings.ReplaceAll(got["C.md"], "deep/er/新%20B.md", "deep/er/%E6%96%B0%20B.md")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%v %v", diff, changedStates(r.Report), r.Problems)
	}
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	after := markdownByPath(t, w)
	for from, to := range map[string]string{"notes/A": "notes/A", "notes/B": "notes/deep/er/新 B", "notes/sub/C": "notes/C"} {
		if want := strings.ReplaceAll(before[from], "'B'", "'新 B'"); want == "" || want != after[to] {
			t.Errorf("%s was %q and is %q", from, before[from], after[to])
		}
	}
}

// A sync ends when it has renamed some files but has not changed the files that link to them. Later syncs update these links.
func TestSyncKilledAmongRenames(t *testing.T) {
	t.Parallel()
	start := files{}
	const notes = 260 // more than one batch of writes, so that some files are left when the sync is stopped after the first batch
	for i := range notes {
		start[fmt.Sprintf("n%03d.md", i)] = fmt.Sprintf("## Part %d\n\ntext\n", i)
		start[fmt.Sprintf("to %03d.md", i)] = fmt.Sprintf("-\t[[n%03d]]\n\t* [[n%03d#Part %d|x]]\n", i, i, i)
	}
	dir, w := start.write(t), newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{Notebook: "notes"})
	wantIdleSync(t, w, dir)
	if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
		for _, d := range tx.Documents(tx.Notebooks()[0]) {
			if d = tx.Document(d.ID()); strings.HasPrefix(d.Title(), "n") {
				d.Root.Attrs["title"] = "新 " + d.Title()
				d.Root.Children[0].Text += " more"
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := markdownByPath(t, w)
	ctx, kill := context.WithCancel(t.Context())
	phases := 0 // the first phase reads files, the second writes them
	if _, err := folder.Sync(ctx, w, dir, folder.SyncOptions{Progress: func(done, _ int, _ string) {
		if done == 1 {
			phases++
		}
		if phases == 2 && done == 250 {
			kill()
		}
	}}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	renamed := 0
	for at, text := range readFiles(t, dir) {
		if strings.HasPrefix(at, "新") {
			renamed++
		}
		if strings.Contains(text, "[[新") {
			t.Fatal("links have followed already")
		}
	}
	if renamed == 0 {
		t.Fatal("no file was renamed before the end")
	}
	syncFolder(t, w, dir, folder.SyncOptions{})
	syncFolder(t, w, dir, folder.SyncOptions{})
	wantIdleSync(t, w, dir)
	if diff := cmp.Diff(want, markdownByPath(t, w)); diff != "" {
		t.Errorf("%.2000s", diff)
	}
	texts := readFiles(t, dir)
	for i := range notes {
		if got, want := texts[fmt.Sprintf("to %03d.md", i)], fmt.Sprintf("-\t[[新 n%03d]]\n\t* [[新 n%03d#Part %d more|x]]\n", i, i, i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A note gets a title that no wiki link can hold: links name its id instead, and the text around them stays.
func TestSyncLinksToWhatHasNoName(t *testing.T) {
	t.Parallel()
	dir := files{"A.md": "-\t[[B]]  [[B|label]]\n\t* [m](B.md)\n\n\n", "B.md": "b\n"}.write(t)
	w := newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	id := ""
	editDocument(t, w, "notes/B", func(_ *workspace.Tx, d *tree.Document) {
		id, d.Root.Attrs["title"] = d.ID(), "C#1"
	})
	syncFolder(t, w, dir, folder.SyncOptions{})
	if got, want := readFiles(t, dir)["A.md"], "-\t(("+id+" 'C#1'))  (("+id+" \"label\"))\n\t* [m](C%231.md)\n\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	wantIdleSync(t, w, dir)
}

// A heading that links name gets other words: the links follow, and their lines stay the same otherwise.
func TestSyncLinksToHeading(t *testing.T) {
	t.Parallel()
	dir := files{"A.md": "# Top\n\n## Old part\n\ntext\n", "B.md": "-\t[[A#Old part]]\n\t-\t[[A#Top#Old part|x]] [m](A.md#Old%20part)\n"}.write(t)
	w := newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	setText(t, w, "notes/A", "Old part", "## New part")
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	want := map[string]string{"A.md": "# Top\n\n## New part\n\ntext\n", "B.md": "-\t[[A#New part]]\n\t-\t[[A#Top#New part|x]] [m](A.md#New%20part)\n"}
	if diff := cmp.Diff(want, map[string]string(readFiles(t, dir))); diff != "" {
		t.Errorf("%s\n%v %v", diff, changedStates(r.Report), r.Problems)
	}
	wantIdleSync(t, w, dir)
}

// A block that a note refers to gets an anchor in its file, and nothing else in the file changes. The reference is kept.
func TestSyncNamesBlocksInPlace(t *testing.T) {
	t.Parallel()
	text := "one\r\nmore\r\n\r\n*\titem\r\n\t*  inner\r\n\r\n| a |b|\r\n|-|-|\r\n|1|2|\r\n\r\nend\r\n"
	dir := files{"A.md": text, "B.md": "two\n"}.write(t)
	w := newVault(t)
	syncFolder(t, w, dir, folder.SyncOptions{})
	var refs []string
	editDocument(t, w, "notes/A", func(_ *workspace.Tx, d *tree.Document) {
		d.Root.Walk(func(b *tree.Block) {
			if b.Kind == tree.Item || b.Kind == tree.Table || b.Kind == tree.Paragraph && b.Parent == d.Root {
				refs = append(refs, "(("+b.ID+" \"x\"))")
			}
		})
	})
	editDocument(t, w, "notes/B", func(tx *workspace.Tx, d *tree.Document) {
		d.Root.Insert(1, tx.Identify(markup.Parse(strings.Join(refs, " ")))...)
	})
	before := markdownByPath(t, w)
	r := syncFolder(t, w, dir, folder.SyncOptions{})
	got := readFiles(t, dir)["A.md"]
	for line := range strings.SplitSeq(text, "\r\n") {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in %q: %v", line, got, r.Problems)
		}
	}
	wantIdleSync(t, w, dir)
	if diff := cmp.Diff(before, markdownByPath(t, w)); diff != "" {
		t.Error(diff)
	}
}

// All notes of a folder get other titles at once: in the files only the targets of links change.
func TestSyncRenamesAll(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	syncFolder(t, b.w, b.dir, folder.SyncOptions{})
	before := map[string]string{} // texts by the ids of their documents
	if err := b.w.Update(t.Context(), func(tx *workspace.Tx) error {
		for _, o := range tx.Origins() {
			for _, row := range tx.Imported(o.N) {
				if row.Kind == "page" && !strings.HasSuffix(row.Path, "/") {
					before[row.Target] = b.read(row.Path)
					d := tx.Document(row.Target)
					d.Root.Attrs["title"] = d.Title() + " 2"
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	syncFolder(t, b.w, b.dir, folder.SyncOptions{})
	if err := b.w.View(t.Context(), func(tx *workspace.Tx) error {
		for _, o := range tx.Origins() {
			for _, row := range tx.Imported(o.N) {
				if text, there := before[row.Target]; there && !onlyLinksDiffer(text, b.read(row.Path)) {
					t.Errorf("%s: nobody changed it so: %q is now %q (true)", row.Path, text, b.read(row.Path))
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	b.wantIdle(folder.SyncOptions{})
}
