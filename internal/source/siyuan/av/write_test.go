package av_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

// columnIDs returns the ids of the columns in the order of the view.
func (w *workspace) columnIDs() []string {
	w.t.Helper()
	return textsIn(w.Must(w.t, findAction(w.t, "render"), args("id", db)).Get("table.columns.#.id"))
}

// rowIDs returns the ids of the rows in the order of the view.
func (w *workspace) rowIDs() []string {
	w.t.Helper()
	return textsIn(w.Must(w.t, findAction(w.t, "render"), args("id", db)).Get("table.rows.#.id"))
}

func TestRename(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "rename")
	got := w.Must(t, a, args("avID", db, "name", "Projekte 项目"))
	if !got.Get("success").Bool() || got.Get("blockID").Str != string(dbBlock) {
		t.Errorf("got %s", got.Raw)
	}
	d, err := w.Client.Database(t.Context(), db)
	if err != nil || d.Name != "Projekte 项目" {
		t.Errorf("name %v, %v", d, err)
	}
	attrs, err := w.Client.Attrs(t.Context(), dbBlock)
	if err != nil || attrs["updated"] == "20240801120000" {
		t.Errorf("the block does not count as changed: %v, %v", attrs, err)
	}
	w.checkGuarded(a, access.Write, func(id kernel.ID) string { return args("avID", id, "name", "x") })
}

// A write that the kernel answers with success without doing it is reported as pending verification.
func TestWritesThatDoNotShow(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.FreezeDatabases(true)
	for name, call := range map[string]string{
		"rename":        args("avID", db, "name", "x"),
		"add_rows":      args("avID", db, "primaryKeyTexts", []string{"x"}),
		"remove_rows":   args("avID", db, "srcIDs", []kernel.ID{own}),
		"add_column":    args("avID", db, "keyName", "x", "keyType", "text"),
		"remove_column": args("avID", db, "keyID", w.text),
		"set_cells":     args("avID", db, "rowID", own, "columnID", w.text, "valueType", "text", "text", "x"),
	} {
		w.ResetCalls()
		_, err := w.Do(t, findAction(t, name), call)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != kernel.Mismatch || !e.OutcomeUnknown || e.Facts["transactionState"] != "pending_verification" || e.Facts["retryAllowed"] != false {
			t.Errorf("%s: %#v", name, err)
			continue
		}
		if e.Hint == "" || len(w.Writes()) != 1 {
			t.Errorf("%s: %d writes, hint %q", name, len(w.Writes()), e.Hint)
		}
	}
}

// No action finds a database by an empty id.
func TestEmptyIDs(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	for name, call := range map[string]string{
		"get":                            args("id", ""),
		"render":                         args("id", "", "createIfNotExist", true),
		"get_attribute_view_keys":        args("id", ""),
		"get_attribute_view_filter_sort": args("id", ""),
		"rename":                         args("avID", "", "name", "x"),
		"add_rows":                       args("avID", "", "primaryKeyTexts", []string{"x"}),
		"remove_rows":                    args("avID", "", "srcIDs", []kernel.ID{own}),
		"add_column":                     args("avID", "", "keyName", "x", "keyType", "text"),
		"remove_column":                  args("avID", "", "keyID", w.text),
		"set_cells":                      args("avID", "", "rowID", own, "columnID", w.text, "valueType", "text", "text", "x"),
		"duplicate":                      args("avID", ""),
		"get_primary_key_values":         args("avID", ""),
	} {
		w.Refused(w.t, findAction(t, name), call, tool.NotFound)
	}
}

// A write whose answer is lost is not tried again.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.Fail("/api/transactions", 1, kerneltest.FailLost)
	w.ResetCalls()
	_ = w.Failed(t, findAction(t, "add_rows"), args("avID", db, "primaryKeyTexts", []string{"once"}), kernel.OutcomeUnknown)
	if n := len(w.Writes()); n != 1 {
		t.Errorf("%d writes", n)
	}
	if got := len(w.rowIDs()); got != 4 {
		t.Errorf("%d rows", got)
	}
}

