package kerneltest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
		maps.Copy(shown, c.Key)
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
	maps.Copy(v, c.value(row))
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
