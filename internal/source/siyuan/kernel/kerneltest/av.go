package kerneltest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// avFamily answers the endpoints below /api/av. Databases are the files below data/storage/av, as the real kernel keeps
// them. Filters, sorts, groups and layouts other than tables are left out.
func avFamily(k *Kernel) {
	k.handle("/api/av/getAttributeView", getAttributeView)
	k.handle("/api/av/renderAttributeView", renderAttributeView)
	k.handle("/api/av/getAttributeViewKeysByAvID", getAttributeViewKeysByAvID)
	k.handle("/api/av/getAttributeViewFilterSort", getAttributeViewFilterSort)
	k.handle("/api/av/getAttributeViewPrimaryKeyValues", getAttributeViewPrimaryKeyValues)
	k.handle("/api/av/getMirrorDatabaseBlocks", getMirrorDatabaseBlocks)
	k.handle("/api/av/searchAttributeView", searchAttributeView)
	k.handle("/api/av/getAttributeViewItemIDsByBoundIDs", getItemIDsByBoundIDs)
	k.handle("/api/av/getAttributeViewBoundBlockIDsByItemIDs", getBoundBlockIDsByItemIDs)
	k.handle("/api/av/duplicateAttributeViewBlock", duplicateAttributeViewBlock)
	k.handle("/api/av/addAttributeViewKey", addAttributeViewKey)
	k.handle("/api/av/removeAttributeViewKey", removeAttributeViewKey)
	k.handle("/api/av/addAttributeViewBlocks", addAttributeViewBlocks)
	k.handle("/api/av/removeAttributeViewBlocks", removeAttributeViewBlocks)
	k.handle("/api/av/setAttributeViewBlockAttr", setAttributeViewBlockAttr)
	avOperations(k)
}

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

func getAttributeView(k *Kernel, req request) reply {
	db := k.openDatabase(req.id("id"))
	if db == nil {
		return ok(object{"av": nil})
	}
	return ok(object{"av": db})
}

func getAttributeViewKeysByAvID(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	keys := []object{}
	for _, c := range db.Keys {
		keys = append(keys, c.Key)
	}
	return ok(keys)
}

func getAttributeViewFilterSort(k *Kernel, req request) reply {
	id := req.id("id")
	_ = req.str("blockID")
	db := k.openDatabase(id)
	if db == nil {
		return ok(object{"filters": nil, "sorts": nil})
	}
	filters := db.Views[0]["filters"]
	return ok(object{"filters": filters, "sorts": []any{}})
}

func getMirrorDatabaseBlocks(k *Kernel, req request) reply {
	refs := []object{}
	for _, b := range k.mirrors(req.str("avID")) {
		refs = append(refs, object{"refID": b.id, "defIDs": []any{}})
	}
	return ok(object{"refDefs": refs})
}

func getAttributeViewPrimaryKeyValues(k *Kernel, req request) reply {
	db := k.openDatabase(req.id("id"))
	if db == nil {
		return fail(-1, "view not found")
	}
	keyword := strings.ToLower(req.optStr("keyword"))
	values := []object{}
	for _, v := range db.primary().Values {
		if strings.Contains(strings.ToLower(at(below(v, "block"), "content")), keyword) {
			values = append(values, v)
		}
	}
	slices.SortStableFunc(values, func(a, b object) int { return int(number(b["updatedAt"]) - number(a["updatedAt"])) })
	values = cut(values, req.optNum("page", 1), req.optNum("pageSize", 16))
	ids := []string{}
	for _, b := range k.mirrors(db.ID) {
		ids = append(ids, b.id)
	}
	return ok(object{"blockIDs": ids, "name": db.Name, "rows": object{"key": db.primary().Key, "values": values}})
}

// cut is a page of a list; pages begin with 1.
func cut[T any](list []T, page, size int) []T {
	from := min(max(page-1, 0)*size, len(list))
	return list[from:min(from+size, len(list))]
}

func number(v any) float64 {
	n, _ := v.(float64)
	return n
}

