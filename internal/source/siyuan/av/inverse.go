package av

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/kernel"
)

// This file has what undoes av.set_cells.

// restoreCells returns the call that writes the current cells of r back. It returns none if a cell cannot be written
// or the database cannot be read: the call itself then reports the error.
func restoreCells(ctx context.Context, r *action.Request) (*action.Inverse, error) {
	args := gjson.ParseBytes(r.Args())
	id := kernel.ID(args.Get("avID").String())
	db, err := r.Kernel.Database(ctx, id)
	if err != nil {
		return nil, nil //nolint:nilerr // the call itself reports it
	}
	cells := args.Get("cells").Array()
	if len(cells) == 0 {
		cells = []gjson.Result{args}
	}
	out := []map[string]any{}
	for _, c := range cells {
		row, column := kernel.ID(c.Get("rowID").String()), kernel.ID(c.Get("columnID").String())
		cell := cellInput(db.Value(row, column))
		cell["rowID"], cell["columnID"], cell["valueType"] = row, column, c.Get("valueType").String()
		out = append(out, cell)
	}
	raw, err := json.Marshal(map[string]any{"avID": id, "cells": out})
	if err != nil {
		return nil, err
	}
	return &action.Inverse{Tool: "av", Action: "set_cells", Args: raw}, nil
}

// cellInput returns a value in the form that set_cells accepts.
func cellInput(v *kernel.Value) map[string]any {
	empty := map[string]any{"clear": true}
	if v == nil {
		return empty
	}
	switch v.Type {
	case "number":
		if v.Number != nil && v.Number.NotEmpty {
			return map[string]any{"number": v.Number.Content, "numberFormat": v.Number.Format}
		}
	case "date":
		if d := v.Date; d != nil && d.NotEmpty {
			out := map[string]any{"date": d.Content, "includeTime": !d.DateOnly}
			if d.HasEnd && d.NotEmpty2 {
				out["endDate"] = d.Content2
			}
			return out
		}
	case siyuanapi.ColumnBlock:
		if text := plain(v); text != nil {
			return map[string]any{"text": text}
		}
	case "mSelect":
		if options := plain(v); options != nil {
			return map[string]any{"options": options}
		}
	case "select":
		if option := plain(v); option != nil {
			return map[string]any{"option": option}
		}
	case "checkbox":
		return map[string]any{"checked": plain(v)}
	case "relation":
		if v.Relation != nil && len(v.Relation.RowIDs) > 0 {
			return map[string]any{"relationBlockIDs": v.Relation.RowIDs}
		}
	case "mAsset":
		if len(v.Assets) > 0 {
			return map[string]any{"assets": v.Assets}
		}
	default:
		if text := plain(v); text != nil {
			return map[string]any{v.Type: text}
		}
	}
	return empty
}
