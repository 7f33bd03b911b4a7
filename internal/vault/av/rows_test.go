package av_test

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/vault/workspace"
)

// addBoundRows adds rows bound to blocks.
func (v *vault) addBoundRows(database string, rowsAndBlocks ...string) {
	v.T.Helper()
	srcs := []any{}
	for i := 0; i+1 < len(rowsAndBlocks); i += 2 {
		srcs = append(srcs, object{"itemID": rowsAndBlocks[i], "id": rowsAndBlocks[i+1], "isDetached": false})
	}
	v.runOps(object{"action": "insertAttrViewBlock", "avID": database, "srcs": srcs})
}

// memberships returns the attribute of a block that lists the databases it is a row in, separated by commas.
func (v *vault) memberships(block string) string {
	v.T.Helper()
	return v.Ask("attr/getBlockAttrs", object{"id": block}).Get("custom-avs").Str
}

// primaryCell returns the block in the primary cell of a row of a rendered table.
func primaryCell(rendered gjson.Result, row string) gjson.Result {
	return rendered.Get(`view.rows.#(id=="` + row + `").cells.#(valueType=="block").value.block`)
}

func TestBoundRows(t *testing.T) {
	t.Parallel()
	v, doc := newVaultWithDatabase(t)
	v.showDatabase(doc, "20240801120000-avblk02", second)
	blocks := v.topBlocks(doc)
	v.addBoundRows(db, rowA, blocks[0], rowB, blocks[1], rowC, doc)
	v.addBoundRows(second, target1, blocks[0])
	if got := v.memberships(blocks[0]); got != db+","+second {
		t.Errorf("the block is in %q", got)
	}
	if got := primaryCell(v.render(db, nil), rowC).Get("content").Str; got != "DB 数据库" {
		t.Errorf("a document shows as %q", got)
	}

	v.addBoundRows(db, "20240801130009-rowagai", blocks[0])
	v.addBoundRows(db, "20240801130008-rowghos", "20990101000000-zzzzzzz")
	if got := rowIDs(v.render(db, nil)); got != rowA+" "+rowB+" "+rowC {
		t.Errorf("rows %s", got)
	}

	v.Ask("block/updateBlock", object{"id": blocks[0], "dataType": "markdown", "data": "one **anew**\n{: custom-avs=\"" + db + "," + second + "\"}"})
	for name, got := range map[string]gjson.Result{
		"rendered": primaryCell(v.render(db, nil), rowA),
		"stored":   v.readFile(db).Get(`keyValues.#(key.type=="block").values.#(blockID=="` + rowA + `").block`),
		"listed":   v.Ask("av/getAttributeViewPrimaryKeyValues", object{"id": db, "keyword": "anew"}).Get("rows.values.0.block"),
	} {
		if got.Get("content").Str != "one anew" || got.Get("id").Str != blocks[0] {
			t.Errorf("%s: %s", name, got.Raw)
		}
	}

	v.runOps(object{"action": "removeAttrViewBlock", "avID": db, "srcIDs": []string{rowA, blocks[1]}})
	if got := v.memberships(blocks[0]); got != second {
		t.Errorf("after the removal the block is in %q", got)
	}
	if got := rowIDs(v.render(db, nil)); got != rowB+" "+rowC {
		t.Errorf("removing by the id of a block: rows %s", got)
	}
	v.Ask("block/deleteBlock", object{"id": blocks[1]})
	if got := rowIDs(v.render(db, nil)); got != rowC {
		t.Errorf("after one of the blocks is gone: rows %s", got)
	}
}

func TestOrderOfRows(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowB, "B", rowC, "C")
	v.addDetachedRows(db, rowA, "A")
	if got := rowIDs(v.render(db, nil)); got != rowA+" "+rowB+" "+rowC {
		t.Errorf("new rows come first: %s", got)
	}
	v.runOps(object{"action": "insertAttrViewBlock", "avID": db, "previousID": rowB, "srcs": []any{
		object{"itemID": target1, "isDetached": true, "content": "1"},
		object{"itemID": target2, "isDetached": true, "content": "2"},
		object{"itemID": rowA, "isDetached": true, "content": "taken"},
	}})
	if got := rowIDs(v.render(db, nil)); got != strings.Join([]string{rowA, rowB, target1, target2, rowC}, " ") {
		t.Errorf("behind B: %s", got)
	}
	for page, want := range map[int]string{1: rowA + " " + rowB, 3: rowC, 9: "", 0: rowA + " " + rowB} {
		got := v.render(db, object{"page": page, "pageSize": 2})
		if rowIDs(got) != want || got.Get("view.rowCount").Int() != 5 {
			t.Errorf("page %d: %s of %d", page, rowIDs(got), got.Get("view.rowCount").Int())
		}
	}
	if got := v.render(db, object{"page": 1 << 40, "pageSize": 1 << 40}); rowIDs(got) != "" {
		t.Errorf("a page far away: %s", rowIDs(got))
	}
}

