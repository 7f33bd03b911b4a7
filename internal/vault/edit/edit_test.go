package edit_test

import (
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// editDocument makes a document of Markdown, changes it, and returns it as it is read back afterwards. It fails the test when
// the tree could not be written as Markdown: a list with something else than items, an empty container, an id twice.
func editDocument(t *testing.T, text string, change func(tx *workspace.Tx, root *tree.Block)) string {
	t.Helper()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	id := ""
	steps := []func(*workspace.Tx){
		func(tx *workspace.Tx) {
			box := tx.CreateNotebook("N")
			id = tx.AddDocument(box, nil, "Doc", "", tx.Identify(markup.Parse(text))).ID()
		},
		func(tx *workspace.Tx) { change(tx, tx.Document(id).Root) },
	}
	for _, step := range steps {
		err := w.Update(t.Context(), func(tx *workspace.Tx) error {
			step(tx)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	err = w.View(t.Context(), func(tx *workspace.Tx) error {
		root := tx.Document(id).Root
		wantSoundTree(t, root)
		got = markup.Export(root)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantSoundTree reports what of a tree could not be written as Markdown and read back.
func wantSoundTree(t *testing.T, root *tree.Block) {
	t.Helper()
	seen := map[string]bool{}
	root.Walk(func(b *tree.Block) {
		switch {
		case seen[b.ID] || !tree.ValidID(b.ID) || b.Attrs["id"] != b.ID:
			t.Errorf("%s %q, by its attribute %q: twice or malformed", b.Kind, b.ID, b.Attrs["id"])
		case b.Container() && len(b.Children) == 0:
			t.Errorf("%s %s is empty", b.Kind, b.ID)
		case b.Parent != nil && (b.Parent.Kind == tree.List) != (b.Kind == tree.Item):
			t.Errorf("%s %s lies in a %s", b.Kind, b.ID, b.Parent.Kind)
		}
		seen[b.ID] = true
	})
}

// blockWithText returns the block with a text.
func blockWithText(root *tree.Block, text string) (found *tree.Block) {
	root.Walk(func(b *tree.Block) {
		if b.Text == text {
			found = b
		}
	})
	return found
}

func TestEdits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		change     func(tx *workspace.Tx, root *tree.Block)
		want       string
	}{
		{name: "a paragraph into a list becomes an item", text: "- a\n- b", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Place(tx, "markdown", "c 三", root.Children[0], true)
		}, want: "- a\n- b\n- c 三"},
		{name: "a list into a list gives its items", text: "1. a\n2. b", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Place(tx, "markdown", "1. x\n2. y", root.Children[0], false)
		}, want: "1. x\n2. y\n1. a\n2. b"},
		{name: "a bare item gets a list", text: "p", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Put(tx, root, 0, []*tree.Block{edit.Copy(tx, tx.Identify(markup.Parse("- a"))[0].Children[0])})
		}, want: "- a\n\np"},
		{name: "the last block of a document leaves a paragraph", text: "only", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Detach(tx, root.Children[0])
		}},
		{name: "empty containers go too", text: "a\n\n> - b", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Detach(tx, blockWithText(root, "b"))
		}, want: "a"},
		{name: "several at once", text: "a\n\n> - b\n\nc", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Detach(tx, blockWithText(root, "a"), blockWithText(root, "b"), blockWithText(root, "c"))
		}},
		{name: "out of a container it leaves empty", text: "> a\n\nb", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Move(tx, blockWithText(root, "a"), root.Children[0], true)
		}, want: "a\n\nb"},
		{name: "first into the container it is alone in", text: "> a\n\nb", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Move(tx, blockWithText(root, "a"), root.Children[0], false)
		}, want: "> a\n\nb"},
		{name: "into itself", text: "> a\n\nb", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Move(tx, root.Children[0], blockWithText(root, "a"), true)
			edit.Move(tx, root.Children[0], root.Children[0], false)
		}, want: "> a\n\nb"},
		{name: "behind a document", text: "a\n\nb", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Move(tx, blockWithText(root, "b"), root, true)
		}, want: "a\n\nb"},
		{name: "an item out of its list", text: "- a\n- b\n\np", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Move(tx, blockWithText(root, "a").Parent, blockWithText(root, "p"), true)
		}, want: "- b\n\np\n\n- a"},
		{name: "a list into a list stays one", text: "- a\n\np\n\n1. b", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Move(tx, root.Children[2], root.Children[0], false)
			if blockWithText(root, "b").Parent.Parent.Parent.Kind != tree.Item {
				t.Error("the list was taken apart")
			}
		}, want: "- 1. b\n- a\n\np"},
		{name: "an item updated with a paragraph stays an item", text: "- [ ] a\n- b", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Update(tx, blockWithText(root, "a").Parent, "markdown", "changed")
		}, want: "- [ ] changed\n- b"},
		{name: "an item updated with a list takes its first item", text: "- a\n- b", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Update(tx, blockWithText(root, "a").Parent, "markdown", "- [x] one\n- two")
		}, want: "- [x] one\n- b"},
		{name: "only the first block counts", text: "a\n\nb", change: func(tx *workspace.Tx, root *tree.Block) {
			b := blockWithText(root, "a")
			id := b.ID
			b.Attrs["custom-x"] = "y"
			edit.Update(tx, b, "markdown", "## h\n\nrest")
			if b.ID != id || b.Attrs["id"] != id || b.Attrs["custom-x"] != "" || b.Kind != tree.Heading {
				t.Errorf("updated to %+v", b)
			}
		}, want: "## h\n\nb"},
		{name: "a document takes all blocks", text: "a\n\nb", change: func(tx *workspace.Tx, root *tree.Block) {
			edit.Update(tx, root, "markdown", "x\n\ny")
		}, want: "x\n\ny"},
		{name: "cut off, flushed and put back", text: "a\n\n- b\n  - c", change: func(tx *workspace.Tx, root *tree.Block) {
			list := root.Children[1]
			edit.Detach(tx, list)
			tx.Flush()
			edit.Put(tx, root, 0, []*tree.Block{list})
		}, want: "- b\n\n  - c\n\na"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// Blank lines between blocks are left out: they are the business of package markup.
			got := strings.ReplaceAll(strings.ToLower(editDocument(t, tt.text, tt.change)), "\n\n", "\n")
			if want := strings.ReplaceAll(tt.want, "\n\n", "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestKeepLosesNothing checks that copies that are saved within one second do not replace each other.
func TestKeepLosesNothing(t *testing.T) {
	t.Parallel()
	editDocument(t, "a", func(tx *workspace.Tx, root *tree.Block) {
		paths := map[string]bool{}
		for range 3 {
			paths[edit.SaveCopy(tx, root.Doc, edit.Updated)] = true
		}
		if len(paths) != 3 {
			t.Errorf("three copies at %v", paths)
		}
		for path := range paths {
			if kept, err := markup.ParseSY(tx.ReadFile(path)); err != nil || markup.Export(kept) != "a" {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}