func TestAddRows(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "add_rows")
	doc := kernel.ID(w.Doc(string(w.home), "/New", "new row"))
	got := w.Must(t, a, args("avID", db, "blockIDs", []kernel.ID{doc, w.open}, "primaryKeyTexts", []string{"first", "第二"}))
	if got.Get("added").Int() != 3 || got.Get("rows.#").Int() != 4 || got.Get("rows.1.rowID").Str != string(rowA) || !got.Get("rows.1.existing").Bool() {
		t.Errorf("got %s", got.Raw)
	}
	ids := textsIn(got.Get("rows.#.rowID"))
	if slices.Contains(ids, string(doc)) {
		t.Error("a row has the id of its block")
	}
	want := []string{ids[0], ids[2], ids[3], string(rowA), string(rowS), string(own)} // new rows come first
	if diff := cmp.Diff(want, w.rowIDs()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	got = w.Must(t, a, args("avID", db, "primaryKeyTexts", []string{"last"}, "previousID", own))
	if rows := w.rowIDs(); rows[len(rows)-1] != got.Get("rows.0.rowID").Str {
		t.Errorf("not after the row: %v", rows)
	}
	w.ResetCalls()
	if got = w.Must(t, a, args("avID", db, "blockIDs", []kernel.ID{w.open})); got.Get("added").Int() != 0 || len(w.Writes()) != 0 {
		t.Errorf("what is a row already: %s", got.Raw)
	}
	w.checkGuarded(a, access.Write, func(id kernel.ID) string { return args("avID", id, "primaryKeyTexts", []string{"x"}) })
}

func TestAddRowsRefuses(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "add_rows")
	w.Refused(w.t, a, args("avID", db), tool.Conflicting)
	w.Refused(w.t, a, args("avID", db, "primaryKeyTexts", []string{""}), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "primaryKeyTexts", []string{" \t"}), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "blockIDs", []kernel.ID{""}), tool.Invalid) // not a row that is bound to nothing
	w.Refused(w.t, a, args("avID", db, "primaryKeyTexts", []string{"x"}, "groupID", actiontest.Nowhere), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "blockIDs", []kernel.ID{actiontest.Nowhere}), tool.NotFound)
	w.Refused(w.t, a, args("avID", db, "primaryKeyTexts", []string{"x"}, "viewID", actiontest.Nowhere), tool.Invalid)
	e := w.Refused(w.t, a, args("avID", db, "primaryKeyTexts", []string{"x"}, "previousID", w.open), tool.Invalid)
	if e.Code != "row_id_alias_detected" || e.Facts["suggestedRowID"] != rowA {
		t.Errorf("previousID: %v %v", e.Code, e.Facts)
	}
	w.Levels[w.secret] = access.None // blocks to bind must be readable
	doc := kernel.ID(w.Doc(string(w.secret), "/More", "secret"))
	hidden := w.Refused(w.t, a, args("avID", db, "blockIDs", []kernel.ID{doc}), tool.NotFound)
	missing := w.Refused(w.t, a, args("avID", db, "blockIDs", []kernel.ID{actiontest.Nowhere}), tool.NotFound)
	actiontest.SameRefusal(t, hidden, missing, string(doc), actiontest.Nowhere)
}

func TestRemoveRows(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "remove_rows")
	call := args("avID", db, "srcIDs", []kernel.ID{own, rowA})
	r := w.Request(t, a, call)
	if err := r.Check(t.Context()); err != nil || !strings.Contains(a.Effect(r), "2 rows") || r.Targets("srcIDs")[0].Subject != `"own 游离"` {
		t.Errorf("effect %q on %v: %v", a.Effect(r), r.Targets("srcIDs"), err)
	}
	r = w.Request(t, a, args("avID", db, "srcIDs", []kernel.ID{actiontest.Nowhere}))
	if err := r.Check(t.Context()); tool.KindOf(err) != tool.Invalid {
		t.Errorf("a person would be asked about a row that is not there: %v", err)
	}
	w.checkGuarded(a, access.Write, func(id kernel.ID) string { return args("avID", id, "srcIDs", []kernel.ID{own}) })
	got := w.Must(t, a, call)
	if got.Get("removed").Int() != 2 || got.Get("verification.status").Str != "verified" {
		t.Errorf("got %s", got.Raw)
	}
	if diff := cmp.Diff([]string{string(rowS)}, w.rowIDs()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if _, err := w.Client.Place(t.Context(), w.open); err != nil {
		t.Errorf("the bound block is gone: %v", err)
	}
}

