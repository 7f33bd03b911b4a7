package av_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"collie/internal/vault/av"
	"collie/internal/vault/block"
	"collie/internal/vault/document"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

type object = map[string]any

// vault is a workspace in a temporary file with the routes that databases need around them.
type vault struct{ *vaulttest.Vault }

// newVault returns a vault with the routes that the tests of databases call.
func newVault(t testing.TB) *vault {
	t.Helper()
	return &vault{vaulttest.New(t, document.Register, block.Register, av.Register)}
}

// runOps runs operations in one transaction.
func (v *vault) runOps(ops ...object) {
	v.T.Helper()
	v.Ask("transactions", object{"transactions": []any{object{"doOperations": ops, "undoOperations": []any{}}}, "reqId": 1, "app": "", "session": ""})
}

// Ids of the databases, the block and the rows in most tests.
const (
	db      = "20240801120000-avmain1"
	dbBlock = "20240801120000-avblk01"
	second  = "20240801120000-avsecnd"
	rowA    = "20240801130000-rowaaaa"
	rowB    = "20240801130001-rowbbbb"
	rowC    = "20240801130002-rowcccc"
)

// newVaultWithDatabase returns a vault with a document that shows the database db, and the id of the document.
func newVaultWithDatabase(t testing.TB) (*vault, string) {
	t.Helper()
	v := newVault(t)
	box := v.Ask("notebook/createNotebook", object{"name": "Databases"}).Get("notebook.id").Str
	doc := v.Ask("filetree/createDocWithMd", object{"notebook": box, "path": "/DB 数据库", "markdown": "one\n\ntwo\n\nthree"}).Str
	v.showDatabase(doc, dbBlock, db)
	return v, doc
}

// showDatabase makes a database and appends a block that shows it to a document.
func (v *vault) showDatabase(doc, block, id string) {
	v.T.Helper()
	v.Ask("block/appendBlock", object{"dataType": "dom", "parentID": doc, "data": `<div class="av" data-node-id="` + block +
		`" data-av-id="` + id + `" data-type="NodeAttributeView" data-av-type="table"></div>`})
	v.Ask("av/renderAttributeView", object{"id": id, "blockID": block, "createIfNotExist": true})
}

// topBlocks returns the ids of the blocks at the top level of a document.
func (v *vault) topBlocks(doc string) []string {
	v.T.Helper()
	var ids []string
	for _, b := range v.Ask("block/getChildBlocks", object{"id": doc}).Array() {
		ids = append(ids, b.Get("id").Str)
	}
	return ids
}

// addDetachedRows adds detached rows, given by id and text in turn. A detached row has no block.
func (v *vault) addDetachedRows(database string, rows ...string) {
	v.T.Helper()
	srcs := []any{}
	for i := 0; i+1 < len(rows); i += 2 {
		srcs = append(srcs, object{"itemID": rows[i], "isDetached": true, "content": rows[i+1]})
	}
	v.runOps(object{"action": "insertAttrViewBlock", "avID": database, "srcs": srcs})
}

// addColumn adds a column at the front of a database and returns its id.
func (v *vault) addColumn(database, id, kind string) string {
	v.T.Helper()
	v.runOps(object{"action": "addAttrViewCol", "avID": database, "id": id, "name": kind, "type": kind, "data": "", "previousID": ""})
	return id
}

// setCell writes a cell.
func (v *vault) setCell(database, column, row string, data object) {
	v.T.Helper()
	v.runOps(object{"action": "updateAttrViewCell", "avID": database, "keyID": column, "rowID": row, "data": data})
}

// render returns a rendered database. The members of more are added to the request.
func (v *vault) render(database string, more object) gjson.Result {
	v.T.Helper()
	body := object{"id": database, "createIfNotExist": false, "pageSize": 10000}
	maps.Copy(body, more)
	return v.Ask("av/renderAttributeView", body)
}

// renderCell returns the rendered value of a cell.
func (v *vault) renderCell(database, column, row string) gjson.Result {
	v.T.Helper()
	return v.render(database, nil).Get(`view.rows.#(id=="` + row + `").cells.#(value.keyID=="` + column + `").value`)
}

// rowIDs returns the ids of the rows of a rendered table, separated by spaces.
func rowIDs(rendered gjson.Result) string {
	var ids []string
	for _, row := range rendered.Get("view.rows.#.id").Array() {
		ids = append(ids, row.Str)
	}
	return strings.Join(ids, " ")
}

// readFile returns the file of a database.
func (v *vault) readFile(database string) gjson.Result {
	v.T.Helper()
	return v.Ask("av/getAttributeView", object{"id": database}).Get("av")
}

// setInFile sets a member of a view ("views") or a column ("keyValues") in the file of a database, as SiYuan's editor does.
func (v *vault) setInFile(database, list, id, member string, value any) {
	v.T.Helper()
	data := v.readFile(database)
	for i, one := range data.Get(list).Array() {
		if one.Get("id").Str == id || one.Get("key.id").Str == id {
			changed, err := sjson.Set(data.Raw, fmt.Sprintf("%s.%d.%s", list, i, member), value)
			if err != nil {
				v.T.Fatal(err)
			}
			v.writeFile(database, changed)
		}
	}
}

// setInView sets a member of the current view of the first database.
func (v *vault) setInView(member string, value any) {
	v.T.Helper()
	v.setInFile(db, "views", v.readFile(db).Get("viewID").Str, member, value)
}

// writeFile writes the file of a database directly, as another program would.
func (v *vault) writeFile(database, data string) {
	v.T.Helper()
	v.Update(func(tx *workspace.Tx) {
		tx.WriteFile("/data/storage/av/"+database+".json", []byte(data), tx.Stat("/data").Changed)
	})
}
