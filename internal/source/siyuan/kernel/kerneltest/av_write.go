package kerneltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// FreezeDatabases makes the kernel echo the database operations of transactions without doing them, as it does with
// operations on things that do not exist; or do them again.
func (k *Kernel) FreezeDatabases(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.operations, func(action string, _ operation) bool { return strings.Contains(action, "AttrView") })
	if !on {
		avOperations(k)
	}
}

// avOperations are the actions of /api/transactions on databases. An unknown database changes nothing.
func avOperations(k *Kernel) {
	on := func(action string, do func(k *Kernel, db *database, op *doOperation, raw gjson.Result)) {
		k.handleOperation(action, func(k *Kernel, op *doOperation, raw gjson.Result) bool {
			id := op.AvID
			if action == "setAttrViewName" {
				id = op.ID
			}
			if db := k.openDatabase(id); db != nil {
				do(k, db, op, raw)
				k.saveDatabase(db)
			}
			return true
		})
	}
	on("setAttrViewName", func(_ *Kernel, db *database, op *doOperation, _ gjson.Result) { db.Name, _ = op.Data.(string) })
	on("addAttrViewCol", func(_ *Kernel, db *database, op *doOperation, _ gjson.Result) {
		icon, _ := op.Data.(string)
		db.addColumn(newKey(op.ID, op.Name, op.Type, icon), op.PreviousID)
	})
	on("removeAttrViewCol", func(_ *Kernel, db *database, op *doOperation, _ gjson.Result) { _ = db.removeColumn(op.ID) })
	on("insertAttrViewBlock", func(k *Kernel, db *database, op *doOperation, raw gjson.Result) {
		_ = k.addRows(db, op.PreviousID, request{Result: raw})
	})
	on("removeAttrViewBlock", func(k *Kernel, db *database, op *doOperation, raw gjson.Result) {
		k.removeRows(db, request{Result: raw}.strs("srcIDs"))
	})
	on("updateAttrViewCell", func(k *Kernel, db *database, op *doOperation, raw gjson.Result) {
		_, _ = k.setCell(db, op.KeyID, op.RowID, raw.Get("data"))
	})
	on("updateAttrViewColRelation", func(k *Kernel, db *database, op *doOperation, _ gjson.Result) {
		if c := db.column(op.KeyID); c != nil {
			c.Key["relation"] = object{"avID": op.ID, "isTwoWay": op.IsTwoWay, "backKeyID": op.BackRelationKeyID}
		}
	})
	on("updateAttrViewColRollup", func(k *Kernel, db *database, op *doOperation, raw gjson.Result) {
		if c := db.column(op.ID); c != nil {
			c.Key["rollup"] = object{"relationKeyID": op.ParentID, "keyID": op.KeyID, "calc": raw.Get("data.calc").Value()}
		}
	})
	on("updateAttrViewColTemplate", func(k *Kernel, db *database, op *doOperation, _ gjson.Result) {
		if c := db.column(op.ID); c != nil {
			c.Key["template"] = op.Data
		}
	})
	on("updateAttrViewCol", func(k *Kernel, db *database, op *doOperation, _ gjson.Result) {
		if c := db.column(op.ID); c != nil {
			c.Key["name"], c.Key["type"] = op.Name, op.Type
		}
	})
	on("updateAttrViewColOptions", func(k *Kernel, db *database, op *doOperation, _ gjson.Result) {
		if c := db.column(op.ID); c != nil {
			c.Key["options"] = op.Data
		}
	})
}

func addAttributeViewKey(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	db.addColumn(newKey(req.str("keyID"), req.str("keyName"), req.str("keyType"), req.str("keyIcon")), req.str("previousKeyID"))
	k.saveDatabase(db)
	return done()
}

// addColumn puts a column after another one, first without one. Nothing is checked but a second primary column, which is
// ignored.
func (db *database) addColumn(key object, previous string) {
	if at(key, "type") == "block" {
		return
	}
	db.Keys = append(db.Keys, &avColumn{Key: key})
	db.KeyIDs = append(db.KeyIDs, at(key, "id"))
	table, _ := db.Views[0]["table"].(object)
	places, _ := table["columns"].([]any)
	after := slices.IndexFunc(places, func(p any) bool { o, _ := p.(object); return previous != "" && at(o, "id") == previous })
	place := object{"id": key["id"], "wrap": false, "hidden": false, "pin": false, "width": ""}
	table["columns"] = slices.Insert(places, after+1, any(place))
}

func removeAttributeViewKey(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	if msg := db.removeColumn(req.str("keyID")); msg != "" {
		return fail(-1, msg)
	}
	k.saveDatabase(db)
	return done()
}

// removeColumn returns the kernel's complaint.
func (db *database) removeColumn(id string) string {
	c := db.column(id)
	switch {
	case c == nil:
		return "key not found"
	case at(c.Key, "type") == "block":
		return "cannot remove primary key field"
	}
	db.Keys = slices.DeleteFunc(db.Keys, func(c *avColumn) bool { return at(c.Key, "id") == id })
	table, _ := db.Views[0]["table"].(object)
	places, _ := table["columns"].([]any)
	table["columns"] = slices.DeleteFunc(places, func(p any) bool { o, _ := p.(object); return at(o, "id") == id })
	return ""
}

func addAttributeViewBlocks(k *Kernel, req request) reply {
	srcs := req.list("srcs")
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	for _, src := range srcs {
		if id := src.optStr("id"); !src.optFlag("isDetached", false) && validID(id) && k.openBlock(id) == nil {
			return fail(-1, "tree not found")
		}
	}
	if err := k.addRows(db, req.optStr("previousID"), req); err != nil {
		return fail(-1, err.Error())
	}
	k.saveDatabase(db)
	return done()
}

