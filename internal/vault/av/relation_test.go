package av_test

import (
	"fmt"
	"testing"
)

// Ids of columns and rows of tests with two databases.
const (
	amount   = "20240801120102-k2numbr"
	relation = "20240801120014-keyrela"
	rollup   = "20240801120015-keyroll"
	back     = "20240801120103-k2backr"
	target1  = "20240801130100-second1"
	target2  = "20240801130101-second2"
	target3  = "20240801130102-second3"
)

// newRelatedVault returns a vault in which row A of a database is related, both ways, to two of the three rows of a second database,
// with a rollup that sums up their amounts.
func newRelatedVault(t *testing.T) *vault {
	t.Helper()
	v, doc := newVaultWithDatabase(t)
	v.showDatabase(doc, "20240801120000-avblk02", second)
	v.addDetachedRows(db, rowA, "A", rowB, "B")
	v.addDetachedRows(second, target1, "target A", target2, "target B", target3, "target C")
	v.addColumn(second, amount, "number")
	v.setCell(second, amount, target1, object{"number": object{"content": 10, "isNotEmpty": true}})
	v.setCell(second, amount, target2, object{"number": object{"content": 32, "isNotEmpty": true}})
	v.addColumn(db, relation, "relation")
	v.addColumn(db, rollup, "rollup")
	v.runOps(object{"action": "updateAttrViewColRelation", "avID": db, "id": second, "keyID": relation, "isTwoWay": true, "backRelationKeyID": back, "name": "Back 反向", "format": "Related"})
	v.relate(rowA, target1, target2)
	v.setRollup("Sum")
	return v
}

// relate makes rows of the second database the related ones of a row of the first.
func (v *vault) relate(row string, to ...string) {
	v.T.Helper()
	v.setCell(db, relation, row, object{"type": "relation", "relation": object{"blockIDs": to}})
}

// setRollup sets the calculation of the rollup column.
func (v *vault) setRollup(operator string) {
	v.T.Helper()
	v.runOps(object{"action": "updateAttrViewColRollup", "avID": db, "id": rollup, "parentID": relation, "keyID": amount, "data": object{"calc": object{"operator": operator}}})
}

func TestTwoWayRelation(t *testing.T) {
	t.Parallel()
	v := newRelatedVault(t)
	got := v.renderCell(db, relation, rowA)
	if ids := got.Get("relation.blockIDs").Raw; ids != `["`+target1+`","`+target2+`"]` {
		t.Errorf("related to %s", ids)
	}
	if got.Get("relation.contents.1.block.content").Str != "target B" {
		t.Errorf("contents: %s", got.Raw)
	}
	if got := v.renderCell(second, back, target2).Get("relation.blockIDs").Raw; got != `["`+rowA+`"]` {
		t.Errorf("the other way: %s", got)
	}
	v.relate(rowB, target2)
	v.relate(rowA, target1)
	if got := v.renderCell(second, back, target2).Get("relation.blockIDs").Raw; got != `["`+rowB+`"]` {
		t.Errorf("the other way after a change: %s", got)
	}
	v.setCell(second, back, target3, object{"relation": object{"blockIDs": []string{rowB}}})
	if got := v.renderCell(db, relation, rowB).Get("relation.blockIDs").Raw; got != `["`+target2+`","`+target3+`"]` {
		t.Errorf("set from the other end: %s", got)
	}
}

