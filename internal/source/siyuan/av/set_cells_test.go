package av_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// localMillis returns a local time, such as "2024-08-01 12:30", in milliseconds since 1970.
func localMillis(t testing.TB, text string) int64 {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", text, time.Local)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

// Every valueType, with each form that its value may have: what is stored, and what render shows.
func TestSetCells(t *testing.T) {
	t.Parallel()
	day, noon := localMillis(t, "2024-08-01 00:00"), localMillis(t, "2024-08-01 12:30")
	for _, c := range []struct {
		valueType, column string
		members           []any
		shown             string
		is                func(v *kernel.Value) bool
	}{
		{"text", "text", []any{"text", "文本 text"}, `"文本 text"`, func(v *kernel.Value) bool { return v.Text.Content == "文本 text" }},
		{"text", "text", []any{"value", "by value"}, `"by value"`, func(v *kernel.Value) bool { return v.Text.Content == "by value" }},
		{"text", "text", []any{"text", ""}, `null`, func(v *kernel.Value) bool { return v.Text.Content == "" }},
		{"text", "text", []any{"clear", true}, `null`, func(v *kernel.Value) bool { return v.Text.Content == "" }},
		{"url", "url", []any{"url", "https://example.com"}, `"https://example.com"`, func(v *kernel.Value) bool { return v.URL.Content != "" }},
		{"email", "email", []any{"email", "a@example.com"}, `"a@example.com"`, func(v *kernel.Value) bool { return v.Email.Content != "" }},
		{"phone", "phone", []any{"phone", "+86 10"}, `"+86 10"`, func(v *kernel.Value) bool { return v.Phone.Content != "" }},
		{"number", "number", []any{"number", 42.5, "numberFormat", "CNY"}, `42.5`, func(v *kernel.Value) bool {
			return v.Number.Content == 42.5 && v.Number.NotEmpty && v.Number.Format == "CNY"
		}},
		{"number", "number", []any{"number", 0}, `0`, func(v *kernel.Value) bool { return v.Number.NotEmpty }},
		{"number", "number", []any{"value", 7}, `7`, func(v *kernel.Value) bool { return v.Number.Content == 7 }},
		{"number", "number", []any{"clear", true}, `null`, func(v *kernel.Value) bool { return !v.Number.NotEmpty }},
		{"date", "date", []any{"date", "2024-08-01"}, `"2024-08-01"`, func(v *kernel.Value) bool {
			return v.Date.Content == day && v.Date.DateOnly && !v.Date.HasEnd
		}},
		{"date", "date", []any{"date", "2024-08-01T12:30"}, `"2024-08-01 12:30"`, func(v *kernel.Value) bool {
			return v.Date.Content == noon && !v.Date.DateOnly
		}},
		{"date", "date", []any{"date", noon}, `"2024-08-01 12:30"`, func(v *kernel.Value) bool { return v.Date.Content == noon }},
		{"date", "date", []any{"value", "2024-08-01"}, `"2024-08-01"`, func(v *kernel.Value) bool { return v.Date.Content == day }},
		{"date", "date", []any{"date", "2024-08-01", "endDate", "2024-08-01 12:30"}, `"2024-08-01 00:00 → 2024-08-01 12:30"`, func(v *kernel.Value) bool {
			return v.Date.HasEnd && v.Date.NotEmpty2 && v.Date.Content2 == noon && !v.Date.DateOnly
		}},
		{"date", "date", []any{"date", "2024-08-01 12:30", "includeTime", false}, `"2024-08-01"`, func(v *kernel.Value) bool { return v.Date.DateOnly }},
		{"date", "date", []any{"date", "20240801"}, `"2024-08-01"`, func(v *kernel.Value) bool { return v.Date.Content == day }},
		{"date", "date", []any{"date", "2024/8/1 12:30"}, `"2024-08-01 12:30"`, func(v *kernel.Value) bool { return v.Date.Content == noon }},
		{"date", "date", []any{"value", "2024年8月1日"}, `"2024-08-01"`, func(v *kernel.Value) bool { return v.Date.Content == day }},
		{"date", "date", []any{"date", "20240801123000"}, `"2024-08-01 12:30"`, func(v *kernel.Value) bool { return v.Date.Content == noon }},
		{"date", "date", []any{"clear", true}, `null`, func(v *kernel.Value) bool { return !v.Date.NotEmpty }},
		{"checkbox", "checkbox", []any{"checked", true}, `true`, func(v *kernel.Value) bool { return v.Checkbox.Checked }},
		{"number", "number", []any{"value", "7.5"}, `7.5`, func(v *kernel.Value) bool { return v.Number.Content == 7.5 }},
		{"text", "text", []any{"value", 5}, `"5"`, func(v *kernel.Value) bool { return v.Text.Content == "5" }},
		{"checkbox", "checkbox", []any{"value", "true"}, `true`, func(v *kernel.Value) bool { return v.Checkbox.Checked }},
		{"select", "select", []any{"value", []string{"one"}}, `"one"`, func(v *kernel.Value) bool { return len(v.Selection) == 1 }},
		{"multi_select", "mSelect", []any{"value", "a"}, `["a"]`, func(v *kernel.Value) bool { return len(v.Selection) == 1 }},
		{"mSelect", "mSelect", []any{"options", []string{"a", "b", "a"}}, `["a","b"]`, func(v *kernel.Value) bool { return len(v.Selection) == 2 }},
		{"mAsset", "mAsset", []any{"value", map[string]any{"type": "file", "content": "assets/b.pdf"}}, `["assets/b.pdf"]`, func(v *kernel.Value) bool { return len(v.Assets) == 1 }},
		{"checkbox", "checkbox", []any{"checked", false}, `false`, func(v *kernel.Value) bool { return !v.Checkbox.Checked }},
		{"select", "select", []any{"option", "进行"}, `"进行"`, func(v *kernel.Value) bool { return len(v.Selection) == 1 && v.Selection[0].Color != "" }},
		{"select", "select", []any{"clear", true}, `null`, func(v *kernel.Value) bool { return len(v.Selection) == 0 }},
		{"multi_select", "mSelect", []any{"options", []string{"red", "蓝"}}, `["red","蓝"]`, func(v *kernel.Value) bool {
			return len(v.Selection) == 2 && v.Selection[0].Color != v.Selection[1].Color
		}},
		{"multi_select", "mSelect", []any{"options", []string{}}, `null`, func(v *kernel.Value) bool { return len(v.Selection) == 0 }},
		{"mAsset", "mAsset", []any{"assets", []any{map[string]any{"type": "file", "content": "assets/spec.pdf", "name": "spec"}}}, `["assets/spec.pdf"]`, func(v *kernel.Value) bool {
			return v.Assets[0].Name == "spec" && v.Assets[0].Type == "file"
		}},
		{"mAsset", "mAsset", []any{"value", []any{map[string]any{"type": "image", "content": "assets/a.png"}}}, `["assets/a.png"]`, func(v *kernel.Value) bool {
			return v.Assets[0].Type == "image"
		}},
	} {
		t.Run(c.valueType, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			column := w.addColumn(c.column)
			a := findAction(t, "set_cells")
			cell := append([]any{"rowID", own, "columnID", column, "valueType", c.valueType}, c.members...)
			got := w.Must(t, a, args(append([]any{"avID", db}, cell...)...))
			if got.Get("rowID").Str != string(own) || got.Get("updated").Int() != 1 || got.Get("verification.cells").Int() != 1 {
				t.Errorf("one cell: %s", got.Raw)
			}
			first := w.storedValue(own, column)
			if first == nil || !c.is(first) {
				t.Fatalf("%v is stored as %+v", c.members, first)
			}
			listed := map[string]any{}
			for i := 0; i < len(cell); i += 2 {
				listed[cell[i].(string)] = cell[i+1]
			}
			w.ResetCalls()
			got = w.Must(t, a, args("avID", db, "items", []any{listed})) // the same again, in a list
			if id := w.Writes()[0].Get("transactions.0.doOperations.0.id").Str; id != string(first.ID) {
				t.Errorf("writes value %s, the cell has %s", id, first.ID)
			}
			if got.Get("updated").Int() != 1 || got.Get("rowID").Exists() {
				t.Errorf("a list: %s", got.Raw)
			}
			if again := w.storedValue(own, column); again.ID != first.ID || !c.is(again) {
				t.Errorf("again: %+v, first %+v", again, first)
			}
			table := w.Must(t, findAction(t, "render"), args("id", db)).Get("table")
			cells := table.Get("rows.2.cells").Array()
			if last := cells[len(cells)-1].Raw; last != c.shown {
				t.Errorf("shown as %s, want %s", last, c.shown)
			}
		})
	}
}

