package workspace_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// samples are Markdown texts of which random documents are made.
var samples = []string{
	"plain", "中文内容", "# Heading", "## 二级", "- a\n- b\n  - c", "> quote\n>\n> two", "```go\nx\n```", "#tag# ==mark==",
	"| a | b |\n| --- | --- |\n| 1 | 2 |", "1. one\n2. two", "{{{row\nleft\n\nright\n}}}", "---", "$$\nx\n$$", "- [ ] task",
}

// TestAnyChangesAreKept makes random changes to random trees, through several handles on one file, and compares what
// is read afterwards with what was in memory at the commit.
func TestAnyChangesAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), "vault.db")
		handles := []*workspace.Workspace{open(t, path), open(t, path)}
		var docs []string
		want := map[string]string{}
		for step := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			w := handles[rapid.IntRange(0, 1).Draw(rt, "handle")]
			err := w.Update(t.Context(), func(tx *workspace.Tx) error {
				switch what := rapid.IntRange(0, 19).Draw(rt, "what"); {
				case len(docs) == 0 || what < 2:
					docs = append(docs, addDocument(rt, tx, docs))
				case what == 2:
					docs = removeDocument(tx, rapid.SampledFrom(docs).Draw(rt, "removed"), docs, want)
				case what == 3:
					tx.Try(func() bool { // these changes are undone
						changeRandomly(rt, tx, tx.Document(rapid.SampledFrom(docs).Draw(rt, "document")), docs)
						tx.Flush()
						changeRandomly(rt, tx, tx.Document(rapid.SampledFrom(docs).Draw(rt, "document")), docs)
						return false
					})
				default:
					for range rapid.IntRange(1, 3).Draw(rt, "changes") {
						changeRandomly(rt, tx, tx.Document(rapid.SampledFrom(docs).Draw(rt, "document")), docs)
					}
				}
				tx.Flush() // anchors and paths get their final form
				for _, id := range docs {
					d := tx.Document(id)
					want[id] = d.HPath() + "\n" + markup.Kramdown(d.Root)
				}
				return nil
			})
			if err != nil {
				rt.Fatalf("step %d: %v", step, err)
			}
		}
		for i, w := range append(handles, open(t, path)) {
			view(t, w, func(tx *workspace.Tx) {
				for id, text := range want {
					d := tx.Document(id)
					if got := d.HPath() + "\n" + markup.Kramdown(d.Root); got != text {
						rt.Fatalf("handle %d, document %s holds\n%s\nwant\n%s", i, id, got, text)
					}
				}
			})
		}
		wantIndexed(t, handles[0])
		problems, err := handles[0].Check(t.Context(), nil)
		if err != nil || len(problems) > 0 {
			rt.Fatalf("the check finds %v, error %v", problems, err)
		}
	})
}

// addDocument adds a document at the top of a notebook or below a random one of docs, and returns its id.
func addDocument(rt *rapid.T, tx *workspace.Tx, docs []string) string {
	boxes := tx.Notebooks()
	if len(boxes) < 2 {
		tx.CreateNotebook(fmt.Sprint("Notebook ", len(boxes)))
		boxes = tx.Notebooks()
	}
	box := rapid.SampledFrom(boxes).Draw(rt, "box")
	var parent *tree.Document
	if len(docs) > 0 && rapid.Bool().Draw(rt, "below another") {
		parent = tx.Document(rapid.SampledFrom(docs).Draw(rt, "parent"))
		box = parent.Box
	}
	text := rapid.SampledFrom(samples).Draw(rt, "first") + "\n\n" + rapid.SampledFrom(samples).Draw(rt, "second")
	return tx.AddDocument(box, parent, rapid.SampledFrom([]string{"A", "计划", "b c"}).Draw(rt, "title"), "", tx.Identify(markup.Parse(text))).ID()
}

// removeDocument removes a document with all below it, and returns the ids of those that are left.
func removeDocument(tx *workspace.Tx, id string, docs []string, want map[string]string) []string {
	d := tx.Document(id)
	for _, gone := range tx.Below(d) {
		docs = slices.DeleteFunc(docs, func(id string) bool { return id == gone.ID() })
		delete(want, gone.ID())
	}
	tx.RemoveDocument(d)
	return docs
}

// changeRandomly makes one random change to a document.
func changeRandomly(rt *rapid.T, tx *workspace.Tx, d *tree.Document, docs []string) {
	var blocks []*tree.Block
	d.Root.Walk(func(b *tree.Block) { blocks = append(blocks, b) })
	b := rapid.SampledFrom(blocks).Draw(rt, "block")
	switch rapid.IntRange(0, 11).Draw(rt, "change") {
	case 0, 1, 2:
		at := rapid.IntRange(0, len(d.Root.Children)).Draw(rt, "at")
		d.Root.Insert(at, tx.Identify(markup.Parse(rapid.SampledFrom(samples).Draw(rt, "inserted")))...)
	case 3:
		if len(d.Root.Children) > 1 && b.Parent == d.Root {
			b.Cut()
		}
	case 4:
		if b.Kind == tree.Paragraph {
			b.Text = rapid.SampledFrom([]string{"changed", "改了 **bold**"}).Draw(rt, "text")
		}
	case 5:
		b.Attrs["custom-x"] = rapid.SampledFrom([]string{"1", "值 <&>\"{}"}).Draw(rt, "value")
	case 6:
		if b.Parent == d.Root {
			b.Cut()
			d.Root.Insert(rapid.IntRange(0, len(d.Root.Children)).Draw(rt, "to"), b)
			b.Stamp()
		}
	case 7:
		d.Root.Attrs["title"] = rapid.SampledFrom([]string{"Renamed", "改名"}).Draw(rt, "title")
	case 8:
		to := tx.Document(rapid.SampledFrom(docs).Draw(rt, "target"))
		if !to.Inside(d) && to.Depth() < 5 {
			tx.MoveDocument(d, to.Box, to)
		}
	case 9: // a block moves into another document
		to := tx.Document(rapid.SampledFrom(docs).Draw(rt, "target"))
		if len(d.Root.Children) > 1 && b.Parent == d.Root {
			b.Cut()
			to.Root.Insert(rapid.IntRange(0, len(to.Root.Children)).Draw(rt, "to"), b)
		}
	case 10: // the last block of a quote moves out of it, behind the quote
		if up := b.Parent; up != nil && up.Kind == tree.Quote && len(up.Children) > 1 && up.Children[len(up.Children)-1] == b {
			b.Cut()
			up.Parent.Insert(up.Index()+1, b)
		}
	case 11: // a new block refers to this one with dynamic anchors
		if b.Kind != tree.Doc {
			d.Root.Insert(0, tx.Identify(markup.Parse("see (("+b.ID+" 'x')) and (("+b.ID+" 'x'))"))...)
		}
	}
}
