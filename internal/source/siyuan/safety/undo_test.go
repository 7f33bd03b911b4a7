package safety_test

import (
	"fmt"
	"strings"
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// undo undoes the write with an id.
func (b *writeFixture) undo(t *testing.T, id string) error {
	t.Helper()
	e, err := b.writes.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	return b.writes.Restore(t.Context(), b.Client, e)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T, b *writeFixture) string{
		"update": func(t *testing.T, b *writeFixture) string {
			got, err := b.updateBlock(t, 1, "something else", "")
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
		"delete": func(t *testing.T, b *writeFixture) string {
			got, err := b.runBlockAction(t, "delete", fmt.Sprintf(`{"id":%q}`, b.blocks[1].ID))
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
		"delete the first": func(t *testing.T, b *writeFixture) string {
			got, err := b.runBlockAction(t, "delete", fmt.Sprintf(`{"id":%q}`, b.blocks[0].ID))
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
		"replace": func(t *testing.T, b *writeFixture) string {
			got, err := b.runBlockAction(t, "replace", fmt.Sprintf(`{"id":%q,"edit":{"old":"second","new":"2nd"}}`, b.blocks[1].ID))
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
		"replace by more": func(t *testing.T, b *writeFixture) string {
			got, err := b.runBlockAction(t, "replace", fmt.Sprintf(`{"id":%q,"edit":{"old":"second","new":"second\n\nmore\n\n- a\n- b"}}`, b.blocks[1].ID))
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
		"replace and split": func(t *testing.T, b *writeFixture) string {
			got, err := b.runBlockAction(t, "replace", fmt.Sprintf(`{"id":%q,"edit":{"old":"eco","new":"e\n\nco"}}`, b.blocks[1].ID))
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
		"replace in a document": func(t *testing.T, b *writeFixture) string {
			got, err := b.runBlockAction(t, "replace", fmt.Sprintf(`{"id":%q,"edit":{"old":"eco","new":"e\n\nco"}}`, b.doc))
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
		"overwrite": func(t *testing.T, b *writeFixture) string {
			got, err := b.runBlockAction(t, "update", fmt.Sprintf(`{"id":%q,"dataType":"markdown","data":"all new"}`, b.doc))
			if err != nil {
				t.Fatal(err)
			}
			return got.Get("requestId").String()
		},
	}
	for name, write := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newWriteFixture(t, safety.Auto)
			before := b.documentText(t)
			id := write(t, b)
			if b.documentText(t) == before {
				t.Fatal("the write changed nothing")
			}
			if err := b.undo(t, id); err != nil {
				t.Fatal(err)
			}
			if got := b.documentText(t); got != before {
				t.Errorf("after undo %q, before the write %q", got, before)
			}
			if err := b.undo(t, id); tool.KindOf(err) != tool.Conflicting {
				t.Errorf("undone twice: %v", err)
			}
		})
	}
}

func TestUndoBringsAttributesBack(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	id := b.blocks[0].ID
	if err := b.Client.SetAttrs(t.Context(), id, map[string]string{"memo": "old 旧", "custom-x": "1"}); err != nil {
		t.Fatal(err)
	}
	got, err := b.runBlockAction(t, "set_attrs", fmt.Sprintf(`{"id":%q,"attrs":{"memo":"new","custom-x":"","custom-New":"2"}}`, id))
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.writes.Get(got.Get("requestId").String())
	if err != nil || e.Inverse == nil {
		t.Fatalf("entry %+v, %v", e, err)
	}
	if _, err := b.updateBlock(t, 0, "written in between", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := b.runBlockAction(t, e.Inverse.Action, string(e.Inverse.Args)); err != nil {
		t.Fatal(err)
	}
	if text := b.documentText(t); !strings.Contains(text, "written in between") {
		t.Errorf("the text is %q", text)
	}
	attrs, err := b.Client.Attrs(t.Context(), id)
	if err != nil || attrs["memo"] != "old 旧" || attrs["custom-x"] != "1" || attrs["custom-new"] != "" {
		t.Errorf("attributes %v, %v", attrs, err)
	}
}

func TestUndoOfARemovedDocument(t *testing.T) {
	t.Parallel()
	b := newWriteFixture(t, safety.Auto)
	got, err := b.updateBlock(t, 0, "changed", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Client.RemoveDocument(t.Context(), kernel.ID(b.doc)); err != nil {
		t.Fatal(err)
	}
	if err := b.undo(t, got.Get("requestId").String()); tool.KindOf(err) != tool.NotFound {
		t.Errorf("the document is gone, and undo says %v", err)
	}
	if _, err := b.writes.Get("../../etc/passwd"); tool.KindOf(err) != tool.NotFound {
		t.Errorf("an id that is a path: %v", err)
	}
}