func TestSetCellsRelation(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	column := w.addRelation(w.secret)
	a := findAction(t, "set_cells")
	call := func(row string) string {
		return args("avID", db, "rowID", rowA, "columnID", column, "valueType", "relation", "relationBlockIDs", []string{row})
	}
	w.Must(t, a, args("avID", db, "rowID", rowA, "columnID", column, "valueType", "relation", "relationBlockIDs", []string{"20240801130100-second1", "20240801130100-second1"}))
	if v := w.storedValue(rowA, column); len(v.Relation.RowIDs) != 1 {
		t.Errorf("stored %+v", v)
	}
	e := w.Refused(w.t, a, call(string(w.hidden)), tool.Invalid)
	if e.Code != "row_id_alias_detected" || e.Fields[0].Path != "/relationBlockIDs/0" || !strings.Contains(e.Hint, string(other)) {
		t.Errorf("a bound block: %s %v, hint %q", e.Code, e.Fields, e.Hint)
	}
	w.Refused(w.t, a, call(string(own)), tool.Invalid) // a row of the wrong database
	w.Levels[w.secret] = access.None
	if e := w.Refused(w.t, a, call("20240801130100-second1"), tool.Denied); strings.Contains(string(e.Payload()), string(other)) {
		t.Errorf("the other database is named: %s", e.Payload())
	}
	w.Levels[w.secret] = access.Read // a two-way relation writes there too
	w.Must(t, a, call("20240801130100-second1"))
	w.relate(column, true)
	w.Refused(w.t, a, call("20240801130100-second1"), tool.Denied)
	w.Refused(w.t, a, args("avID", db, "rowID", own, "columnID", w.addColumn("relation"), "valueType", "relation", "relationBlockIDs", []string{"x"}), tool.Invalid)
}

