package safety_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/av"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
	"collie/internal/tool"
)

// A database block has no text that a hash could be compared to, so the content of the database is.
func TestIfMatchOfADatabase(t *testing.T) {
	t.Parallel()
	const id = kernel.ID("20240801120000-avmain1")
	b := newWriteFixture(t, safety.Auto)
	do := func(name, args string) (gjson.Result, error) {
		actions := av.Tool().Actions
		r := b.Request(t, actions[slices.IndexFunc(actions, func(a *action.Action) bool { return a.Name == name })], args)
		if err := r.Check(t.Context()); err != nil {
			return gjson.Result{}, err
		}
		if !r.Action.Class.Writes() {
			raw, err := r.Run(t.Context())
			return gjson.ParseBytes(raw), err
		}
		raw, err := b.writes.Do(t.Context(), r)
		return gjson.ParseBytes(raw), err
	}
	if _, err := do("render", fmt.Sprintf(`{"id":%q,"createIfNotExist":true,"blockID":%q}`, id, b.doc)); err != nil {
		t.Fatal(err)
	}
	added, err := do("add_rows", fmt.Sprintf(`{"avID":%q,"primaryKeyTexts":["row"]}`, id))
	if err != nil {
		t.Fatal(err)
	}
	db, err := b.Client.Database(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text, more string) (gjson.Result, error) {
		return do("set_cells", fmt.Sprintf(`{"avID":%q,"rowID":%q,"columnID":%q,"valueType":"text","text":%q%s}`,
			id, added.Get("rows.0.rowID").Str, db.Columns[0].Column.ID, text, more))
	}
	preview, err := write("mine", `,"validateOnly":true`)
	if err != nil {
		t.Fatal(err)
	}
	match := fmt.Sprintf(`,"ifMatch":%q`, preview.Get("expectedHash").Str)
	if _, err := write("mine", match); err != nil {
		t.Fatalf("nothing has changed: %v", err)
	}
	_, err = write("mine again", match)
	wantCode(t, err, tool.StateChanged, "state_changed")
}

// With strict writing, a call that is classified as reading writes nothing either.
func TestStrictWritingMakesNoDatabase(t *testing.T) {
	t.Parallel()
	const id = kernel.ID("20240801120000-avmain1")
	b := newWriteFixture(t, safety.Strict)
	actions := av.Tool().Actions
	render := actions[slices.IndexFunc(actions, func(a *action.Action) bool { return a.Name == "render" })]
	r := b.Request(t, render, fmt.Sprintf(`{"id":%q,"createIfNotExist":true,"blockID":%q}`, id, b.doc))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(b.Writes())
	_, err := b.writes.Do(t.Context(), r)
	wantCode(t, err, tool.Conflict+"/write_safety_error", "precondition_required")
	if n := len(b.Writes()) - before; n != 0 {
		t.Errorf("%d writes", n)
	}
}
