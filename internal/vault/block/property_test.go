package block_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// TestEditsKeepTreesSound makes random changes. After each one the trees must be sound, with no block in two places. In the
// end another opening of the file must read the same documents.
func TestEditsKeepTreesSound(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	other, err := workspace.Open(t.Context(), v.Workspace.Path(), workspace.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	rapid.Check(t, func(r *rapid.T) {
		a, _ := v.createDocument("A", "# One\n\ntext\n\n- a\n  - b\n- c\n\n> quote")
		b, _ := v.createDocument("B", "only")
		for i := range rapid.IntRange(1, 8).Draw(r, "changes") {
			ids := append(v.allIDs(a), v.allIDs(b)...)
			id := func(label string) string { return rapid.SampledFrom(ids).Draw(r, label) }
			data := rapid.SampledFrom([]string{
				"plain", "- x\n- y", "1. n\n   - m", "> q\n>\n> r", "## h", "```\ncode\n```", "", "- [ ] task", "a\n\nb", "{{{row\nl\n\nr\n\n}}}",
			}).Draw(r, "data")
			write := object{"dataType": "markdown", "data": data}
			path := rapid.SampledFrom([]string{
				"appendBlock", "prependBlock", "insertBlock", "updateBlock", "moveBlock", "moveBlock", "deleteBlock",
			}).Draw(r, "what")
			switch path {
			case "appendBlock", "prependBlock":
				write["parentID"] = id("parent")
			case "insertBlock":
				write[rapid.SampledFrom([]string{"parentID", "previousID", "nextID"}).Draw(r, "anchor")] = id("at")
			case "updateBlock":
				write["id"] = id("block")
			case "moveBlock":
				write = object{"id": id("block"), rapid.SampledFrom([]string{"parentID", "previousID"}).Draw(r, "anchor"): id("to")}
			case "deleteBlock":
				write = object{"id": id("block")}
			}
			before := len(ids)
			code := v.Answer("/api/block/"+path, write).Get("code").Int()
			after := len(v.allIDs(a)) + len(v.allIDs(b))
			if path == "moveBlock" && code == 0 && v.Ask("/api/block/getBlockTreeInfos", object{"ids": []any{write["id"]}}).Raw == "{}" {
				r.Fatalf("change %d: the block that was moved is gone: %v", i, write)
			}
			if code != 0 && before != after {
				r.Fatalf("change %d: refused, and yet there are %d blocks instead of %d: %v", i, after, before, write)
			}
			v.wantSoundTree(a)
			v.wantSoundTree(b)
		}
		for _, id := range []string{a, b} {
			if got, want := v.withWorkspace(other).kramdown(id), v.kramdown(id); got != want {
				r.Fatalf("another process reads\n%s\ninstead of\n%s", got, want)
			}
		}
	})
}

// allIDs returns the ids of a document and of all blocks in it.
func (v *vault) allIDs(id string) (ids []string) {
	v.T.Helper()
	_ = v.Workspace.View(v.T.Context(), func(tx *workspace.Tx) error {
		tx.Document(id).Root.Walk(func(b *tree.Block) { ids = append(ids, b.ID) })
		return nil
	})
	return ids
}

// treeFaults describes what is wrong with the tree of a document: ids that occur twice, items outside of lists, empty containers.
func treeFaults(d *tree.Document) (wrong []string) {
	seen := map[string]bool{}
	d.Root.Walk(func(b *tree.Block) {
		switch {
		case seen[b.ID] || !tree.ValidID(b.ID) || b.Attrs["id"] != b.ID:
			wrong = append(wrong, fmt.Sprintf("block %q (attribute %q) is there twice or malformed", b.ID, b.Attrs["id"]))
		case b.Container() && len(b.Children) == 0:
			wrong = append(wrong, fmt.Sprintf("%s %s is empty", b.Kind, b.ID))
		case b.Parent != nil && (b.Parent.Kind == tree.List) != (b.Kind == tree.Item):
			wrong = append(wrong, fmt.Sprintf("%s %s lies in a %s", b.Kind, b.ID, b.Parent.Kind))
		case b.Parent != nil && !slices.Contains(b.Parent.Children, b), b.Doc != d:
			wrong = append(wrong, fmt.Sprintf("%s %s does not know where it lies", b.Kind, b.ID))
		}
		seen[b.ID] = true
	})
	return wrong
}

// TestParallelAppends appends blocks at the same time through two openings of one file. No block may be lost.
func TestParallelAppends(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	id, _ := v.createDocument("Doc", "first")
	other, err := workspace.Open(t.Context(), v.Workspace.Path(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	second := v.withWorkspace(other)
	const each = 15
	var group sync.WaitGroup
	for _, one := range []*vault{v, second, v, second} {
		group.Go(func() {
			for i := range each {
				one.Ask("/api/block/appendBlock", object{"dataType": "markdown", "data": fmt.Sprint("text ", i), "parentID": id})
			}
		})
	}
	group.Wait()
	for _, one := range []*vault{v, second} {
		if got := len(one.childIDs(id)); got != 1+4*each {
			t.Errorf("%d blocks, want %d", got, 1+4*each)
		}
	}
	v.wantSoundTree(id)
}