func TestRelationAndRollupAfterRemovals(t *testing.T) {
	t.Parallel()
	v := newRelatedVault(t)
	v.runOps(object{"action": "removeAttrViewBlock", "avID": second, "srcIDs": []string{target1}})
	if got := v.renderCell(db, relation, rowA).Get("relation"); got.Get("blockIDs").Raw != `["`+target2+`"]` || got.Get("contents.#").Int() != 1 {
		t.Errorf("relation: %s", got.Raw)
	}
	if got := v.readFile(db).Get(`keyValues.#(key.id=="` + relation + `").values.0.relation.blockIDs`).Raw; got != `["`+target2+`"]` {
		t.Errorf("stored relation: %s", got)
	}
	if got := v.renderCell(db, rollup, rowA).Get("rollup.contents.0.number.content").Num; got != 32 {
		t.Errorf("rollup %v", got)
	}
	v.runOps(object{"action": "removeAttrViewBlock", "avID": db, "srcIDs": []string{rowA}})
	if got := v.renderCell(second, back, target2).Get("relation.blockIDs").Raw; got != "null" {
		t.Errorf("the other way: %s", got)
	}

	v = newRelatedVault(t)
	v.runOps(object{"action": "removeAttrViewCol", "avID": second, "id": amount})
	if got := v.renderCell(db, rollup, rowA).Get("rollup.contents").Raw; got != "null" {
		t.Errorf("rollup of no column: %s", got)
	}
	v.runOps(object{"action": "removeAttrViewCol", "avID": db, "id": relation})
	if got := v.readFile(second).Get(`keyValues.#(key.id=="` + back + `").key.relation`); got.Get("isTwoWay").Bool() || got.Get("avID").Str != db {
		t.Errorf("the other end is %s", got.Raw)
	}
	if got := v.renderCell(db, rollup, rowA).Get("rollup.contents").Raw; got != "null" {
		t.Errorf("rollup of no relation: %s", got)
	}

	v = newRelatedVault(t)
	v.runOps(object{"action": "removeAttrViewCol", "avID": db, "id": relation, "removeDest": true})
	if got := v.readFile(second).Get(`keyValues.#(key.id=="` + back + `")`); got.Exists() {
		t.Errorf("the other end is %s", got.Raw)
	}
}

func TestRollupCalculations(t *testing.T) {
	t.Parallel()
	v := newRelatedVault(t)
	v.relate(rowA, target1, target2, target3) // 10, 32 and nothing
	for operator, want := range map[string]string{
		"Sum": "42", "Average": "21", "Median": "21", "Min": "10", "Max": "32", "Range": "22",
		"Count all": "3", "Count values": "2", "Count unique values": "2", "Count empty": "1", "Count not empty": "2",
		"Percent empty": "33.33%", "Percent not empty": "66.67%", "Percent unique values": "66.67%",
	} {
		v.setRollup(operator)
		if got := v.renderCell(db, rollup, rowA).Get("rollup.contents.0.number.formattedContent").Str; got != want {
			t.Errorf("%s is %q, want %s", operator, got, want)
		}
	}
	for operator, want := range map[string]int64{"": 3, "Unique values": 2, "no such": 3} {
		v.setRollup(operator)
		if got := v.renderCell(db, rollup, rowA).Get("rollup.contents.#").Int(); got != want {
			t.Errorf("%q gathers %d values, want %d", operator, got, want)
		}
	}
	if got := v.renderCell(db, rollup, rowB).Get("rollup.contents").Raw; got != "null" {
		t.Errorf("of no rows: %s", got)
	}

	v.setRollup("Sum")
	v.runOps(object{"action": "setAttrViewColCalc", "avID": db, "id": rollup, "data": object{"operator": "Max"}})
	if got := v.render(db, nil).Get(`view.columns.#(id=="` + rollup + `").calc.result.number.content`).Num; got != 42 {
		t.Errorf("the largest of the sums is %v", got)
	}
}

func TestCalculationsOfOtherTypes(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "A", rowB, "B", rowC, "C")
	done, due := v.addColumn(db, "20240801120001-keydone", "checkbox"), v.addColumn(db, "20240801120002-keydued", "date")
	v.setCell(db, done, rowA, object{"checkbox": object{"checked": true}})
	for row, ms := range map[string]int64{rowA: 1722470400000, rowB: 1722556800000} {
		v.setCell(db, due, row, object{"date": object{"content": ms, "isNotEmpty": true}})
	}
	for _, tt := range []struct{ column, operator, path, want string }{
		{column: done, operator: "Checked", path: "number.content", want: "1"},
		{column: done, operator: "Unchecked", path: "number.content", want: "2"},
		{column: done, operator: "Percent checked", path: "number.formattedContent", want: `"33.33%"`},
		{column: done, operator: "Percent unchecked", path: "number.formattedContent", want: `"66.67%"`},
		{column: due, operator: "Earliest", path: "date.content", want: "1722470400000"},
		{column: due, operator: "Latest", path: "date.content", want: "1722556800000"},
		{column: due, operator: "Range", path: "date.content2", want: "1722556800000"},
	} {
		v.runOps(object{"action": "setAttrViewColCalc", "avID": db, "blockID": dbBlock, "id": tt.column, "data": object{"operator": tt.operator, "result": nil}})
		if got := v.render(db, nil).Get(`view.columns.#(id=="` + tt.column + `").calc.result.` + tt.path).Raw; got != tt.want {
			t.Errorf("%s is %s, want %s", tt.operator, got, tt.want)
		}
	}
}

