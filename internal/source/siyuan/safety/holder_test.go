package safety_test

import (
	"fmt"
	"testing"

	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
)

// TestUndoOfABlockThatStoodAlone undoes the removal of blocks without siblings: the kernel removes the list of an only
// item as well, and fills a document that would be empty.
func TestUndoOfABlockThatStoodAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		markdown string
		path     []int // to the block, each step an index among the children
	}{
		"in the document":         {"only 唯一", []int{0}},
		"an item":                 {"# before\n\n- only\n\nafter", []int{1, 0}},
		"an item of the document": {"- only", []int{0, 0}},
		"an item in an item":      {"before\n\n- outer\n  - inner\n    - innermost\n\nafter", []int{1, 0, 1, 0}},
		"the innermost":           {"- outer\n  - inner\n    - innermost\n\nafter", []int{0, 0, 1, 0, 1, 0}},
		"a quoted paragraph":      {"before\n\n> quoted\n\nafter", []int{1, 0}},
		"an item beside another":  {"before\n\n- one\n- two\n\nafter", []int{1, 1}},
		"the first item":          {"before\n\n1. one\n2. two\n\nafter", []int{1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWriteFixture(t, safety.Auto)
			doc := kernel.ID(b.Doc(b.Notebook("More"), "/Alone", c.markdown))
			at := doc
			for _, n := range c.path {
				children, err := b.Client.ChildBlocks(t.Context(), at)
				if err != nil || n >= len(children) {
					t.Fatalf("children of %s: %v, %v", at, children, err)
				}
				at = children[n].ID
			}
			before, err := content.DocumentHash(t.Context(), b.Client, doc)
			if err != nil {
				t.Fatal(err)
			}
			text, err := b.Client.Kramdown(t.Context(), doc)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.runBlockAction(t, "delete", fmt.Sprintf(`{"id":%q}`, at))
			if err != nil {
				t.Fatal(err)
			}
			if err := b.undo(t, got.Get("requestId").String()); err != nil {
				t.Fatal(err)
			}
			after, err := content.DocumentHash(t.Context(), b.Client, doc)
			if err != nil {
				t.Fatal(err)
			}
			if after != before {
				now, _ := b.Client.Kramdown(t.Context(), doc)
				t.Errorf("after undo\n%s\nbefore\n%s", now, text)
			}
		})
	}
}