func TestRowIDMistakes(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.setCell(db, rowA, w.text, map[string]any{"type": "text", "text": map[string]any{"content": "x"}})
	value := w.storedValue(rowA, w.text).ID
	for _, c := range []struct {
		id     kernel.ID
		code   string
		fact   string
		expect any
	}{
		{w.open, "row_id_alias_detected", "suggestedRowID", rowA},
		{value, "row_id_alias_detected", "suggestedRowID", rowA},
		{actiontest.Nowhere, "row_id_not_canonical", "candidateRowIDs", []kernel.ID{own, rowA, rowS}},
		{"", "row_id_required", "candidateRowIDs", []kernel.ID{own, rowA, rowS}},
	} {
		for name, call := range map[string]string{
			"remove_rows": args("avID", db, "srcIDs", []kernel.ID{own, c.id}),
			"set_cells": args("avID", db, "cells", []any{
				map[string]any{"rowID": own, "columnID": w.text, "valueType": "text", "text": "a"},
				map[string]any{"rowID": c.id, "columnID": w.text, "valueType": "text", "text": "b"},
			}),
		} {
			e := w.Refused(w.t, findAction(t, name), call, tool.Invalid)
			if e.Code != c.code || e.Facts["reason"] != c.code {
				t.Errorf("%s with %q: %s, want %s", name, c.id, e.Code, c.code)
			}
			if diff := cmp.Diff(c.expect, sortedIDs(e.Facts[c.fact])); diff != "" {
				t.Errorf("%s with %q: %s (-want +got):\n%s", name, c.id, c.fact, diff)
			}
		}
	}
	w.Levels[w.secret] = access.None // a hidden row does not exist under any of its ids
	for _, id := range []kernel.ID{rowS, w.hidden} {
		e := w.Refused(w.t, findAction(t, "remove_rows"), args("avID", db, "srcIDs", []kernel.ID{id}), tool.Invalid)
		actiontest.SameRefusal(t, e, w.Refused(w.t, findAction(t, "remove_rows"), args("avID", db, "srcIDs", []kernel.ID{actiontest.Nowhere}), tool.Invalid), string(id), actiontest.Nowhere)
		if strings.Contains(strings.ReplaceAll(string(e.Payload()), string(id), ""), string(rowS)) {
			t.Errorf("the hidden row is named: %s", e.Payload())
		}
	}
}

// sortedIDs returns a fact with its ids sorted, since they come in the order in which rows are stored.
func sortedIDs(fact any) any {
	if list, ok := fact.([]kernel.ID); ok {
		return slices.Sorted(slices.Values(list))
	}
	return fact
}

func TestRowIDsThatSeveralRowsHave(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.NeedsVault("it keeps databases in memory, and makes no two rows of one id")
	file := "/data/storage/av/" + string(db) + ".json"
	raw, err := w.Client.ReadFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	w.File(file, []byte(strings.ReplaceAll(string(raw), string(rowS), string(rowA))))
	if e := w.Refused(w.t, findAction(t, "remove_rows"), args("avID", db, "srcIDs", []kernel.ID{rowA}), tool.Invalid); e.Code != "row_id_ambiguous" {
		t.Errorf("code %s", e.Code)
	}
	w.File(file, []byte(strings.ReplaceAll(string(raw), string(w.hidden), string(w.open))))
	e := w.Refused(w.t, findAction(t, "remove_rows"), args("avID", db, "srcIDs", []kernel.ID{w.open}), tool.Invalid)
	if diff := cmp.Diff([]kernel.ID{rowA, rowS}, sortedIDs(e.Facts["candidateRowIDs"])); e.Code != "row_id_alias_ambiguous" || diff != "" {
		t.Errorf("code %s, candidates (-want +got):\n%s", e.Code, diff)
	}
}

func TestAddColumn(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "add_column")
	for _, kind := range a.Param("keyType").Enum {
		got := w.Must(t, a, args("avID", db, "keyName", "Feld "+kind, "keyType", kind))
		columns := w.columnIDs()
		if id := got.Get("keyID").Str; columns[len(columns)-1] != id || got.Get("keyType").Str != kind {
			t.Errorf("%s: %s, columns %v", kind, got.Raw, columns)
		}
	}
	first := w.Must(t, a, args("avID", db, "keyName", "first", "keyType", "text", "previousKeyID", "", "keyIcon", "1f600"))
	after := w.Must(t, a, args("avID", db, "keyName", "after", "keyType", "text", "previousKeyID", first.Get("keyID").Str, "keyID", "20240801120001-mykeyid"))
	if diff := cmp.Diff([]string{first.Get("keyID").Str, "20240801120001-mykeyid"}, w.columnIDs()[:2]); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if got := w.Must(t, a, args("avID", db, "keyName", "several", "type", "multi_select")); got.Get("keyType").Str != "mSelect" {
		t.Errorf("in the word of set_cells: %s", got.Raw)
	}
	w.Refused(w.t, a, args("avID", db, "keyName", " ", "keyType", "text"), tool.Invalid)
	w.Refused(w.t, findAction(t, "rename"), args("avID", db, "name", " \t"), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "keyName", "again", "keyType", "text", "keyID", after.Get("keyID").Str), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "keyName", "bad", "keyType", "text", "keyID", "x"), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "keyName", "bad", "keyType", "text", "previousKeyID", actiontest.Nowhere), tool.Invalid)
	w.checkGuarded(a, access.Write, func(id kernel.ID) string { return args("avID", id, "keyName", "x", "keyType", "text") })
}

