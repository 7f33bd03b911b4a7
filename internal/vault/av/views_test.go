package av_test

import (
	"fmt"
	"testing"
)

// newFilledVault returns a vault with a database of three rows and a column of each of eight types. Rows A and B differ in every
// column that holds values; row C has none but its name.
func newFilledVault(t *testing.T) *vault {
	t.Helper()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "Apple", rowB, "Banana", rowC, "cherry")
	n := 0
	for kind, cells := range map[string][2]object{
		"text":     {{"text": object{"content": "first 第一"}}, {"text": object{"content": "second"}}},
		"number":   {{"number": object{"content": 5, "isNotEmpty": true}}, {"number": object{"content": 40, "isNotEmpty": true}}},
		"date":     {{"date": object{"content": 1722470400000, "isNotEmpty": true}}, {"date": object{"content": 1722902400000, "isNotEmpty": true}}},
		"select":   {{"mSelect": []any{object{"content": "Todo", "color": "1"}}}, {"mSelect": []any{object{"content": "Done", "color": "2"}}}},
		"mSelect":  {{"mSelect": []any{object{"content": "x", "color": "1"}, object{"content": "y", "color": "2"}}}, {"mSelect": []any{object{"content": "y", "color": "2"}}}},
		"checkbox": {{"checkbox": object{"checked": true}}, {"checkbox": object{"checked": false}}},
		"created":  {}, "lineNumber": {},
	} {
		n++
		key := v.addColumn(db, fmt.Sprintf("2024080112000%d-keykeyk", n), kind)
		for i, row := range []string{rowA, rowB} {
			if cells[i] != nil {
				v.setCell(db, key, row, cells[i])
			}
		}
	}
	return v
}

func TestFilters(t *testing.T) {
	t.Parallel()
	v := newFilledVault(t)
	option := func(name string) object { return object{"mSelect": []any{object{"content": name, "color": ""}}} }
	text := func(s string) object { return object{"type": "text", "text": object{"content": s}} }
	num := func(n float64) object {
		return object{"type": "number", "number": object{"content": n, "isNotEmpty": true}}
	}
	day := func(ms int64) object {
		return object{"type": "date", "date": object{"content": ms, "isNotEmpty": true, "isNotTime": true}}
	}
	for _, tt := range []struct {
		kind, operator string
		value          object
		want           string
	}{
		{kind: "text", operator: "=", value: text("SECOND"), want: rowB},
		{kind: "text", operator: "!=", value: text("second"), want: rowA + " " + rowC},
		{kind: "text", operator: "Contains", value: text("第一"), want: rowA},
		{kind: "text", operator: "Does not contain", value: text("second"), want: rowA + " " + rowC},
		{kind: "text", operator: "Starts with", value: text("first"), want: rowA},
		{kind: "text", operator: "Ends with", value: text("d"), want: rowB},
		{kind: "text", operator: "=", value: object{"text": object{"content": "second"}}, want: rowB}, // without a type
		{kind: "text", operator: "Is empty", want: rowC},
		{kind: "text", operator: "Is not empty", want: rowA + " " + rowB},
		{kind: "text", operator: "=", value: text(""), want: rowA + " " + rowB + " " + rowC},
		{kind: "text", operator: "no such", value: text("x"), want: rowA + " " + rowB + " " + rowC},
		{kind: "number", operator: "=", value: num(5), want: rowA},
		{kind: "number", operator: "!=", value: num(5), want: rowB + " " + rowC},
		{kind: "number", operator: ">", value: num(5), want: rowB},
		{kind: "number", operator: ">=", value: num(5), want: rowA + " " + rowB},
		{kind: "number", operator: "<", value: num(40), want: rowA},
		{kind: "number", operator: "<=", value: num(40), want: rowA + " " + rowB},
		{kind: "number", operator: "Is empty", want: rowC},
		{kind: "date", operator: "=", value: day(1722470400000), want: rowA},
		{kind: "date", operator: ">", value: day(1722470400000), want: rowB},
		{kind: "date", operator: "<=", value: day(1722470400000), want: rowA},
		{kind: "date", operator: "Is between", value: object{"date": object{"content": 1722384000000, "isNotEmpty": true, "isNotTime": true, "content2": 1722556800000, "isNotEmpty2": true}}, want: rowA},
		{kind: "select", operator: "=", value: option("Done"), want: rowB},
		{kind: "select", operator: "!=", value: option("Done"), want: rowA + " " + rowC},
		{kind: "mSelect", operator: "Contains", value: option("y"), want: rowA + " " + rowB},
		{kind: "mSelect", operator: "Does not contain", value: option("x"), want: rowB + " " + rowC},
		{kind: "mSelect", operator: "Is empty", want: rowC},
		{kind: "checkbox", operator: "Is true", value: object{"type": "checkbox"}, want: rowA},
		{kind: "checkbox", operator: "Is false", value: object{"type": "checkbox"}, want: rowB + " " + rowC},
		{kind: "created", operator: "Is empty"},
	} {
		v.setInView("filters", []any{
			object{"column": v.lastColumn(tt.kind), "operator": tt.operator, "value": tt.value},
		})
		if got := rowIDs(v.render(db, nil)); got != tt.want {
			t.Errorf("%s %s %v: %q, want %q", tt.kind, tt.operator, tt.value, got, tt.want)
		}
	}
	leaf := func(kind, operator string, value object) object {
		return object{"column": v.lastColumn(kind), "operator": operator, "value": value}
	}
	nested := object{"combination": "or", "filters": []any{
		leaf("number", ">", num(20)),
		object{"combination": "and", "filters": []any{leaf("text", "Is not empty", nil), leaf("checkbox", "Is true", object{})}},
	}}
	v.setInView("filters", []any{nested})
	if got := rowIDs(v.render(db, nil)); got != rowA+" "+rowB {
		t.Errorf("nested: %s", got)
	}
	if got := rowIDs(v.render(db, object{"query": "BAN"})); got != rowB {
		t.Errorf("nested, with a query: %s", got)
	}
	v.runOps(object{"action": "removeAttrViewCol", "avID": db, "id": v.lastColumn("number")})
	if got := rowIDs(v.render(db, nil)); got != rowA {
		t.Errorf("without the column of a condition: %s", got)
	}
}