func TestRenderMakesDatabases(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	const ghost = "20990101000001-ghostav"
	if got := v.Answer("av/renderAttributeView", object{"id": ghost, "createIfNotExist": false}); got.Get("msg").Str != "attribute view not found" {
		t.Errorf("got %s", got.Raw)
	}
	for _, id := range []string{"x", "../../etc", "20990101000001-GHOSTAV", ""} {
		if got := v.Answer("av/renderAttributeView", object{"id": id}); got.Get("msg").Str != "invalid id" {
			t.Errorf("%q: %s", id, got.Raw)
		}
	}
	for _, bad := range []object{{}, {"id": 1}, {"id": ghost, "page": "x"}, {"id": ghost, "query": []any{}}, {"id": ghost, "ignoreRows": 1}} {
		if got := v.Answer("av/renderAttributeView", bad); got.Raw != "" {
			t.Errorf("%v: %s", bad, got.Raw)
		}
	}
	if got := v.Ask("av/getAttributeView", object{"id": ghost}).Get("av").Raw; got != "null" {
		t.Errorf("made all the same: %s", got)
	}
	v.Ask("av/renderAttributeView", object{"id": ghost})
	if got := v.readFile(ghost); got.Get("spec").Int() != 5 || got.Get("keyIDs").Raw != "null" || got.Get("views.#").Int() != 1 {
		t.Errorf("the new database is %s", got.Raw)
	}
	var file string
	if err := v.Workspace.View(t.Context(), func(tx *workspace.Tx) error {
		file = string(tx.ReadFile("/data/storage/av/" + ghost + ".json"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if file != v.readFile(ghost).Raw {
		t.Errorf("the file is %s", file)
	}
}

func TestDuplicate(t *testing.T) {
	t.Parallel()
	v := newRelatedVault(t)
	v.runOps(object{"action": "setAttrViewName", "id": db, "data": "Projects"})
	before, other := v.readFile(db).Raw, v.readFile(second).Raw
	id := v.Ask("av/duplicateAttributeViewBlock", object{"avID": db}).Get("avID").Str
	got := v.readFile(id)
	if !strings.HasPrefix(got.Get("name").Str, "Projects (Duplicated 20") || got.Get("keyValues.#").Int() != gjson.Get(before, "keyValues.#").Int() {
		t.Errorf("the copy is %s", got.Raw)
	}
	if how := got.Get(`keyValues.#(key.id=="` + relation + `").key.relation`); how.Get("isTwoWay").Bool() || how.Get("avID").Str != second {
		t.Errorf("the relation of the copy is %s", how.Raw)
	}
	v.setCell(id, relation, rowA, object{"relation": object{"blockIDs": []string{target3}}})
	if v.readFile(db).Raw != before || v.readFile(second).Raw != other {
		t.Error("a change of the copy reaches others")
	}
	if got := v.renderCell(id, relation, rowA).Get("relation.contents.0.block.content").Str; got != "target C" {
		t.Errorf("the copy is related to %q", got)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	v, doc := newVaultWithDatabase(t)
	v.showDatabase(doc, "20240801120000-avblk02", second)
	v.Ask("av/renderAttributeView", object{"id": "20990101000001-ghostav"}) // no block shows it
	v.runOps(object{"action": "setAttrViewName", "id": db, "data": "Projects 项目"},
		object{"action": "addAttrViewView", "avID": db, "id": "20240801160000-newview", "blockID": dbBlock, "layout": "gallery"})
	for keyword, want := range map[string]string{"": db + " " + second, "项目": db, "PROJ": db, "nothing": ""} {
		var ids []string
		for _, hit := range v.Ask("av/searchAttributeView", object{"keyword": keyword}).Get("results").Array() {
			ids = append(ids, hit.Get("avID").Str)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q finds %s, want %s", keyword, got, want)
		}
	}
	hit := v.Ask("av/searchAttributeView", object{"keyword": "项目"}).Get("results.0")
	if hit.Get("hPath").Str != "Databases/DB 数据库" || hit.Get("children.#").Int() != 2 || hit.Get("children.1.viewLayout").Str != "gallery" {
		t.Errorf("the hit is %s", hit.Raw)
	}
	if got := v.Ask("av/getMirrorDatabaseBlocks", object{"avID": db}).Get("refDefs.#.refID").Raw; got != `["`+dbBlock+`"]` {
		t.Errorf("blocks %s", got)
	}
}

func TestBindingByCell(t *testing.T) {
	t.Parallel()
	v, doc := newVaultWithDatabase(t)
	blocks := v.topBlocks(doc)
	v.addDetachedRows(db, rowA, "A")
	name := v.readFile(db).Get(`keyValues.#(key.type=="block").key.id`).Str
	for _, step := range []struct {
		data          object
		block, shown  string
		first, second string // the databases in which the two blocks are rows
	}{
		{data: object{"isDetached": false, "block": object{"id": blocks[0]}}, block: blocks[0], shown: "one", first: db},
		{data: object{"block": object{"id": blocks[1]}}, block: blocks[1], shown: "two", second: db},
		{data: object{"block": object{"id": "20990101000000-zzzzzzz"}}, block: blocks[1], shown: "two", second: db},
		{data: object{"isDetached": true, "block": object{"id": "", "content": "alone"}}, shown: "alone"},
	} {
		v.setCell(db, name, rowA, step.data)
		if got := primaryCell(v.render(db, nil), rowA); got.Get("id").Str != step.block || got.Get("content").Str != step.shown {
			t.Errorf("%v: %s", step.data, got.Raw)
		}
		if a, b := v.memberships(blocks[0]), v.memberships(blocks[1]); a != step.first || b != step.second {
			t.Errorf("%v: the blocks are in %q and %q", step.data, a, b)
		}
	}
}
