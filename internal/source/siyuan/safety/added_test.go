package safety_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/document"
	"collie/internal/source/siyuan/fs"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// runAdding runs an action that adds a document, with the rules of safe writing, and returns its result.
func (b *writeFixture) runAdding(t *testing.T, actions []*action.Action, name, args string) gjson.Result {
	t.Helper()
	i := slices.IndexFunc(actions, func(a *action.Action) bool { return a.Name == name })
	r := b.Request(t, actions[i], args)
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := b.writes.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return gjson.ParseBytes(raw)
}

// newestWrite returns the write that was recorded last.
func (b *writeFixture) newestWrite(t *testing.T) *safety.Entry {
	t.Helper()
	all, err := b.writes.List()
	if err != nil || len(all) == 0 {
		t.Fatalf("writes %v, %v", all, err)
	}
	return &all[0]
}

// A document that a write added is removed when the write is undone. When that is undone it comes back, with what was
// put into it since.
func TestUndoOfAnAddedDocument(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(b *writeFixture) gjson.Result{
		"fs.write": func(b *writeFixture) gjson.Result {
			return b.runAdding(t, fs.Tool().Actions, "write", `{"path":"/Notes/New 新","markdown":"added"}`)
		},
		"document.create": func(b *writeFixture) gjson.Result {
			nb, _, err := b.Client.PathByID(t.Context(), kernel.ID(b.doc))
			if err != nil {
				t.Fatal(err)
			}
			return b.runAdding(t, document.Tool().Actions, "create", fmt.Sprintf(`{"notebook":%q,"path":"/New","markdown":"added"}`, nb))
		},
		"document.duplicate": func(b *writeFixture) gjson.Result {
			return b.runAdding(t, document.Tool().Actions, "duplicate", fmt.Sprintf(`{"id":%q}`, b.doc))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWriteFixture(t, safety.Auto)
			got := add(b)
			id := kernel.ID(got.Get("id").String())
			if _, err := b.Client.Append(t.Context(), id, "markdown", "put in since"); err != nil {
				t.Fatal(err)
			}
			before, err := b.Client.Kramdown(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.undo(t, got.Get("requestId").String()); err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.Client.PathByID(t.Context(), id); tool.KindOf(err) != tool.NotFound {
				t.Fatalf("it is still there: %v", err)
			}
			if b.documentText(t) == "" {
				t.Error("another document is gone")
			}
			removal := b.newestWrite(t)
			if removal.Action != "remove" || !removal.CanUndo() {
				t.Fatalf("the removal is not on record: %+v", removal)
			}
			if err := b.writes.Restore(t.Context(), b.Client, removal); err != nil {
				t.Fatal(err)
			}
			if after, err := b.Client.Kramdown(t.Context(), id); err != nil || !strings.Contains(after, "put in since") {
				t.Errorf("it came back as %q, %v; it was %q", after, err, before)
			}
			if err := b.undo(t, got.Get("requestId").String()); tool.KindOf(err) != tool.Conflicting {
				t.Errorf("undone twice: %v", err)
			}
		})
	}
}

// An added document is not removed while other documents are below it, and a document that was overwritten does not
// count as added.
func TestUndoRemovesOnlyWhatWasAdded(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	parent := b.runAdding(t, fs.Tool().Actions, "write", `{"path":"/Notes/New","markdown":"added"}`).Get("requestId").String()
	child := b.runAdding(t, fs.Tool().Actions, "write", `{"path":"/Notes/New/Child","markdown":"below"}`)
	if err := b.undo(t, parent); tool.KindOf(err) != tool.Conflicting || !strings.Contains(err.Error(), "below") {
		t.Fatalf("with a document below it: %v", err)
	}
	overwritten := b.runAdding(t, fs.Tool().Actions, "write", `{"path":"/Notes/New/Child","markdown":"anew","overwrite":true}`).Get("requestId").String()
	if e, err := b.writes.Get(overwritten); err != nil || e.Added != "" {
		t.Fatalf("overwriting counts as adding: %+v, %v", e, err)
	}
	if err := b.undo(t, overwritten); err != nil {
		t.Fatal(err)
	}
	if err := b.undo(t, child.Get("requestId").String()); err != nil {
		t.Fatal(err)
	}
	if err := b.undo(t, parent); err != nil {
		t.Fatal(err)
	}
	e, err := b.writes.Get(b.runAdding(t, fs.Tool().Actions, "write", `{"path":"/Notes/Gone","markdown":"x"}`).Get("requestId").String())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Client.RemoveDocument(t.Context(), e.Added); err != nil {
		t.Fatal(err)
	}
	if err := b.undo(t, e.ID); tool.KindOf(err) != tool.NotFound {
		t.Errorf("it is gone already, and undo says %v", err)
	}
}