// lastColumn returns the id of the last column of a type.
func (v *vault) lastColumn(kind string) string {
	v.T.Helper()
	return v.readFile(db).Get(`keyValues.#(key.type=="` + kind + `")#|@reverse|0.key.id`).Str
}

func TestSorts(t *testing.T) {
	t.Parallel()
	v := newFilledVault(t)
	for _, tt := range []struct{ kind, order, want string }{
		{"number", "ASC", rowA + " " + rowB + " " + rowC},
		{"number", "DESC", rowB + " " + rowA + " " + rowC},
		{"block", "DESC", rowC + " " + rowB + " " + rowA},
		{"text", "DESC", rowB + " " + rowA + " " + rowC},
		{"date", "DESC", rowB + " " + rowA + " " + rowC},
		{"select", "DESC", rowB + " " + rowA + " " + rowC},
		{"mSelect", "ASC", rowA + " " + rowB + " " + rowC},
		{"created", "DESC", rowC + " " + rowB + " " + rowA},
	} {
		v.setInView("sorts", []any{object{"column": v.lastColumn(tt.kind), "order": tt.order}})
		if got := rowIDs(v.render(db, nil)); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.kind, tt.order, got, tt.want)
		}
	}
	v.setInView("sorts", []any{
		object{"column": v.lastColumn("lineNumber"), "order": "ASC"}, object{"column": v.lastColumn("checkbox"), "order": "ASC"}, object{"column": v.lastColumn("block"), "order": "DESC"},
	})
	if got := rowIDs(v.render(db, nil)); got != rowC+" "+rowB+" "+rowA {
		t.Errorf("three sorts: %s", got)
	}
}

func TestNewRowsMeetTheFilter(t *testing.T) {
	t.Parallel()
	v := newFilledVault(t)
	v.setInView("filters", []any{
		object{"column": v.lastColumn("select"), "operator": "=", "value": object{"type": "select", "mSelect": []any{object{"content": "Done", "color": "2"}}}},
		object{"column": v.lastColumn("checkbox"), "operator": "Is true", "value": object{"type": "checkbox"}},
	})
	v.runOps(object{"action": "insertAttrViewBlock", "avID": db, "blockID": dbBlock, "srcs": []any{object{"itemID": target1, "isDetached": true, "content": "new"}}},
		object{"action": "insertAttrViewBlock", "avID": db, "blockID": dbBlock, "ignoreDefaultFill": true, "srcs": []any{object{"itemID": target2, "isDetached": true, "content": "bare"}}})
	if got := rowIDs(v.render(db, nil)); got != target1 {
		t.Errorf("rows %s", got)
	}
}

