package av

import "collie/internal/siyuanapi"

// This file renders a view in its layout: as a table or as cards.

// renderView returns a view, or one of its groups, in the layout of the view. rows are all its rows, page those to
// return.
func (r *rendering) renderView(v view, rows, page []string) object {
	layout := r.view.layout()
	settings := r.view.at(layout)
	out := viewHeading(v).with(object{
		"filters": r.db.filters(v), "sorts": viewSorts(v), "group": nil, "groupFolded": v.flag("groupFolded"),
		"groupHidden": v.num("groupHidden", 0),
	})
	if _, isSet := settings["showIcon"]; !isSet {
		out["showIcon"] = true
	}
	out["wrapField"] = settings.flag("wrapField")
	for _, name := range []string{
		"showIcon", "coverFrom", "cardAspectRatio", "cardSize", "fitImage", "displayFieldName", "fillColBackgroundColor",
	} {
		if setting, isSet := settings[name]; isSet {
			out[name] = setting
		}
	}
	columns := r.columns(layout)
	heads := make([]object, len(columns))
	for i, c := range columns {
		heads[i] = r.renderColumn(layout, c, rows)
	}
	items := make([]object, len(page))
	for i, row := range page {
		items[i] = r.renderRow(layout, columns, row)
	}
	if layout == layoutTable {
		return out.with(object{"columns": heads, "rows": items, "rowCount": len(rows)})
	}
	return out.with(object{"fields": heads, "cards": items, "cardCount": len(rows)})
}

// placedColumn is a column in a layout.
type placedColumn struct {
	*column
	place object
}

// columns returns all columns in the order of a layout. Those that it does not list come last.
func (r *rendering) columns(layout string) []placedColumn {
	var columns []placedColumn
	seen := map[*column]bool{}
	for _, p := range r.view.places(layout) {
		if c := r.db.column(p.str("id")); c != nil {
			columns, seen[c] = append(columns, placedColumn{c, p}), true
		}
	}
	for _, c := range r.db.columns {
		if !seen[c] && r.db.column(c.id()) == c {
			columns = append(columns, placedColumn{c, newPlace(layout, c.id())})
		}
	}
	return columns
}

// renderColumn returns a column in a layout, with the result of its calculation over rows.
func (r *rendering) renderColumn(layout string, c placedColumn, rows []string) object {
	out := object{"wrap": c.place.flag("wrap"), "hidden": c.place.flag("hidden"), "calc": r.columnResult(c, rows)}.with(c.Key)
	if layout == layoutTable {
		out["pin"], out["width"], out["align"] = c.place.flag("pin"), c.place.str("width"), c.place.str("align")
	}
	if c.kind() == siyuanapi.ColumnRollup {
		out["rollup"] = rollupSettings(c.Key.at("rollup"))
	}
	return out
}

// rollupSettings returns the settings of a rollup column with all members.
func rollupSettings(o object) object {
	calc := object{"operator": o.at("calc").str("operator"), "result": nil}
	return object{"relationKeyID": o.str("relationKeyID"), "keyID": o.str("keyID"), "calc": calc}
}

// columnResult returns the calculation of a column with its result, nil if it has none.
func (r *rendering) columnResult(c placedColumn, rows []string) any {
	operator := c.place.at("calc").str("operator")
	if operator == "" {
		return nil
	}
	out := object{"operator": operator, "result": nil}
	if r.ignoreRows {
		return out
	}
	values := make([]*value, len(rows))
	for i, row := range rows {
		values[i] = r.cell(c.column, row)
	}
	if result := calculate(operator, values, c.Key.str("numberFormat")); result != nil {
		result.Type = "" // as in SiYuan
		out["result"] = result
	}
	return out
}

// renderRow returns a row of a table, or a card.
func (r *rendering) renderRow(layout string, columns []placedColumn, row string) object {
	cells := make([]any, len(columns))
	for i, c := range columns {
		v := r.cell(c.column, row)
		if layout == layoutTable {
			cells[i] = tableCell{ID: v.ID, Value: v, ValueType: v.Type}
		} else {
			cells[i] = cardValue{ID: v.ID, Value: v, ValueType: v.Type}
		}
	}
	if layout == layoutTable {
		return object{"id": row, "cells": cells}
	}
	return object{"id": row, "values": cells, "coverURL": "", "coverContent": ""}
}

type tableCell struct {
	ID        string `json:"id"`
	Value     *value `json:"value"`
	ValueType string `json:"valueType"`
	Color     string `json:"color"`
	BgColor   string `json:"bgColor"`
}

type cardValue struct {
	ID        string `json:"id"`
	Value     *value `json:"value"`
	ValueType string `json:"valueType"`
}
