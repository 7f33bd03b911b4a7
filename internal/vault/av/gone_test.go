package av_test

import (
	"testing"

	"collie/internal/vault/workspace"
)

// TestRowsGoWithTheirBlocks removes blocks in different ways. The rows that are bound to them must be removed too, as in a
// kernel.
func TestRowsGoWithTheirBlocks(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(v *vault, doc, outer, bound string){
		"deleted":   func(v *vault, _, _, bound string) { v.Ask("block/deleteBlock", object{"id": bound}) },
		"around it": func(v *vault, _, outer, _ string) { v.Ask("block/deleteBlock", object{"id": outer}) },
		"operation": func(v *vault, _, _, bound string) { v.runOps(object{"action": "delete", "id": bound}) },
		"document":  func(v *vault, doc, _, _ string) { v.Ask("filetree/removeDocByID", object{"id": doc}) },
		"overwritten": func(v *vault, doc, _, _ string) {
			v.Ask("block/updateBlock", object{"id": doc, "dataType": "markdown", "data": "x"})
		},
		"list": func(v *vault, _, outer, _ string) {
			v.Ask("block/updateBlock", object{"id": outer, "dataType": "markdown", "data": "- fresh"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, home := newVaultWithDatabase(t)
			box := v.Ask("notebook/createNotebook", object{"name": "Other"}).Get("notebook.id").Str
			doc := v.Ask("filetree/createDocWithMd", object{"notebook": box, "path": "/Doc", "markdown": "- bound\n- other"}).Str
			outer := v.topBlocks(doc)[0]
			bound := v.topBlocks(outer)[0]
			v.addBoundRows(db, rowA, bound, rowB, v.topBlocks(home)[0])
			remove(v, doc, outer, bound)
			if got := rowIDs(v.render(db, nil)); got != rowB {
				t.Errorf("the rows are %s, want %s alone", got, rowB)
			}
			if got := v.readFile(db).Raw; len(got) == 0 || v.readFile(db).Get(`keyValues.0.values.#`).Int() != 1 {
				t.Errorf("stored are %s", got)
			}
		})
	}
}

// TestRowsStayWithTheirBlocks checks that a block keeps its rows when it is moved, when it is cut off and put back within one
// write, and when its removal is undone.
func TestRowsStayWithTheirBlocks(t *testing.T) {
	t.Parallel()
	v, home := newVaultWithDatabase(t)
	box := v.Ask("notebook/createNotebook", object{"name": "Other"}).Get("notebook.id").Str
	doc := v.Ask("filetree/createDocWithMd", object{"notebook": box, "path": "/Doc", "markdown": "bound\n\nother"}).Str
	bound := v.topBlocks(doc)[0]
	v.addBoundRows(db, rowA, bound)
	v.Ask("block/moveBlock", object{"id": bound, "previousID": v.topBlocks(home)[0]})
	v.Update(func(tx *workspace.Tx) {
		b := tx.Block(bound)
		to := tx.Document(doc)
		b.Cut()
		tx.Flush()
		to.Root.Insert(0, b)
		tx.Try(func() bool {
			tx.RemoveDocument(tx.Document(doc))
			return false
		})
	})
	v.Ask("filetree/removeDocByID", object{"id": home})
	if got := rowIDs(v.render(db, nil)); got != rowA {
		t.Errorf("the rows are %s", got)
	}
}

// TestClearedCells checks that a number or date that is cleared is stored without its old content.
func TestClearedCells(t *testing.T) {
	t.Parallel()
	v, _ := newVaultWithDatabase(t)
	v.addDetachedRows(db, rowA, "A")
	for kind, given := range map[string]object{
		"number": {"content": 3.14159, "isNotEmpty": true}, "date": {"content": 1722470400000, "isNotEmpty": true},
	} {
		id := v.addColumn(db, "20240801140000-"+kind+"xxxxxxx"[:7-len(kind)], kind)
		v.setCell(db, id, rowA, object{"type": kind, kind: given})
		v.setCell(db, id, rowA, object{"type": kind, kind: object{"isNotEmpty": false}})
		got := v.readFile(db).Get(`keyValues.#(key.id=="` + id + `").values.0.` + kind)
		if got.Get("content").Num != 0 || got.Get("isNotEmpty").Bool() {
			t.Errorf("a cleared %s is %s", kind, got.Raw)
		}
	}
}