// groupBy groups the current view by the options of a column, as SiYuan's editor does.
func (v *vault) groupBy(kind, layout string, options ...string) {
	v.T.Helper()
	values := []object{{"type": "text", "text": object{"content": "_@default@_"}}}
	for _, name := range options {
		values = append(values, object{"type": kind, "mSelect": []any{object{"content": name, "color": ""}}})
	}
	var groups []any
	for i, value := range values {
		groups = append(groups, object{"id": fmt.Sprintf("2024080115000%d-groupgr", i), "type": layout, "groupVal": value, "groupSort": i})
	}
	v.setInView("group", object{"field": v.lastColumn(kind), "method": 0, "order": 3, "hideEmpty": false})
	v.setInView("groups", groups)
}

func TestGroups(t *testing.T) {
	t.Parallel()
	v := newFilledVault(t)
	v.groupBy("select", "table", "Todo", "Done")
	got := v.render(db, nil)
	want := [][2]string{{"Todo", rowA}, {"Done", rowB}, {"Field [select] is empty", rowC}}
	for i, g := range got.Get("view.groups").Array() {
		if i >= len(want) || g.Get("name").Str != want[i][0] || g.Get("rows.0.id").Str != want[i][1] || g.Get("rowCount").Int() != 1 {
			t.Errorf("group %d is %s with %s", i, g.Get("name").Str, g.Get("rows.#.id").Raw)
		}
	}
	if got.Get("view.rowCount").Int() != 3 || got.Get("view.rows.#").Int() != 0 || got.Get("view.groups.#").Int() != 3 {
		t.Errorf("the view has %d rows, %d groups", got.Get("view.rowCount").Int(), got.Get("view.groups.#").Int())
	}
	todo := got.Get("view.groups.0.id").Str
	v.runOps(object{"action": "insertAttrViewBlock", "avID": db, "blockID": dbBlock, "groupID": todo, "srcs": []any{object{"itemID": target1, "isDetached": true, "content": "new"}}})
	if got := v.render(db, object{"groupPaging": object{todo: object{"page": 2, "pageSize": 1}}}).Get("view.groups.0"); got.Get("rowCount").Int() != 2 || got.Get("rows.0.id").Str != rowA {
		t.Errorf("the second page of the group is %s", got.Get("rows.#.id").Raw)
	}
	v.runOps(object{"action": "insertAttrViewBlock", "avID": db, "blockID": dbBlock, "groupID": "20990101000000-zzzzzzz", "srcs": []any{object{"itemID": target2, "isDetached": true, "content": "lost"}}})
	v.runOps(object{"action": "addAttrViewView", "avID": db, "id": "20240801160000-newview", "blockID": dbBlock, "layout": "kanban"})
	v.groupBy("select", "kanban", "Todo", "Done")
	if got := v.render(db, nil); got.Get("viewType").Str != "kanban" || got.Get("view.groups.0.cards.#").Int() != 2 || got.Get("view.cardCount").Int() != 4 {
		t.Errorf("the kanban is %s", got.Raw)
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	v := newFilledVault(t)
	const view = "20240801160000-newview"
	first := v.readFile(db).Get("viewID").Str
	v.runOps(object{"action": "addAttrViewView", "avID": db, "id": view, "blockID": dbBlock, "layout": "table"},
		object{"action": "setAttrViewViewName", "avID": db, "id": view, "data": "Second 视图二"})
	if got := v.render(db, object{"blockID": dbBlock}); got.Get("viewID").Str != view || got.Get("view.name").Str != "Second 视图二" || rowIDs(got) != rowA+" "+rowB+" "+rowC {
		t.Errorf("the block shows %s", got.Raw)
	}
	if got := v.render(db, object{"blockID": dbBlock, "viewID": first}); got.Get("viewID").Str != first {
		t.Errorf("asked for the first, got %s", got.Get("viewID").Str)
	}
	v.setInView("filters", []any{
		object{"column": v.lastColumn("number"), "operator": "Is empty"},
	})
	if got := v.Ask("av/getAttributeViewFilterSort", object{"id": db, "blockID": dbBlock}).Get("filters.0.filters.#").Int(); got != 1 {
		t.Errorf("%d conditions", got)
	}
	if got := rowIDs(v.render(db, object{"viewID": first})); got != rowA+" "+rowB+" "+rowC {
		t.Errorf("the filter of one view reaches the other: %s", got)
	}
}
