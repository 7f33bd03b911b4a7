package av

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/vault/api"
	"collie/internal/vault/workspace"
)

// joinViewEditor adds what the editor does with views.
func joinViewEditor(mux *api.Mux) {
	mux.Write("/api/av/setAttrViewFilters", setAttrViewFilters)
	mux.Write("/api/av/setAttrViewSorts", setAttrViewSorts)
	mux.Write("/api/av/setAttrViewGroup", setAttrViewGroup)
	mux.Write("/api/av/changeAttrViewLayout", changeAttrViewLayout)
	mux.Write("/api/av/setDatabaseBlockView", setDatabaseBlockView)
	mux.Write("/api/av/sortAttributeViewKey", sortAttributeViewKey)
	mux.Write("/api/av/sortAttributeViewViewKey", sortAttributeViewViewKey)
}

// onView makes a handler of a change to the view that a block shows, "" for missing parameters as the kernel has it.
func onView(do func(s *shelf, db *database, v view, req api.Request) api.Reply) api.Handler {
	return func(tx *workspace.Tx, req api.Request) api.Reply {
		if req.Get("avID").Type != gjson.String || req.Get("blockID").Type != gjson.String {
			return api.File([]byte{}, "application/json; charset=utf-8")
		}
		return on(func(s *shelf, db *database, req api.Request) api.Reply {
			return do(s, db, db.view(viewOf(databaseBlocks(tx, db.id), req.Str("blockID"))), req)
		})(tx, req)
	}
}

func setAttrViewFilters(tx *workspace.Tx, req api.Request) api.Reply {
	return onView(func(_ *shelf, db *database, v view, req api.Request) api.Reply {
		v.object["filters"] = []any{db.rootFilter(object{"data": req.Get("data").Value()}.objects("data"))}
		db.changed = true
		return api.Done()
	})(tx, req)
}

func setAttrViewSorts(tx *workspace.Tx, req api.Request) api.Reply {
	return onView(func(_ *shelf, db *database, v view, req api.Request) api.Reply {
		if delete(v.object, "sorts"); len(req.List("data")) > 0 {
			v.object["sorts"] = req.Get("data").Value()
		}
		db.changed = true
		return api.Done()
	})(tx, req)
}

func changeAttrViewLayout(tx *workspace.Tx, req api.Request) api.Reply {
	layout := req.Get("layoutType").Str
	if layouts[layout] == "" {
		return api.File([]byte{}, "application/json; charset=utf-8")
	}
	return onView(func(s *shelf, db *database, v view, req api.Request) api.Reply {
		db.changeLayout(tx, v, layout)
		return api.OK(newRendering(s, db, req).reply())
	})(tx, req)
}

// changeLayout shows a view in another layout, with the columns it has now. A kanban is grouped by the first selection.
func (db *database) changeLayout(tx *workspace.Tx, v view, layout string) {
	if v.at(layout) == nil {
		v.object[layout] = newLayout(tx, layout)
		var places []any
		for _, p := range v.places(v.layout()) {
			places = append(places, newPlace(layout, p.str("id")))
		}
		v.at(layout)[placesKey(layout)] = places
	}
	if v.str("name") == layouts[v.layout()] {
		v.object["name"] = layouts[layout]
	}
	for _, g := range v.objects("groups") {
		delete(g, v.layout())
		g["type"], g[layout] = layout, emptyLayout(tx, layout)
	}
	v.object["type"], db.changed = layout, true
	if layout == layoutKanban && db.groupColumn(v) == nil {
		for _, c := range db.columns {
			if c.kind() == kindSelect {
				db.group(tx, v, c)
				return
			}
		}
	}
}

// emptyLayout is the layout of a group, which has the columns of its view.
func emptyLayout(tx *workspace.Tx, layout string) object {
	return newLayout(tx, layout).with(object{placesKey(layout): nil})
}

// group groups a view by a column of options.
func (db *database) group(tx *workspace.Tx, v view, c *column) {
	v.object["group"] = object{"field": c.id(), "method": 0, "order": 3, "hideEmpty": false}
	v.object["groupCreated"] = time.Now().UnixMilli()
	values := []object{{"type": "text", "text": object{"content": defaultGroup}}}
	for _, o := range c.Key.objects("options") {
		values = append(values, object{"type": c.kind(), "mSelect": []any{object{"content": o.str("name"), "color": o.str("color")}}})
	}
	ids := map[string]string{} // a group keeps its id
	for _, g := range v.objects("groups") {
		ids[string(groupValue(g).encode())] = g.str("id")
	}
	var groups []any
	for i, value := range values {
		id := ids[string(groupValue(object{"groupVal": value}).encode())]
		if id == "" {
			id = tx.NewID()
		}
		g := newView(tx, id, "", v.layout()).with(object{
			v.layout(): emptyLayout(tx, v.layout()), "groupVal": value, "groupKey": c.Key, "groupSort": i, "groupItemIds": []any{},
		})
		groups = append(groups, g)
	}
	v.object["groups"], db.changed = groups, true
}

func setAttrViewGroup(tx *workspace.Tx, req api.Request) api.Reply {
	return onView(func(s *shelf, db *database, v view, req api.Request) api.Reply {
		c := db.column(req.Get("group.field").Str)
		if c == nil {
			v.object["group"] = object{"field": "", "method": 0, "order": 0, "hideEmpty": false}
			for _, g := range v.objects("groups") {
				g["groupHidden"] = 1
			}
			db.changed = true
		} else {
			db.group(tx, v, c)
		}
		return api.OK(newRendering(s, db, req).reply())
	})(tx, req)
}

func setDatabaseBlockView(tx *workspace.Tx, req api.Request) api.Reply {
	block, id := req.Str("id"), req.Str("viewID")
	return on(func(s *shelf, db *database, _ api.Request) api.Reply {
		db.show(s, block, id)
		return api.Done()
	})(tx, req)
}

// sortAttributeViewKey moves a column in the editor's forms.
func sortAttributeViewKey(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(_ *shelf, db *database, req api.Request) api.Reply {
		if db.keyIDs == nil {
			for _, c := range db.columns {
				db.keyIDs = append(db.keyIDs, c.id())
			}
		}
		key, previous := req.Str("keyID"), req.Str("previousKeyID")
		db.keyIDs = slices.DeleteFunc(db.keyIDs, func(id string) bool { return id == key })
		db.keyIDs = slices.Insert(db.keyIDs, slices.Index(db.keyIDs, previous)+1, key)
		db.changed = true
		return api.Done()
	})(tx, req)
}

// sortAttributeViewViewKey moves a column in a view.
func sortAttributeViewViewKey(tx *workspace.Tx, req api.Request) api.Reply {
	return on(func(_ *shelf, db *database, req api.Request) api.Reply {
		v, key, previous := db.view(req.OptStr("viewID")), req.Str("keyID"), req.Str("previousKeyID")
		places := v.at(v.layout()).list(placesKey(v.layout()))
		from := place(places, key)
		if from < 0 {
			return api.Done()
		}
		moved := places[from]
		places = slices.Delete(places, from, from+1)
		v.at(v.layout())[placesKey(v.layout())] = slices.Insert(places, place(places, previous)+1, moved)
		db.changed = true
		return api.Done()
	})(tx, req)
}