// TestRollupsInACircle checks that rendering ends when two databases roll each other up.
func TestRollupsInACircle(t *testing.T) {
	t.Parallel()
	v := newRelatedVault(t)
	other := v.addColumn(second, "20240801120104-k2rollu", "rollup")
	v.runOps(object{"action": "updateAttrViewColRollup", "avID": second, "id": other, "parentID": back, "keyID": rollup, "data": object{}},
		object{"action": "updateAttrViewColRollup", "avID": db, "id": rollup, "parentID": relation, "keyID": other, "data": object{}})
	if got := v.renderCell(db, rollup, rowA).Get("rollup.contents.#").Int(); got != 2 {
		t.Errorf("%d values", got)
	}
	v.runOps(object{"action": "updateAttrViewColRelation", "avID": db, "id": db, "keyID": relation, "isTwoWay": true, "backRelationKeyID": relation})
	v.relate(rowA, rowA, rowB)
	if got := v.renderCell(db, relation, rowA).Get("relation.contents.#").Int(); got != 2 {
		t.Errorf("a relation to itself shows %d rows", got)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "A")
	price, computed := v.addColumn(db, "20240801120002-keynumb", "number"), v.addColumn(db, "20240801120010-keytmpl", "template")
	v.runOps(object{"action": "updateAttrViewCol", "avID": db, "id": price, "name": "Price", "type": "number"})
	v.setCell(db, price, rowA, object{"number": object{"content": 4, "isNotEmpty": true}})
	for source, want := range map[string]string{
		"plain text":                        "plain text",
		".action{.title}: .action{.Price}":  "A: 4",
		".action{add .Price 2}":             "6",
		".action{ nosuch }":                 "",
		".action{.No}":                      "",
		".action{if":                        "",
		`.action{if .Price}yes.action{end}`: "yes",
	} {
		v.runOps(object{"action": "updateAttrViewColTemplate", "avID": db, "id": computed, "type": "template", "data": source})
		if got := v.renderCell(db, computed, rowA).Get("template.content").Str; got != want {
			t.Errorf("%s shows %q, want %q", source, got, want)
		}
	}
	v.runOps(object{"action": "updateAttrViewColTemplate", "avID": db, "id": computed, "type": "template", "data": "kept"},
		object{"action": "updateAttrViewColTemplate", "avID": db, "id": computed, "data": "without the type"})
	if got := v.renderCell(db, computed, rowA).Get("template.content").Str; got != "kept" {
		t.Errorf("a template whose operation names no type shows %q", got)
	}
	v.runOps(object{"action": "updateAttrViewColTemplate", "avID": db, "id": computed, "type": "template", "data": ".action{.Price}"},
		object{"action": "removeAttrViewCol", "avID": db, "id": price})
	if got := v.renderCell(db, computed, rowA).Get("template.content").Str; got != "" {
		t.Errorf("a template whose column is gone shows %q", got)
	}
	v.runOps(object{"action": "updateAttrViewColTemplate", "avID": db, "id": computed, "type": "template", "data": fmt.Sprintf(".action{range until %d}.action{range until %d}x.action{end}.action{end}", 100000, 100000)})
	if got := len(v.renderCell(db, computed, rowA).Get("template.content").Str); got > 200 {
		t.Errorf("an endless template shows %d bytes", got)
	}
}