func TestSetCellsRefuses(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "set_cells")
	computed := w.addColumn("created")
	cell := func(pairs ...any) string { return args(append([]any{"avID", db, "rowID", own}, pairs...)...) }
	w.Refused(w.t, a, args("avID", db), tool.Conflicting)
	w.Refused(w.t, a, cell("columnID", w.text, "valueType", "text", "text", "a", "cells", []any{map[string]any{"rowID": own}}), tool.Conflicting)
	for _, c := range []struct {
		path string
		args string
	}{
		{"/columnID", cell("valueType", "text", "text", "a")},
		{"/columnID", cell("columnID", actiontest.Nowhere, "valueType", "text", "text", "a")},
		{"/valueType", cell("columnID", w.text, "text", "a")},
		{"/valueType", cell("columnID", w.number, "valueType", "text", "text", "a")},
		{"/columnID", args("avID", db, "rowID", rowA, "columnID", w.primary, "valueType", "text", "text", "a")},
		{"/valueType", cell("columnID", w.primary, "valueType", "number", "number", 1)},
		{"/text", cell("columnID", w.primary, "valueType", "text", "clear", true)},
		{"/date", cell("columnID", w.addColumn("date"), "valueType", "date", "date", "31.12.2024")},
		{"/date", cell("columnID", w.addColumn("date"), "valueType", "date", "date", 1722470400)},
		{"/cells/0/endDate", args("avID", db, "cells", []any{map[string]any{
			"rowID": own, "columnID": w.addColumn("date"), "valueType": "date", "date": "2024-08-01", "endDate": "soon",
		}})},
		{"/value", cell("columnID", w.addColumn("date"), "valueType", "date", "value", "soon")},
		{"/options/1", cell("columnID", w.addColumn("mSelect"), "valueType", "multi_select", "options", []string{"a", ""})},
		{"/value", cell("columnID", w.addColumn("checkbox"), "valueType", "checkbox", "value", "perhaps")},
		{"/valueType", cell("columnID", computed, "valueType", "date", "date", "2024-08-01")},
		{"/text", cell("columnID", w.text, "valueType", "text")},
		{"/number", cell("columnID", w.text, "valueType", "text", "number", 1)},
		{"/text", cell("columnID", w.text, "valueType", "text", "text", "a", "value", "b")},
		{"/value", cell("columnID", w.number, "valueType", "number", "value", "twelve")},
		{"/endDate", cell("columnID", w.addColumn("date"), "valueType", "date", "clear", true, "endDate", "2024-08-01")},
		{"/text", cell("columnID", w.text, "valueType", "text", "text", "a", "clear", true)},
		{"/endDate", cell("columnID", w.text, "valueType", "text", "text", "a", "endDate", "2024-08-01")},
		{"/numberFormat", cell("columnID", w.text, "valueType", "text", "text", "a", "numberFormat", "CNY")},
		{"/cells/1/valueType", args("avID", db, "cells", []any{
			map[string]any{"rowID": own, "columnID": w.text, "valueType": "text", "text": "a"},
			map[string]any{"rowID": own, "columnID": w.number, "valueType": "text", "text": "b"},
		})},
	} {
		if e := w.Refused(w.t, a, c.args, tool.Invalid); len(e.Fields) == 0 || e.Fields[0].Path != c.path {
			t.Errorf("%s: fields %v, want %s", c.args, e.Fields, c.path)
		}
	}
	e := w.Refused(w.t, a, args("avID", db, "cells", []any{
		map[string]any{"rowID": own, "columnID": w.text, "valueType": "text", "text": "a"},
		map[string]any{"rowID": own, "columnID": w.text, "valueType": "text", "text": "b"},
	}), tool.Invalid)
	if !strings.Contains(e.Message, "same rowID and columnID") {
		t.Errorf("twice one cell: %v", e)
	}
	if _, err := w.Do(t, a, cell("columnID", w.text, "valueType", "date", "date", "yesterday")); tool.KindOf(err) != tool.Invalid || !strings.Contains(err.Error(), "ISO") {
		t.Errorf("no date: %v", err)
	}
	w.checkGuarded(a, access.Write, func(id kernel.ID) string {
		return args("avID", id, "rowID", own, "columnID", w.text, "valueType", "text", "text", "x")
	})
}