func TestRemoveColumn(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "remove_column")
	w.Refused(w.t, a, args("avID", db, "keyID", actiontest.Nowhere), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "keyID", w.primary), tool.Invalid)
	w.Refused(w.t, a, args("avID", db, "keyID", "", "removeRelationDest", true), tool.Invalid)
	w.checkGuarded(a, access.Write, func(id kernel.ID) string { return args("avID", id, "keyID", w.text) })
	r := w.Request(t, a, args("avID", db, "keyID", w.text))
	if err := r.Check(t.Context()); err != nil || !strings.Contains(a.Effect(r), `"Col text"`) {
		t.Errorf("a person is asked: %s: %v", a.Effect(r), err)
	}
	got := w.Must(t, a, args("avID", db, "columnID", w.text))
	if got.Get("keyName").Str != "Col text" || slices.Contains(w.columnIDs(), string(w.text)) {
		t.Errorf("got %s, columns %v", got.Raw, w.columnIDs())
	}
}

// Removing the other end of a relation writes to the other database.
func TestRemoveColumnWithItsOtherEnd(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "remove_column")
	key := w.addRelation(w.secret)
	call := args("avID", db, "keyID", key, "removeRelationDest", true)
	w.Levels[w.secret] = access.Read
	w.Refused(w.t, a, call, tool.Denied)
	w.Levels[w.secret] = access.None
	if e := w.Refused(w.t, a, call, tool.Denied); strings.Contains(string(e.Payload()), string(other)) {
		t.Errorf("the other database is named: %s", e.Payload())
	}
	delete(w.Levels, w.secret)
	w.Must(t, a, call)
}

// Of a two-way relation the other end changes also where it stays: it becomes an ordinary relation.
func TestRemoveColumnOfATwoWayRelation(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "remove_column")
	key := w.addRelation(w.secret)
	w.relate(key, true)
	w.checkOtherEndGuarded(a, args("avID", db, "keyID", key))
	w.checkOtherEndGuarded(a, args("avID", db, "keyID", key, "removeRelationDest", true))
	w.ResetCalls()
	w.Must(t, a, args("avID", db, "keyID", key))
	w.checkReloaded(db, other)

	key = w.addColumn("relation") // one-way: the other database does not change
	w.relate(key, false)
	w.Levels[w.secret] = access.Read
	w.ResetCalls()
	w.Must(t, a, args("avID", db, "keyID", key))
	w.checkReloaded(db)
	delete(w.Levels, w.secret)

	key = w.addColumn("relation")
	w.relate(key, true)
	if err := w.Client.Delete(t.Context(), otherB); err != nil {
		t.Fatal(err)
	}
	w.Levels[w.secret] = access.Read // which may have had the other database, that no block shows any more
	w.Refused(w.t, a, args("avID", db, "keyID", key), tool.Denied)
	w.Levels[w.secret] = access.Write
	w.Must(t, a, args("avID", db, "keyID", key))
}

// Rows that are removed are also removed from the cells of the other end of a two-way relation.
func TestRemoveRowsOfATwoWayRelation(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "remove_rows")
	key := w.addRelation(w.secret)
	w.Levels[w.secret] = access.Read
	w.Must(t, a, args("avID", db, "srcIDs", []kernel.ID{rowS})) // the relation is one-way
	delete(w.Levels, w.secret)
	w.relate(key, true)
	for _, row := range []kernel.ID{own, rowA} { // rowA is related to nothing, which may be hidden
		w.checkOtherEndGuarded(a, args("avID", db, "srcIDs", []kernel.ID{row}))
	}
	w.ResetCalls()
	w.Must(t, a, args("avID", db, "srcIDs", []kernel.ID{own}))
	w.checkReloaded(db, other)
}

