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

// add runs an action that adds a document.
func (b *bench) add(t *testing.T, actions []*action.Action, name, args string) gjson.Result {
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

// newest returns the write that was recorded last.
func (b *bench) newest(t *testing.T) *safety.Entry {
	t.Helper()
	all, err := b.writes.List()
	if err != nil || len(all) == 0 {
		t.Fatalf("writes %v, %v", all, err)
	}
	return &all[0]
}

// A document that a write added is removed when the write is undone, and comes back when that is undone, with what was put into it since.
func TestUndoOfAnAddedDocument(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(b *bench) gjson.Result{
		"fs.write": func(b *bench) gjson.Result {
			return b.add(t, fs.Tool().Actions, "write", `{"path":"/Notes/New 新","markdown":"added"}`)
		},
		"document.create": func(b *bench) gjson.Result {
			nb, _, err := b.Client.PathByID(t.Context(), kernel.ID(b.doc))
			if err != nil {
				t.Fatal(err)
			}
			return b.add(t, document.Tool().Actions, "create", fmt.Sprintf(`{"notebook":%q,"path":"/New","markdown":"added"}`, nb))
		},
		"document.duplicate": func(b *bench) gjson.Result {
			return b.add(t, document.Tool().Actions, "duplicate", fmt.Sprintf(`{"id":%q}`, b.doc))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, safety.Auto)
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
			if b.text(t) == "" {
				t.Error("another document is gone")
			}
			removal := b.newest(t)
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

// What lies below a document that was added is not removed with it, and a document that was overwritten is never taken for an added one.
func TestUndoRemovesOnlyWhatWasAdded(t *testing.T) {
	t.Parallel()
	b := newBench(t, safety.Auto)
	parent := b.add(t, fs.Tool().Actions, "write", `{"path":"/Notes/New","markdown":"added"}`).Get("requestId").String()
	child := b.add(t, fs.Tool().Actions, "write", `{"path":"/Notes/New/Child","markdown":"below"}`)
	if err := b.undo(t, parent); tool.KindOf(err) != tool.Conflicting || !strings.Contains(err.Error(), "below") {
		t.Fatalf("with a document below it: %v", err)
	}
	overwritten := b.add(t, fs.Tool().Actions, "write", `{"path":"/Notes/New/Child","markdown":"anew","overwrite":true}`).Get("requestId").String()
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
	e, err := b.writes.Get(b.add(t, fs.Tool().Actions, "write", `{"path":"/Notes/Gone","markdown":"x"}`).Get("requestId").String())
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