func searchAttributeView(k *Kernel, req request) reply {
	keyword, excludes := strings.ToLower(req.str("keyword")), req.optStrs("excludes")
	results := []object{}
	for _, id := range k.databaseIDs() {
		db, blocks := k.openDatabase(id), k.mirrors(id)
		if db == nil || len(blocks) == 0 || slices.Contains(excludes, id) || !strings.Contains(strings.ToLower(db.Name), keyword) {
			continue
		}
		hit := func(b *block) object {
			return object{
				"avID": id, "avName": db.Name, "viewName": "", "viewID": "", "viewLayout": "", "blockID": b.id,
				"hPath": b.doc.box.conf.Name + b.doc.hpath(),
			}
		}
		result, children := hit(blocks[0]), []object{}
		for _, b := range blocks {
			child := hit(b)
			child["viewName"], child["viewID"], child["viewLayout"] = at(db.Views[0], "name"), db.ViewID, "table"
			children = append(children, child)
		}
		result["children"] = children
		results = append(results, result)
	}
	return ok(object{"results": results})
}

// databaseIDs are the ids of all databases.
func (k *Kernel) databaseIDs() []string {
	var ids []string
	for p := range k.files {
		if id, isDatabase := strings.CutSuffix(path.Base(p), ".json"); isDatabase && path.Dir(p) == "/data/storage/av" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func getItemIDsByBoundIDs(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	found := object{}
	for _, id := range req.strs("blockIDs") {
		found[id] = db.boundRow(id)
	}
	return ok(found)
}

func getBoundBlockIDsByItemIDs(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	found := object{}
	for _, id := range req.strs("itemIDs") {
		found[id] = at(below(db.primary().value(id), "block"), "id")
	}
	return ok(found)
}

// boundRow is the row that is bound to a block.
func (db *database) boundRow(block string) string {
	for _, v := range db.primary().Values {
		if at(below(v, "block"), "id") == block {
			return at(v, "blockID")
		}
	}
	return ""
}

func duplicateAttributeViewBlock(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	db.ID = k.newID()
	db.Name = strings.TrimSpace(fmt.Sprintf("%s (Duplicated %s)", db.Name, time.Now().Format(time.DateTime)))
	k.saveDatabase(db)
	return ok(object{"avID": db.ID, "blockID": k.newID()})
}

// renderAttributeView makes the database when there is none, unless it is told not to.
func renderAttributeView(k *Kernel, req request) (rep reply) {
	defer func() {
		if cause, is := recover().(panicked); is {
			_ = cause // this handler writes its answer late: nothing comes
			rep = reply{raw: []byte{}, contentType: "application/json; charset=utf-8"}
		}
	}()
	id := req.str("id")
	if !validID(id) {
		return fail(-1, "invalid id")
	}
	db := k.openDatabase(id)
	if db == nil {
		if !req.optFlag("createIfNotExist", true) {
			return fail(-1, "attribute view not found")
		}
		db = k.newDatabase(id)
		k.saveDatabase(db)
	}
	view := db.Views[0]
	columns, rows := k.renderTable(db)
	if query := strings.ToLower(req.optStr("query")); query != "" {
		rows = slices.DeleteFunc(rows, func(row object) bool { return !strings.Contains(strings.ToLower(texts(row)), query) })
	}
	count := len(rows)
	if req.optFlag("ignoreRows", false) {
		rows, count = nil, 0
	}
	rows = cut(rows, req.optNum("page", 1), req.optNum("pageSize", 50))
	if rows == nil {
		rows = []object{}
	}
	head := object{
		"id": db.ViewID, "icon": "", "name": at(view, "name"), "desc": "", "hideAttrViewName": false, "pageSize": 50,
	}
	shown := object{
		"filters": view["filters"], "sorts": []any{}, "group": nil, "showIcon": true, "wrapField": false, "groupFolded": false,
		"groupHidden": 0, "columns": columns, "rows": rows, "rowCount": count,
	}
	short := object{"type": "table"}
	for key, value := range head {
		shown[key], short[key] = value, value
	}
	return ok(object{
		"defaultTemplateID": "", "id": id, "isMirror": false, "name": db.Name, "newItemTemplates": nil, "view": shown,
		"viewID": db.ViewID, "viewType": "table", "views": []object{short},
	})
}

// texts is everything that can be read in a row.
func texts(row object) string {
	var out strings.Builder
	cells, _ := row["cells"].([]object)
	for _, cell := range cells {
		value, _ := cell["value"].(object)
		for _, key := range []string{"block", "text", "url", "email", "phone"} {
			out.WriteString(at(below(value, key), "content") + "\n")
		}
	}
	return out.String()
}

// renderTable computes the columns of a database and the cells of all its rows.
func (k *Kernel) renderTable(db *database) (columns, rows []object) {
	table, _ := db.Views[0]["table"].(object)
	places, _ := table["columns"].([]any)
	var keys []*avColumn
	for _, place := range places {
		p, _ := place.(object)
		c := db.column(at(p, "id"))
		if c == nil {
			continue
		}
		keys = append(keys, c)
		shown := object{"wrap": false, "hidden": false, "calc": p["calc"], "pin": false, "width": "", "align": ""}
		for key, value := range c.Key {
			shown[key] = value
		}
		columns = append(columns, shown)
	}
	for _, row := range db.order() {
		cells := []object{}
		for _, c := range keys {
			v := k.renderCell(db, c, row)
			cells = append(cells, object{"id": v["id"], "value": v, "valueType": at(c.Key, "type"), "color": "", "bgColor": ""})
		}
		rows = append(rows, object{"id": row, "cells": cells})
	}
	return columns, rows
}

// renderCell is the value of a cell with what is computed.
func (k *Kernel) renderCell(db *database, c *avColumn, row string) object {
	kind := at(c.Key, "type")
	v := object{"id": k.newID(), "keyID": c.Key["id"], "blockID": row, "type": kind}
	for key, value := range c.value(row) {
		v[key] = value
	}
	made := float64(idTime(row).UnixMilli())
	switch kind {
	case "text", "url", "email", "phone":
		if v[kind] == nil {
			v[kind] = object{"content": ""}
		}
	case "number":
		if v[kind] == nil {
			v[kind] = object{"content": 0, "isNotEmpty": false, "format": "", "formattedContent": ""}
		}
	case "checkbox":
		if v[kind] == nil {
			v[kind] = object{"checked": false}
		}
	case "template":
		v[kind] = object{"content": at(c.Key, "template")}
	case "created", "updated":
		v[kind] = object{
			"content": made, "isNotEmpty": true, "content2": 0, "isNotEmpty2": false,
			"formattedContent": time.UnixMilli(int64(made)).Format("2006-01-02 15:04"),
		}
	case "relation":
		v[kind] = object{"blockIDs": k.relatedRows(db, c, row), "contents": k.relatedValues(db, c, row, "")}
	case "rollup":
		v[kind] = k.rollup(db, c, row)
	}
	return v
}

// relatedRows are the rows of the other database that a relation cell names; nil for none.
func (k *Kernel) relatedRows(db *database, c *avColumn, row string) any {
	return below(c.value(row), "relation")["blockIDs"]
}

// relatedValues are the values that the related rows have in a column, the primary one for "".
func (k *Kernel) relatedValues(db *database, c *avColumn, row, column string) any {
	other := k.openDatabase(at(below(c.Key, "relation"), "avID"))
	ids, _ := k.relatedRows(db, c, row).([]any)
	if other == nil || len(ids) == 0 {
		return nil
	}
	from := other.primary()
	if column != "" {
		if from = other.column(column); from == nil {
			return nil
		}
	}
	values := []any{}
	for _, id := range ids {
		if text, _ := id.(string); other.primary().value(text) != nil {
			values = append(values, k.renderCell(other, from, text))
		}
	}
	return values
}

// rollup gathers the values of related rows, or adds them up.
func (k *Kernel) rollup(db *database, c *avColumn, row string) object {
	how := below(c.Key, "rollup")
	relation := db.column(at(how, "relationKeyID"))
	if relation == nil {
		return object{"contents": nil}
	}
	values, _ := k.relatedValues(db, relation, row, at(how, "keyID")).([]any)
	if at(below(how, "calc"), "operator") != "Sum" {
		return object{"contents": values}
	}
	sum := 0.0
	for _, v := range values {
		value, _ := v.(object)
		sum += number(below(value, "number")["content"])
	}
	return object{"contents": []any{object{"type": "number", "number": object{
		"content": sum, "isNotEmpty": true, "format": "", "formattedContent": strconv.FormatFloat(sum, 'f', -1, 64),
	}}}}
}