// Several cells go in one transaction, and an option that the column has keeps its colour.
func TestSetCellsTogether(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.transact(kernel.Operation{"action": "updateAttrViewColOptions", "avID": db, "id": w.choice, "data": []any{map[string]any{"name": "Done", "color": "9", "desc": ""}}})
	w.ResetCalls()
	w.Must(t, findAction(t, "set_cells"), args("avID", db, "cells", []any{
		map[string]any{"rowID": own, "columnID": w.choice, "valueType": "select", "option": "Done"},
		map[string]any{"rowID": rowA, "columnID": w.number, "valueType": "number", "number": 3},
	}))
	if n := len(w.Writes()); n != 1 {
		t.Errorf("%d writes", n)
	}
	if diff := cmp.Diff([]siyuanapi.Option{{Content: "Done", Color: "9"}}, w.storedValue(own, w.choice).Selection); diff != "" {
		t.Errorf("option (-want +got):\n%s", diff)
	}
	if v := w.storedValue(rowA, w.number); v.Number.Content != 3 {
		t.Errorf("number %+v", v.Number)
	}
}

// A kernel may write texts in a form of its own, which is not a failure.
func TestKernelsForm(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	w.OwnForm(t, "/api/transactions", " spaced  text ", "spaced text")
	w.Must(t, findAction(t, "set_cells"), args("avID", db, "rowID", own, "columnID", w.text, "valueType", "text", "text", " spaced  text "))
	w.Must(t, findAction(t, "rename"), args("avID", db, "name", " spaced  text "))
}

// The kernel merges a written value into the present one, so no part of a date range may stay
// behind.
func TestSetCellsOverARange(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a, column := findAction(t, "set_cells"), w.addColumn("date")
	cell := func(pairs ...any) string {
		return args(append([]any{"avID", db, "rowID", own, "columnID", column, "valueType", "date"}, pairs...)...)
	}
	w.Must(t, a, cell("date", "2024-08-01 12:30", "endDate", "2024-08-03"))
	w.Must(t, a, cell("date", "2024-08-02"))
	if d := w.storedValue(own, column).Date; d.HasEnd || d.NotEmpty2 || d.Content2 != 0 || !d.DateOnly {
		t.Errorf("after a range, a day is %+v", d)
	}
	w.Must(t, a, cell("date", "2024-08-01", "endDate", "2024-08-03"))
	w.Must(t, a, cell("clear", true))
	if d := w.storedValue(own, column).Date; d.NotEmpty || d.HasEnd || d.NotEmpty2 {
		t.Errorf("after a range, nothing is %+v", d)
	}
}

// The primary cell of a row that is bound to no block can be set; it is the name of the row.
func TestSetCellsOfThePrimaryColumn(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a := findAction(t, "set_cells")
	w.Must(t, a, args("avID", db, "rowID", own, "columnID", w.primary, "valueType", "text", "text", "umbenannt 改名"))
	if v := w.storedValue(own, w.primary); v.Block.Content != "umbenannt 改名" || v.Block.ID != "" || !v.Detached {
		t.Errorf("stored %+v, %+v", v, v.Block)
	}
	e := w.Refused(w.t, a, args("avID", db, "rowID", rowA, "columnID", w.primary, "valueType", "text", "text", "x"), tool.Invalid)
	if !strings.Contains(e.Message, string(w.open)) {
		t.Errorf("the block to edit is not named: %v", e)
	}
}