// addRows adds the rows that srcs of a request names, in their order, after a row or first. A block that is a row
// already is left out.
func (k *Kernel) addRows(db *database, previous string, req request) error {
	now := float64(time.Now().UnixMilli())
	var rows []any
	for _, src := range req.list("srcs") {
		detached := src.optFlag("isDetached", false)
		inner := object{"content": src.optStr("content"), "created": now, "updated": now}
		row := src.optStr("itemID")
		if row == "" {
			row = k.newID()
		}
		v := object{"id": k.newID(), "keyID": db.primary().Key["id"], "blockID": row, "type": "block", "createdAt": now, "updatedAt": now, "block": inner}
		if detached {
			v["isDetached"] = true
		} else {
			b := k.openBlock(src.optStr("id"))
			if b == nil || db.boundRow(b.id) != "" {
				continue
			}
			inner["id"], inner["content"] = b.id, contentOf(b)
			b.attrs["custom-avs"] = db.ID
		}
		primary := db.primary()
		primary.Values = append(primary.Values, v)
		rows = append(rows, row)
	}
	items := db.items()
	db.Views[0]["itemIds"] = slices.Insert(items, slices.Index(items, any(previous))+1, rows...)
	return nil
}

func removeAttributeViewBlocks(k *Kernel, req request) reply {
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	k.removeRows(db, req.strs("srcIDs"))
	k.saveDatabase(db)
	return done()
}

// removeRows removes rows by their own ids; a block's id does nothing.
func (k *Kernel) removeRows(db *database, rows []string) {
	for _, row := range rows {
		if b := k.openBlock(at(below(db.primary().value(row), "block"), "id")); b != nil {
			delete(b.attrs, "custom-avs")
		}
	}
	for _, c := range db.Keys {
		c.Values = slices.DeleteFunc(c.Values, func(v object) bool { return slices.Contains(rows, at(v, "blockID")) })
	}
	db.Views[0]["itemIds"] = slices.DeleteFunc(db.items(), func(id any) bool { text, _ := id.(string); return slices.Contains(rows, text) })
}

func setAttributeViewBlockAttr(k *Kernel, req request) reply {
	if req.Get("rowID").Exists() {
		return fail(-1, "[/api/av/setAttributeViewBlockAttr] parameter [rowID] is deprecated, visit [https://github.com/siyuan-note/siyuan/issues/15727] for details")
	}
	value := req.object("value")
	db := k.openDatabase(req.str("avID"))
	if db == nil {
		return fail(-1, "view not found")
	}
	v, msg := k.setCell(db, req.str("keyID"), req.optStr("itemID"), value.Result)
	switch {
	case msg != "":
		return fail(-1, msg)
	case v == nil:
		return done()
	}
	k.saveDatabase(db)
	return ok(object{"value": v})
}

// setCell merges data into the value of a cell. Neither the row nor the type is checked; an unknown column gives nil.
func (k *Kernel) setCell(db *database, column, row string, data gjson.Result) (object, string) {
	c := db.column(column)
	if c == nil {
		return nil, ""
	}
	if n := data.Get("number.content"); n.Type == gjson.String {
		return nil, "json: cannot unmarshal string into Go struct field ValueNumber.number.content of type float64"
	}
	var fields object
	if err := json.Unmarshal([]byte(data.Raw), &fields); err != nil {
		return nil, err.Error()
	}
	now := float64(time.Now().UnixMilli())
	v := c.value(row)
	if v == nil || row == "" {
		v = object{"id": k.newID(), "keyID": column, "type": at(c.Key, "type"), "createdAt": now}
		if row != "" {
			v["blockID"] = row
		}
		c.Values = append(c.Values, v)
	}
	v["updatedAt"] = now
	for key, value := range fields {
		if given, is := value.(object); is && key != "block" {
			filled := maps.Clone(avDefaults[key])
			if filled == nil {
				filled = object{}
			}
			maps.Copy(filled, given)
			value = filled
		}
		v[key] = value
	}
	if n := below(v, "number"); n != nil && n["isNotEmpty"] == true {
		n["formattedContent"] = fmt.Sprint(n["content"])
	}
	c.learnOptions(v)
	return v, ""
}

// avDefaults are the members of a value that are there even if nobody has written them.
var avDefaults = map[string]object{
	"number": {"content": 0, "isNotEmpty": false, "format": "", "formattedContent": ""},
	"date": {
		"content": 0, "isNotEmpty": false, "hasEndDate": false, "isNotTime": false, "content2": 0, "isNotEmpty2": false,
		"formattedContent": "",
	},
	"relation": {"blockIDs": nil, "contents": nil},
}

// learnOptions adds chosen options to the column that does not have them.
func (c *avColumn) learnOptions(v object) {
	if kind := at(c.Key, "type"); kind != "select" && kind != "mSelect" {
		return
	}
	options, _ := c.Key["options"].([]any)
	chosen, _ := v["mSelect"].([]any)
	for _, one := range chosen {
		o, _ := one.(object)
		if !slices.ContainsFunc(options, func(known any) bool { k, _ := known.(object); return at(k, "name") == at(o, "content") }) {
			options = append(options, object{"name": o["content"], "color": o["color"], "desc": ""})
		}
	}
	if options != nil {
		c.Key["options"] = options
	}
}