// Blocks that a write added are removed when the write is undone, and come back to their place when that is undone.
func TestUndoOfAddedBlocks(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]struct {
		text   string // of the document before
		action string
		args   func(b *writeFixture) string
	}{
		"append": {text: "one\n\ntwo", action: "append", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"a 新\n\n* b\n* c"}`, b.doc)
		}},
		"prepend": {text: "one\n\ntwo", action: "prepend", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"a\n\nb"}`, b.doc)
		}},
		"to an empty": {text: "", action: "append", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"a\n\nb"}`, b.doc)
		}},
		"insert between": {text: "one\n\ntwo", action: "insert", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"nextID":%q,"dataType":"markdown","data":"a\n\n> b"}`, b.blocks[1].ID)
		}},
		"insert in several places": {text: "one\n\ntwo", action: "insert", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"blocks":[{"nextID":%q,"dataType":"markdown","data":"a"},{"previousID":%q,"dataType":"markdown","data":"b"}]}`, b.blocks[0].ID, b.blocks[1].ID)
		}},
		"items of a list": {text: "* one\n* two", action: "append", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"* a\n* b"}`, b.blocks[0].ID)
		}},
		"behind what is updated": {text: "one\n\ntwo", action: "update", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"id":%q,"dataType":"markdown","data":"a\n\nb\n\nc"}`, b.blocks[0].ID)
		}},
		"behind several that are updated": {text: "one\n\ntwo", action: "update", args: func(b *writeFixture) string {
			return fmt.Sprintf(`{"items":[{"id":%q,"dataType":"markdown","data":"a\n\nb"},{"id":%q,"dataType":"markdown","data":"c\n\nd"}]}`, b.blocks[0].ID, b.blocks[1].ID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWriteFixture(t, safety.Auto)
			nb, _, err := b.Client.PathByID(t.Context(), kernel.ID(b.doc))
			if err != nil {
				t.Fatal(err)
			}
			b.doc = b.Doc(string(nb), "/Added to", write.text)
			if b.blocks, err = b.Client.ChildBlocks(t.Context(), kernel.ID(b.doc)); err != nil {
				t.Fatal(err)
			}
			before := b.documentText(t)
			got, err := b.runBlockAction(t, write.action, write.args(b))
			if err != nil {
				t.Fatal(err)
			}
			added := b.documentText(t)
			if added == before {
				t.Fatal("nothing was added")
			}
			if err := b.undo(t, got.Get("requestId").String()); err != nil {
				t.Fatal(err)
			}
			if text := b.documentText(t); text != before {
				t.Fatalf("it was %q and is %q", before, text)
			}
			removal := b.newestWrite(t)
			if removal.Action != "delete" || !removal.CanUndo() {
				t.Fatalf("the removal is not on record: %+v", removal)
			}
			if write.action == "update" { // its undo has changed other blocks as well
				return
			}
			if err := b.writes.Restore(t.Context(), b.Client, removal); err != nil {
				t.Fatal(err)
			}
			if text := b.documentText(t); text != added {
				t.Errorf("it came back as %q, it was %q", text, added)
			}
		})
	}
}

// Undo removes what is left of the added blocks, also after some were deleted, moved or changed. If none is left, it
// says so.
func TestUndoOfAddedBlocksThatChanged(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	before := b.documentText(t)
	got, err := b.runBlockAction(t, "append", fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"a\n\nb\n\nc"}`, b.doc))
	if err != nil {
		t.Fatal(err)
	}
	id := func(i int) string { return got.Get(fmt.Sprintf("createdBlockIDs.%d", i)).String() }
	for action, args := range map[string]string{
		"delete": fmt.Sprintf(`{"id":%q}`, id(1)), "move": fmt.Sprintf(`{"id":%q,"parentID":%q}`, id(2), b.doc),
		"update": fmt.Sprintf(`{"id":%q,"dataType":"markdown","data":"changed since"}`, id(0)),
	} {
		if _, err := b.runBlockAction(t, action, args); err != nil {
			t.Fatalf("%s: %v", action, err)
		}
	}
	request := got.Get("requestId").String()
	if err := b.undo(t, request); err != nil {
		t.Fatal(err)
	}
	if text := b.documentText(t); text != before {
		t.Fatalf("it was %q and is %q", before, text)
	}
	if err := b.writes.Restore(t.Context(), b.Client, b.newestWrite(t)); err != nil {
		t.Fatal(err)
	}
	if text := b.documentText(t); !strings.Contains(text, "changed since") || !strings.Contains(text, "c") {
		t.Errorf("it came back as %q", text)
	}
	again, err := b.runBlockAction(t, "append", fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"gone"}`, b.doc))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.runBlockAction(t, "delete", fmt.Sprintf(`{"id":%q}`, again.Get("id"))); err != nil {
		t.Fatal(err)
	}
	if err := b.undo(t, again.Get("requestId").String()); tool.KindOf(err) != tool.NotFound {
		t.Errorf("all is gone already, and undo says %v", err)
	}
}

// If the added blocks are all that is left of a document, undo leaves it empty, and undoing that brings them back.
func TestUndoOfAllThatIsLeft(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	got, err := b.runBlockAction(t, "append", fmt.Sprintf(`{"parentID":%q,"dataType":"markdown","data":"a\n\nb"}`, b.doc))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range b.blocks {
		if _, err := b.runBlockAction(t, "delete", fmt.Sprintf(`{"id":%q}`, other.ID)); err != nil {
			t.Fatal(err)
		}
	}
	added := b.documentText(t)
	if err := b.undo(t, got.Get("requestId").String()); err != nil {
		t.Fatal(err)
	}
	if text := b.documentText(t); text != "" {
		t.Errorf("there is still %q", text)
	}
	if err := b.writes.Restore(t.Context(), b.Client, b.newestWrite(t)); err != nil {
		t.Fatal(err)
	}
	if text := b.documentText(t); text != added {
		t.Errorf("it came back as %q, it was %q", text, added)
	}
}