// checkOtherEndGuarded checks that a call needs rw on the database other, and does not name it to those who may not read it.
func (w *workspace) checkOtherEndGuarded(a *action.Action, call string) {
	w.t.Helper()
	defer delete(w.Levels, w.secret)
	w.Levels[w.secret] = access.Read
	w.Refused(w.t, a, call, tool.Denied)
	w.Levels[w.secret] = access.None
	e := w.Refused(w.t, a, call, tool.Denied)
	if text := string(e.Payload()); strings.Contains(text, string(other)) || strings.Contains(text, string(w.secret)) {
		w.t.Errorf("what is hidden is named: %s", text)
	}
	if strings.Contains(e.Hint, "removeRelationDest") {
		w.t.Errorf("the hint %q does not help", e.Hint)
	}
}

// checkReloaded checks which databases were reloaded.
func (w *workspace) checkReloaded(want ...kernel.ID) {
	w.t.Helper()
	var got []kernel.ID
	for _, body := range w.Asked("/api/ui/reloadAttributeView") {
		got = append(got, kernel.ID(body.Get("id").Str))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("reloaded (-want +got):\n%s", diff)
	}
}

// relate makes a column of the database db a relation to the database other.
func (w *workspace) relate(column kernel.ID, twoWay bool) {
	w.t.Helper()
	back := kernel.ID("")
	if twoWay {
		back = kernel.NewID()
	}
	w.transact(kernel.Operation{
		"action": "updateAttrViewColRelation", "avID": db, "id": other, "keyID": column, "isTwoWay": twoWay, "backRelationKeyID": back, "name": "", "format": "",
	})
}

// addRelation adds a relation to a second database in a notebook, with two rows, and relates the
// first database's own row to both.
func (w *workspace) addRelation(notebook kernel.ID) (column kernel.ID) {
	w.t.Helper()
	w.makeDatabase(other, otherB, kernel.ID(w.Doc(string(notebook), "/Other", "other")))
	w.transact(kernel.Operation{"action": "insertAttrViewBlock", "avID": other, "blockID": otherB, "srcs": []any{
		map[string]any{"itemID": "20240801130100-second1", "isDetached": true, "content": "target A"},
		map[string]any{"itemID": "20240801130101-second2", "id": w.hidden, "isDetached": false},
	}})
	column = w.addColumn("relation")
	w.relate(column, false)
	w.setCell(db, own, column, map[string]any{"type": "relation", "relation": map[string]any{
		"blockIDs": []string{"20240801130100-second1", "20240801130101-second2"},
	}})
	return column
}

func TestDuplicate(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "duplicate")
	got := w.Must(t, a, args("avID", db))
	id, block := kernel.ID(got.Get("avID").Str), kernel.ID(got.Get("blockID").Str)
	if id == db || got.Get("sourceAvID").Str != string(db) || got.Get("insertedAfter").Str != string(dbBlock) {
		t.Errorf("got %s", got.Raw)
	}
	blocks, err := w.Client.ChildBlocks(t.Context(), w.doc)
	if err != nil || len(blocks) != 3 || blocks[2].ID != block {
		t.Errorf("blocks %v, %v", blocks, err)
	}
	if rows := w.Must(t, findAction(t, "render"), args("id", id)).Get("total").Int(); rows != 3 {
		t.Errorf("the copy has %d rows", rows)
	}
	got = w.Must(t, a, args("avID", db, "previousID", w.open))
	if at, err := w.Client.Place(t.Context(), kernel.ID(got.Get("blockID").Str)); err != nil || at.Root == w.doc {
		t.Errorf("the copy is at %v, %v", at, err)
	}
	w.checkGuarded(a, access.Write, func(id kernel.ID) string { return args("avID", id) })
	w.Levels[w.secret] = access.Read
	w.Refused(w.t, a, args("avID", db, "previousID", w.hidden), tool.Denied)
	w.Levels[w.secret] = access.None
	hidden := w.Refused(w.t, a, args("avID", db, "previousID", w.hidden), tool.NotFound)
	actiontest.SameRefusal(t, hidden, w.Refused(w.t, a, args("avID", db, "previousID", actiontest.Nowhere), tool.NotFound), string(w.hidden), actiontest.Nowhere)
}

func TestDuplicateWithoutBlock(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.Fail("/api/lute/spinBlockDOM", 1, kerneltest.FailMessage("no"))
	err := w.Failed(t, findAction(t, "duplicate"), args("avID", db), kernel.API)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		t.Fatal(err)
	}
	if id, _ := e.Facts["copyAvID"].(kernel.ID); !id.Valid() || !strings.Contains(e.Message, string(id)) {
		t.Errorf("the copy is lost: %v", e)
	}
}
