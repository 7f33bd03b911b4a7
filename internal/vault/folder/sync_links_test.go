package folder_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// A file that nobody edited keeps every byte but those of link targets when the notes that it links to get other names and places.
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
		synced(t, w, dir, folder.SyncOptions{Notebook: "notes"})
		idle(t, w, dir)
		if err := w.Update(t.Context(), func(tx *workspace.Tx) error {
			box := tx.Notebooks()[0]
			d := tx.Document(tx.DocumentsByHPath(box.ID, "/sub/Old")[0].ID())
			d.Root.Attrs["title"] = "新 (1)"
			tx.MoveDocument(d, box, nil)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		r := synced(t, w, dir, folder.SyncOptions{})
		notes := markdown(t, w)
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
		if diff := cmp.Diff(want, map[string]string(read(t, dir))); diff != "" {
			t.Errorf("%s\n%v", diff, states(r.Report))
		}
		synced(t, w, dir, folder.SyncOptions{})
		idle(t, w, dir)
		if diff := cmp.Diff(notes, markdown(t, w)); diff != "" {
			t.Errorf("the notes have changed because of it:\n%s", diff)
		}
	}
}

// A heading that links name gets other words: the links follow, on the lines that they have.
func TestSyncLinksToHeading(t *testing.T) {
	t.Parallel()
	dir := files{"A.md": "# Top\n\n## Old part\n\ntext\n", "B.md": "-\t[[A#Old part]]\n\t-\t[[A#Top#Old part|x]] [m](A.md#Old%20part)\n"}.write(t)
	w := newVault(t)
	synced(t, w, dir, folder.SyncOptions{})
	setText(t, w, "notes/A", "Old part", "## New part")
	r := synced(t, w, dir, folder.SyncOptions{})
	want := map[string]string{"A.md": "# Top\n\n## New part\n\ntext\n", "B.md": "-\t[[A#New part]]\n\t-\t[[A#Top#New part|x]] [m](A.md#New%20part)\n"}
	if diff := cmp.Diff(want, map[string]string(read(t, dir))); diff != "" {
		t.Errorf("%s\n%v %v", diff, states(r.Report), r.Problems)
	}
	idle(t, w, dir)
}

// A block that a note refers to gets a name in its file, and nothing else of the file changes; the reference stays one.
func TestSyncNamesBlocksInPlace(t *testing.T) {
	t.Parallel()
	text := "one\r\nmore\r\n\r\n*\titem\r\n\t*  inner\r\n\r\n| a |b|\r\n|-|-|\r\n|1|2|\r\n\r\nend\r\n"
	dir := files{"A.md": text, "B.md": "two\n"}.write(t)
	w := newVault(t)
	synced(t, w, dir, folder.SyncOptions{})
	var refs []string
	edit(t, w, "notes/A", func(_ *workspace.Tx, d *tree.Document) {
		d.Root.Walk(func(b *tree.Block) {
			if b.Kind == tree.Item || b.Kind == tree.Table || b.Kind == tree.Paragraph && b.Parent == d.Root {
				refs = append(refs, "(("+b.ID+" \"x\"))")
			}
		})
	})
	edit(t, w, "notes/B", func(tx *workspace.Tx, d *tree.Document) {
		d.Root.Insert(1, tx.Identify(markup.Parse(strings.Join(refs, " ")))...)
	})
	before := markdown(t, w)
	r := synced(t, w, dir, folder.SyncOptions{})
	got := read(t, dir)["A.md"]
	for line := range strings.SplitSeq(text, "\r\n") {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in %q: %v", line, got, r.Problems)
		}
	}
	idle(t, w, dir)
	if diff := cmp.Diff(before, markdown(t, w)); diff != "" {
		t.Error(diff)
	}
}

// All notes of a folder get other names at once: of all files only the targets of links change.
func TestSyncRenamesAll(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	synced(t, b.w, b.dir, folder.SyncOptions{})
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
	synced(t, b.w, b.dir, folder.SyncOptions{})
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
	b.becomesIdle(folder.SyncOptions{})
}
