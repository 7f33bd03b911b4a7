package av

import (
	"slices"

	"collie/internal/vault/workspace"
)

// The layouts of views.
const (
	layoutTable   = "table"
	layoutGallery = "gallery"
	layoutKanban  = "kanban"
)

// layoutNames are all layouts with the names new views get.
var layoutNames = map[string]string{layoutTable: "Table", layoutGallery: "Card", layoutKanban: "Kanban"}

// view is one view of a database. It keeps the settings of each layout it ever had.
type view struct{ object }

// newView makes a view without columns.
func newView(tx *workspace.Tx, id, name, layout string) view {
	return view{object{
		"id": id, "icon": "", "name": name, "hideAttrViewName": false, "desc": "", "filters": []any{noFilter()}, "pageSize": 50,
		"type": layout, layout: newLayout(tx, layout), "groupCreated": 0, "groupItemIds": nil, "groupFolded": false,
		"groupHidden": 0, "groupSort": 0,
	}}
}

// newLayout makes the settings of a layout.
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

// placesKey returns where a layout lists its columns.
func placesKey(layout string) string {
	if layout == layoutTable {
		return "columns"
	}
	return "fields"
}

// newPlace returns how a layout lists a column.
func newPlace(layout, column string) object {
	if layout == layoutTable {
		return object{"id": column, "wrap": false, "hidden": false, "pin": false, "width": ""}
	}
	return object{"id": column, "wrap": false, "hidden": false}
}

// layout returns the layout a view has now; one that is not known shows as a table.
func (v view) layout() string {
	if layout := v.str("type"); layoutNames[layout] != "" {
		return layout
	}
	return layoutTable
}

// places returns the columns as a layout of v lists them.
func (v view) places(layout string) []object { return v.at(layout).objects(placesKey(layout)) }

// eachLayout calls each for the layouts v ever had with their columns, which it may replace.
func (v view) eachLayout(each func(layout string, places []any) []any) {
	for layout := range layoutNames {
		if settings := v.at(layout); settings != nil {
			settings[placesKey(layout)] = each(layout, settings.list(placesKey(layout)))
		}
	}
}

// placeIndex returns the place of a column in a list, -1 when it is not there.
func placeIndex(places []any, column string) int {
	return slices.IndexFunc(places, func(p any) bool { return asObject(p).str("id") == column })
}

// view returns the first view that is there of those with an id, and else the current one.
func (db *database) view(wanted ...string) view {
	for _, id := range append(wanted, db.viewID) {
		if at := slices.IndexFunc(db.views, func(v object) bool { return v.str("id") == id }); at >= 0 && id != "" {
			return view{db.views[at]}
		}
	}
	if len(db.views) == 0 { // somebody else wrote this
		return view{object{"id": db.viewID, "name": layoutNames[layoutTable], "type": layoutTable, "filters": []any{noFilter()}}}
	}
	return view{db.views[0]}
}

// rows returns the rows in the order of a view. Those it does not list come last.
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
