package av

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file reads and writes the file of a database.

// database is one database. It belongs to a [databases], which writes its changes.
type database struct {
	id, name string
	spec     int
	columns  []*column
	// keyIDs is the order of columns in the editor's forms, nil until somebody changes it.
	keyIDs []string
	// viewID is the id of the current view.
	viewID string
	views  []object
	// otherMembers has all other members of the file, which are kept as they are.
	otherMembers map[string]json.RawMessage

	// changes is when the blocks of bound rows were last changed, by block id.
	changes map[string]time.Time
	changed bool
	// size is the length of the file when it was read, in bytes.
	size int
}

// parseDatabase parses the file of a database; nil if it is invalid. Columns without an id and views that are not
// objects are left out. Cells are not parsed yet, since databases may be large and every operation reads them.
func parseDatabase(data []byte) *database {
	data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	if tooDeep(data) || !gjson.ValidBytes(data) {
		return nil
	}
	db := &database{otherMembers: map[string]json.RawMessage{}, size: len(data)}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return nil
	}
	root.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "spec":
			db.spec = int(v.Int())
		case "id":
			db.id = v.String()
		case "name":
			db.name = v.String()
		case "viewID":
			db.viewID = v.String()
		case "keyIDs":
			for _, id := range v.Array() {
				db.keyIDs = append(db.keyIDs, id.String())
			}
		case "keyValues":
			for _, one := range v.Array() {
				if c := parseColumn(one); c != nil {
					db.columns = append(db.columns, c)
				}
			}
		case "views":
			for _, one := range v.Array() {
				if o := asObject(one.Value()); o != nil {
					db.views = append(db.views, o)
				}
			}
		default:
			db.otherMembers[name.Str] = json.RawMessage(v.Raw)
		}
		return true
	})
	return db
}

// maxNesting bounds how deep the JSON of a database may be nested, since parsers and encoders recurse for each level.
const maxNesting = 1000

// tooDeep reports whether JSON is nested deeper than maxNesting.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxNesting {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// MarshalJSON encodes a database in the form of its file.
func (db *database) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.Grow(db.size + 4096)
	member := func(name string, v any) {
		out.Write(api.MustJSON(name))
		out.WriteByte(':')
		out.Write(api.MustJSON(v))
	}
	out.WriteByte('{')
	member("spec", db.spec)
	out.WriteByte(',')
	member("id", db.id)
	out.WriteByte(',')
	member("name", db.name)
	out.WriteString(`,"keyValues":[`)
	for i, c := range db.columns {
		if i > 0 {
			out.WriteByte(',')
		}
		c.write(&out)
	}
	out.WriteString("],")
	member("keyIDs", db.keyIDs)
	out.WriteByte(',')
	member("viewID", db.viewID)
	out.WriteByte(',')
	member("views", db.views)
	for _, name := range slices.Sorted(maps.Keys(db.otherMembers)) {
		out.WriteByte(',')
		member(name, db.otherMembers[name])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// column returns the first column with an id, nil if there is none.
func (db *database) column(id string) *column {
	for _, c := range db.columns {
		if c.id() == id {
			return c
		}
	}
	return nil
}

// primary returns the column with the names of the rows, or an empty one if the database has lost it.
func (db *database) primary() *column {
	for _, c := range db.columns {
		if c.kind() == siyuanapi.ColumnBlock {
			return c
		}
	}
	return &column{Key: object{"type": siyuanapi.ColumnBlock}}
}

// hasRow reports whether a row exists.
func (db *database) hasRow(row string) bool { return db.primary().cell(row) != nil }

// rowOf returns the row that is bound to a block, "" if there is none.
func (db *database) rowOf(block string) string {
	for _, c := range db.primary().cells {
		if block != "" && c.block() == block {
			return c.row
		}
	}
	return ""
}

// newDatabase returns a new database with the two columns that SiYuan gives to each.
func newDatabase(tx *workspace.Tx, id string) *database {
	primary, choice := tx.NewID(), tx.NewID()
	view := newView(tx, tx.NewID(), "Table", layoutTable)
	view.at(layoutTable)["columns"] = []any{newPlace(layoutTable, primary), newPlace(layoutTable, choice)}
	return &database{
		spec: 5, id: id, viewID: view.str("id"), views: []object{view.object}, changed: true,
		columns: []*column{newColumn(primary, "Primary Key", siyuanapi.ColumnBlock, ""), newColumn(choice, "Select", siyuanapi.ColumnSelect, "")},
	}
}

// databaseIDs returns the ids of all databases.
func databaseIDs(tx *workspace.Tx) []string {
	var ids []string
	for _, f := range tx.Files(siyuanapi.Databases) {
		if id, isJSON := strings.CutSuffix(path.Base(f.Path), ".json"); isJSON && !f.Dir && tree.ValidID(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// databases reads the databases that one call needs, each only once, and writes those that changed.
type databases struct {
	tx   *workspace.Tx
	open map[string]*database
	// templates is how long the templates of columns have run in this call.
	templates time.Duration
}

func newDatabases(tx *workspace.Tx) *databases {
	return &databases{tx: tx, open: map[string]*database{}}
}

// database returns a database, nil if there is none.
func (s *databases) database(id string) *database {
	if db, ok := s.open[id]; ok {
		return db
	}
	db := parseDatabase(s.read(id))
	if db != nil {
		db.id = id // the name of the file counts
		db.refreshBoundRows(s.tx)
	}
	s.open[id] = db
	return db
}

func (s *databases) read(id string) []byte {
	if !tree.ValidID(id) {
		return nil
	}
	return s.tx.ReadFile(siyuanapi.DatabasePath(id))
}

// mustDatabase returns a database. If there is none, it ends the request with an error, and returns an empty one for
// the code that still runs.
func (s *databases) mustDatabase(id string) *database {
	if db := s.database(id); db != nil {
		return db
	}
	api.End(s.tx, api.Fail(-1, "view not found"))
	return newDatabase(s.tx, id)
}

// add adds a new database.
func (s *databases) add(db *database) {
	s.open[db.id] = db
	db.changed = true
}

// save writes the databases that changed.
func (s *databases) save() {
	for _, id := range slices.Sorted(maps.Keys(s.open)) {
		if db := s.open[id]; db != nil && db.changed {
			data, _ := db.MarshalJSON() // never fails
			s.tx.WriteFile(siyuanapi.DatabasePath(id), data, time.Time{})
			db.changed = false
		}
	}
}
