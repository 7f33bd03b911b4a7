package av

import (
	"slices"

	"collie/internal/vault/workspace"
)

// This file has the views of a database: their layout, and the order of columns and rows.

// The layouts of views.
const (
	layoutTable   = "table"
	layoutGallery = "gallery"
	layoutKanban  = "kanban"
)

// layoutNames are all layouts, with the names for new views.
var layoutNames = map[string]string{layoutTable: "Table", layoutGallery: "Card", layoutKanban: "Kanban"}

// view is one view of a database. It keeps the settings of each layout that it ever had.
type view struct{ object }

// newView returns a new view without columns.
func newView(tx *workspace.Tx, id, name, layout string) view {
	return view{object{
		"id": id, "icon": "", "name": name, "hideAttrViewName": false, "desc": "", "filters": []any{noFilter()}, "pageSize": 50,
		"type": layout, layout: newLayout(tx, layout), "groupCreated": 0, "groupItemIds": nil, "groupFolded": false,
		"groupHidden": 0, "groupSort": 0,
	}}
}

// newLayout returns the settings of a new layout.
func newLayout(tx *workspace.Tx, layout string) object {
	o := object{"spec": 0, "id": tx.NewID(), "showIcon": true, "wrapField": false, placesKey(layout): []any{}}
	if layout == layoutTable {
		o["rowIds"] = nil
		return o
	}
	o = o.with(object{"coverFrom": 1, "cardAspectRatio": 0, "cardSize": 1, "fitImage": false, "displayFieldName": false})
	if layout == layoutKanban {
		o["fillColBackgroundColor"] = false
	} else {
		o["cardIds"] = nil
	}
	return o
}

// placesKey returns the key of the columns in a layout's settings.
func placesKey(layout string) string {
	if layout == layoutTable {
		return "columns"
	}
	return "fields"
}

// newPlace returns an entry for a column in a layout.
func newPlace(layout, column string) object {
	if layout == layoutTable {
		return object{"id": column, "wrap": false, "hidden": false, "pin": false, "width": ""}
	}
	return object{"id": column, "wrap": false, "hidden": false}
}

// layout returns the current layout of a view; an unknown one counts as a table.
func (v view) layout() string {
	if layout := v.str("type"); layoutNames[layout] != "" {
		return layout
	}
	return layoutTable
}

// places returns the entries of columns in a layout of v.
func (v view) places(layout string) []object { return v.at(layout).objects(placesKey(layout)) }

// eachLayout calls visit for each layout that v ever had, with its columns; visit returns those that replace them.
func (v view) eachLayout(visit func(layout string, places []any) []any) {
	for layout := range layoutNames {
		if settings := v.at(layout); settings != nil {
			settings[placesKey(layout)] = visit(layout, settings.list(placesKey(layout)))
		}
	}
}

// placeIndex returns the index of a column in a list of entries, -1 if it is missing.
func placeIndex(places []any, column string) int {
	return slices.IndexFunc(places, func(p any) bool { return asObject(p).str("id") == column })
}

// view returns the first view that exists among those with ids, or else the current view.
func (db *database) view(ids ...string) view {
	for _, id := range append(ids, db.viewID) {
		if at := slices.IndexFunc(db.views, func(v object) bool { return v.str("id") == id }); at >= 0 && id != "" {
			return view{db.views[at]}
		}
	}
	if len(db.views) == 0 { // written by another program
		return view{object{"id": db.viewID, "name": layoutNames[layoutTable], "type": layoutTable, "filters": []any{noFilter()}}}
	}
	return view{db.views[0]}
}

// rows returns the rows in the order of a view. Those that it does not list come last.
func (db *database) rows(v view) []string {
	primary := db.primary()
	rows, seen := make([]string, 0, len(primary.cells)), map[string]bool{}
	add := func(row string) {
		if row != "" && !seen[row] && primary.cell(row) != nil {
			rows, seen[row] = append(rows, row), true
		}
	}
	for _, row := range v.strs("itemIds") {
		add(row)
	}
	for _, c := range primary.cells {
		add(c.row)
	}
	return rows
}
