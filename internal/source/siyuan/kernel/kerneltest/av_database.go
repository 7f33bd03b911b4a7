package kerneltest

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"
)

// object is a JSON object of a database, kept as it came.
type object = map[string]any

// database is data/storage/av/<id>.json.
type database struct {
	Spec   int         `json:"spec"`
	ID     string      `json:"id"`
	Name   string      `json:"name"`
	Keys   []*avColumn `json:"keyValues"`
	KeyIDs []string    `json:"keyIDs"`
	ViewID string      `json:"viewID"`
	Views  []object    `json:"views"`
}

// avColumn is a column with its values; a cell nobody has touched has none.
type avColumn struct {
	Key    object   `json:"key"`
	Values []object `json:"values,omitempty"`
}

func avPath(id string) string { return "/data/storage/av/" + id + ".json" }

// openDatabase reads a database, nil when there is none.
func (k *Kernel) openDatabase(id string) *database {
	f := k.files[avPath(id)]
	if f == nil || f.dir {
		return nil
	}
	var db database
	if err := json.Unmarshal(f.data, &db); err != nil {
		return nil
	}
	return &db
}

// saveDatabase writes a database.
func (k *Kernel) saveDatabase(db *database) {
	k.makeDirs(path.Dir(avPath(db.ID)))
	k.files[avPath(db.ID)] = &storedFile{data: mustJSON(db), changed: time.Now()}
}

// newDatabase makes a database with the two columns that every new one has.
func (k *Kernel) newDatabase(id string) *database {
	primary, choice, view := k.newID(), k.newID(), k.newID()
	place := func(key string) object {
		return object{"id": key, "wrap": false, "hidden": false, "pin": false, "width": ""}
	}
	return &database{
		Spec: 5, ID: id, ViewID: view,
		Keys: []*avColumn{{Key: newKey(primary, "Primary Key", "block", "")}, {Key: newKey(choice, "Select", "select", "")}},
		Views: []object{{
			"id": view, "icon": "", "name": "Table", "hideAttrViewName": false, "desc": "",
			"filters": []any{noFilter()}, "pageSize": 50, "type": "table",
			"table": object{
				"spec": 0, "id": k.newID(), "showIcon": true, "wrapField": false,
				"columns": []any{place(primary), place(choice)}, "rowIds": nil,
			},
			"groupCreated": 0, "groupItemIds": nil, "groupFolded": false, "groupHidden": 0, "groupSort": 0,
		}},
	}
}

// noFilter is how a view without filters has them.
func noFilter() object {
	return object{"column": "", "operator": "", "value": nil, "combination": "and"}
}

func newKey(id, name, kind, icon string) object {
	return object{"id": id, "name": name, "type": kind, "icon": icon, "desc": "", "numberFormat": "", "template": ""}
}

// at returns the text at a key of an object, "" when there is none.
func at(o object, key string) string {
	text, _ := o[key].(string)
	return text
}

// below returns the object at a key, nil when there is none.
func below(o object, key string) object {
	inner, _ := o[key].(object)
	return inner
}

func (db *database) column(id string) *avColumn {
	for _, c := range db.Keys {
		if at(c.Key, "id") == id {
			return c
		}
	}
	return nil
}

// primary is the column of the rows.
func (db *database) primary() *avColumn {
	for _, c := range db.Keys {
		if at(c.Key, "type") == "block" {
			return c
		}
	}
	return &avColumn{}
}

// value is the stored value of a cell, nil when nobody has touched it.
func (c *avColumn) value(row string) object {
	for _, v := range c.Values {
		if at(v, "blockID") == row {
			return v
		}
	}
	return nil
}

// order is the rows as the view keeps them, new ones first.
func (db *database) order() []string {
	var rows []string
	for _, item := range db.items() {
		if id, _ := item.(string); db.primary().value(id) != nil {
			rows = append(rows, id)
		}
	}
	return rows
}

func (db *database) items() []any {
	items, _ := db.Views[0]["itemIds"].([]any)
	return items
}

// mirrors are the blocks that show a database, oldest first.
func (k *Kernel) mirrors(id string) []*block {
	var found []*block
	for _, b := range k.blocks {
		if b.kind == kindDatabase && databaseID(b.text) == id && k.openBlock(b.id) != nil {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *block) int { return strings.Compare(a.id, b.id) })
	return found
}
