package av_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/av"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// The database of a world: two rows bound to blocks, one of its own, and a column of each type.
const (
	db      = kernel.ID("20240801120000-avmain1")
	dbBlock = kernel.ID("20240801120000-avblk01")
	other   = kernel.ID("20240801120000-avsecnd")
	otherB  = kernel.ID("20240801120000-avblk02")
	ghost   = kernel.ID("20990101000000-zzzzzzz")
	own     = kernel.ID("20240801130000-detach1") // the row of its own
	rowA    = kernel.ID("20240801130000-rowaaaa") // of the open notebook
	rowS    = kernel.ID("20240801130000-rowssss") // of the secret notebook
)

// world is a kernel with a database in notebook home, one of whose rows is bound to a block of
// notebook secret.
type world struct {
	*actiontest.Kit
	t                    testing.TB
	home, secret         kernel.ID
	doc                  kernel.ID // that the database is in
	open, hidden         kernel.ID // the blocks that rows are bound to
	primary              kernel.ID
	text, number, choice kernel.ID
}

func act(t testing.TB, name string) *action.Action {
	t.Helper()
	actions := av.Hasty().Actions
	i := slices.IndexFunc(actions, func(a *action.Action) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("there is no action %q", name)
	}
	return actions[i]
}

// args is a JSON object of names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{Kit: actiontest.New(t), t: t}
	w.home, w.secret = kernel.ID(w.Notebook("Home")), kernel.ID(w.Notebook("Geheim 秘密"))
	w.doc = kernel.ID(w.Doc(string(w.home), "/DB 数据库", "intro"))
	w.open = w.child(kernel.ID(w.Doc(string(w.home), "/Rows", "open row 行")))
	w.hidden = w.child(kernel.ID(w.Doc(string(w.secret), "/Hidden", "hidden row 暗")))
	w.database(db, dbBlock, w.doc)
	w.do(kernel.Operation{"action": "insertAttrViewBlock", "avID": db, "blockID": dbBlock, "srcs": []any{
		map[string]any{"itemID": rowA, "id": w.open, "isDetached": false},
		map[string]any{"itemID": rowS, "id": w.hidden, "isDetached": false},
		map[string]any{"itemID": own, "isDetached": true, "content": "own 游离"},
	}})
	stored, err := w.Client.Database(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	w.primary, w.choice = stored.Columns[0].Column.ID, stored.Columns[1].Column.ID
	w.text, w.number = w.column("text"), w.column("number")
	w.ResetCalls()
	return w
}

func (w *world) child(doc kernel.ID) kernel.ID {
	w.t.Helper()
	blocks, err := w.Client.ChildBlocks(w.t.Context(), doc)
	if err != nil || len(blocks) == 0 {
		w.t.Fatal(blocks, err)
	}
	return blocks[0].ID
}

// database makes a database with a block that shows it.
func (w *world) database(id, block, doc kernel.ID) {
	w.t.Helper()
	w.show(id, block, doc)
	if _, err := w.Client.RenderDatabase(w.t.Context(), kernel.Rendering{ID: id, Block: block, Create: true}); err != nil {
		w.t.Fatal(err)
	}
}

// show puts a block that shows a database into a document.
func (w *world) show(id, block, doc kernel.ID) {
	w.t.Helper()
	dom := fmt.Sprintf(`<div class="av" data-node-id=%q data-av-id=%q data-type="NodeAttributeView" data-av-type="table"></div>`, block, id)
	if _, err := w.Client.Append(w.t.Context(), doc, "dom", dom); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) do(ops ...kernel.Operation) {
	w.t.Helper()
	if _, err := w.Client.Transact(w.t.Context(), 1, ops...); err != nil {
		w.t.Fatal(err)
	}
}

// column adds a column to the database.
func (w *world) column(kind string) kernel.ID { return w.columnOf(db, kind) }

func (w *world) columnOf(id kernel.ID, kind string) kernel.ID {
	w.t.Helper()
	key := kernel.NewID()
	stored, err := w.Client.Database(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	last := stored.Columns[len(stored.Columns)-1].Column.ID
	w.do(kernel.Operation{"action": "addAttrViewCol", "avID": id, "id": key, "name": "Col " + kind, "type": kind, "data": "", "previousID": last})
	return key
}

// cell sets a cell to a value of the kernel's.
func (w *world) cell(id, row, column kernel.ID, data map[string]any) {
	w.t.Helper()
	w.do(kernel.Operation{"action": "updateAttrViewCell", "avID": id, "keyID": column, "rowID": row, "data": data})
}

// stored is the value of a cell as the kernel has it.
func (w *world) stored(row, column kernel.ID) *kernel.Value {
	w.t.Helper()
	d, err := w.Client.Database(w.t.Context(), db)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Value(row, column)
}

// refused runs an action that must be refused as kind, without a write.
func (w *world) refused(a *action.Action, args string, kind tool.ErrorKind) {
	w.t.Helper()
	_ = w.refusal(a, args, kind)
}

// refusal is [world.refused] that returns the error.
func (w *world) refusal(a *action.Action, args string, kind tool.ErrorKind) *tool.Error {
	w.t.Helper()
	w.ResetCalls()
	err := w.Refused(w.t, a, args, kind)
	if n := len(w.Writes()); n != 0 {
		w.t.Errorf("%s %s was refused after %d writes: %v", a.Name, args, n, w.Writes())
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		w.t.Fatalf("%v is no *tool.Error", err)
	}
	return e
}

// guarded checks the levels of an action on the database: one too low is refused, and at none
// the database is not found, in the words in which one that does not exist is not.
func (w *world) guarded(a *action.Action, need access.Level, argsOf func(id kernel.ID) string) {
	w.t.Helper()
	defer delete(w.Levels, w.home)
	if need > access.Read {
		w.Levels[w.home] = need - 1
		w.refused(a, argsOf(db), tool.Denied)
	}
	w.Levels[w.home] = access.None
	hidden := w.refusal(a, argsOf(db), tool.Unknown)
	missing := w.refusal(a, argsOf(ghost), tool.Unknown)
	same(w.t, hidden, missing, db, ghost)
	for _, bad := range []kernel.ID{"x", "20240801120000-AVMAIN1", "../../conf/conf"} {
		w.refused(a, argsOf(bad), tool.Unknown)
	}
}

// same fails unless two errors differ in nothing but the id that the caller wrote.
func same(t testing.TB, a, b *tool.Error, idA, idB kernel.ID) {
	t.Helper()
	pa, pb := string(a.Payload()), string(b.Payload())
	if got := replaceAll(pa, idA, idB); got != pb {
		t.Errorf("a hidden thing is told from one that does not exist:\n%s\n%s", pa, pb)
	}
}

func replaceAll(s string, from, to kernel.ID) string {
	return strings.ReplaceAll(s, string(from), string(to))
}
