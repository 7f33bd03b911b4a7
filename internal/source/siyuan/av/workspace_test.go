package av_test

import (
	"fmt"
	"slices"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/av"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// The database db of the tests has two rows bound to blocks, one bound to none, and the columns primary key, select,
// text and number. The database other is made by some tests.
const (
	db      = kernel.ID("20240801120000-avmain1")
	dbBlock = kernel.ID("20240801120000-avblk01")
	other   = kernel.ID("20240801120000-avsecnd")
	otherB  = kernel.ID("20240801120000-avblk02")
	own     = kernel.ID("20240801130000-detach1") // a row that is bound to no block
	rowA    = kernel.ID("20240801130000-rowaaaa") // bound to a block of the notebook home
	rowS    = kernel.ID("20240801130000-rowssss") // bound to a block of the notebook secret
)

// workspace is a kernel with a database in notebook home, one of whose rows is bound to a block of
// notebook secret.
type workspace struct {
	*actiontest.Kit
	t                    testing.TB
	home, secret         kernel.ID
	doc                  kernel.ID // with the block that shows the database
	open, hidden         kernel.ID // the blocks that rowA and rowS are bound to
	primary              kernel.ID
	text, number, choice kernel.ID
}

// findAction returns an action of the tool by its name.
func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	actions := av.ToolWithShortWaits().Actions
	i := slices.IndexFunc(actions, func(a *action.Action) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("there is no action %q", name)
	}
	return actions[i]
}

func newWorkspace(t testing.TB) *workspace {
	t.Helper()
	w := &workspace{Kit: actiontest.New(t), t: t}
	w.home, w.secret = kernel.ID(w.Notebook("Home")), kernel.ID(w.Notebook("Geheim 秘密"))
	w.doc = kernel.ID(w.Doc(string(w.home), "/DB 数据库", "intro"))
	w.open = w.firstBlock(kernel.ID(w.Doc(string(w.home), "/Rows", "open row 行")))
	w.hidden = w.firstBlock(kernel.ID(w.Doc(string(w.secret), "/Hidden", "hidden row 暗")))
	w.makeDatabase(db, dbBlock, w.doc)
	w.transact(kernel.Operation{"action": "insertAttrViewBlock", "avID": db, "blockID": dbBlock, "srcs": []any{
		map[string]any{"itemID": rowA, "id": w.open, "isDetached": false},
		map[string]any{"itemID": rowS, "id": w.hidden, "isDetached": false},
		map[string]any{"itemID": own, "isDetached": true, "content": "own 游离"},
	}})
	stored, err := w.Client.Database(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	w.primary, w.choice = stored.Columns[0].Column.ID, stored.Columns[1].Column.ID
	w.text, w.number = w.addColumn("text"), w.addColumn("number")
	w.ResetCalls()
	return w
}

// firstBlock returns the first block of a document.
func (w *workspace) firstBlock(doc kernel.ID) kernel.ID {
	w.t.Helper()
	blocks, err := w.Client.ChildBlocks(w.t.Context(), doc)
	if err != nil || len(blocks) == 0 {
		w.t.Fatal(blocks, err)
	}
	return blocks[0].ID
}

// makeDatabase makes a database with a block that shows it.
func (w *workspace) makeDatabase(id, block, doc kernel.ID) {
	w.t.Helper()
	w.appendDatabaseBlock(id, block, doc)
	if _, err := w.Client.RenderDatabase(w.t.Context(), kernel.Rendering{ID: id, Block: block, Create: true}); err != nil {
		w.t.Fatal(err)
	}
}

// appendDatabaseBlock puts a block that shows a database into a document.
func (w *workspace) appendDatabaseBlock(id, block, doc kernel.ID) {
	w.t.Helper()
	dom := fmt.Sprintf(`<div class="av" data-node-id=%q data-av-id=%q data-type="NodeAttributeView" data-av-type="table"></div>`, block, id)
	if _, err := w.Client.Append(w.t.Context(), doc, "dom", dom); err != nil {
		w.t.Fatal(err)
	}
}

// transact runs operations in the kernel, in one transaction.
func (w *workspace) transact(ops ...kernel.Operation) {
	w.t.Helper()
	if _, err := w.Client.Transact(w.t.Context(), 1, ops...); err != nil {
		w.t.Fatal(err)
	}
}

// addColumn adds a column of a type to the database db.
func (w *workspace) addColumn(kind string) kernel.ID { return w.addColumnTo(db, kind) }

// addColumnTo adds a column of a type to the end of a database.
func (w *workspace) addColumnTo(id kernel.ID, kind string) kernel.ID {
	w.t.Helper()
	key := kernel.NewID()
	stored, err := w.Client.Database(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	last := stored.Columns[len(stored.Columns)-1].Column.ID
	w.transact(kernel.Operation{"action": "addAttrViewCol", "avID": id, "id": key, "name": "Col " + kind, "type": kind, "data": "", "previousID": last})
	return key
}

// setCell sets a cell to a value in the form of the kernel.
func (w *workspace) setCell(id, row, column kernel.ID, data map[string]any) {
	w.t.Helper()
	w.transact(kernel.Operation{"action": "updateAttrViewCell", "avID": id, "keyID": column, "rowID": row, "data": data})
}

// storedValue returns the value of a cell as the kernel stores it.
func (w *workspace) storedValue(row, column kernel.ID) *kernel.Value {
	w.t.Helper()
	d, err := w.Client.Database(w.t.Context(), db)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Value(row, column)
}

// checkGuarded checks that an action needs a level on the database, and that it finds no database by an invalid id.
func (w *workspace) checkGuarded(a *action.Action, need access.Level, argsOf func(id kernel.ID) string) {
	w.t.Helper()
	w.Guarded(w.t, a, need, w.home, db, argsOf(db))
	for _, bad := range []kernel.ID{"x", "20240801120000-AVMAIN1", "../../conf/conf"} {
		w.Refused(w.t, a, argsOf(bad), tool.NotFound)
	}
}

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }
