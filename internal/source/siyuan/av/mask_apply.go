package av

import (
	"bytes"
	"encoding/json"
	"slices"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/kernel"
)

// This file removes hidden notes from what the kernel says about a database.

// removeHidden removes hidden data from any JSON of the database.
func (m *mask) removeHidden(raw json.RawMessage) (json.RawMessage, error) {
	if m == nil {
		return raw, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(m.cleanValue(v))
}

// removeHiddenFromSearch is like [mask.removeHidden] for search results. The kernel also searched hidden data, so a row with a hidden cell is
// kept only if its visible cells match the query.
func (m *mask) removeHiddenFromSearch(raw json.RawMessage, query string) (json.RawMessage, error) {
	if m == nil || query == "" || len(m.cells) == 0 {
		return m.removeHidden(raw)
	}
	masked, err := m.removeHidden(raw)
	if err != nil {
		return nil, err
	}
	got, err := parse(masked)
	if err != nil {
		return nil, err
	}
	for _, row := range tableOf(&got.View).Rows {
		if m.hasHiddenCell(row.ID) && !row.contains(query) {
			m.ids[row.ID] = true
		}
	}
	return m.removeHidden(raw)
}

// cleanValue returns any decoded JSON value without hidden data.
func (m *mask) cleanValue(v any) any {
	switch v := v.(type) {
	case []any:
		kept := make([]any, 0, len(v))
		for _, item := range v {
			if !m.isHidden(item) {
				kept = append(kept, m.cleanValue(item))
			}
		}
		return kept
	case map[string]any:
		m.hideMembers(v)
		for k := range v {
			if m.ids[kernel.ID(k)] {
				delete(v, k)
				continue
			}
			v[k] = m.cleanValue(v[k])
		}
	case string:
		if m.ids[kernel.ID(v)] {
			return ""
		}
	}
	return v
}

// isHidden reports whether an item of a list is, or is the value of, something hidden.
func (m *mask) isHidden(item any) bool {
	switch v := item.(type) {
	case string:
		return m.ids[kernel.ID(v)]
	case map[string]any:
		for _, k := range []string{"id", "blockID"} {
			if id, ok := v[k].(string); ok && m.ids[kernel.ID(id)] {
				return true
			}
		}
		if id, ok := v["blockID"].(string); ok && id != "" && m.isUnknownRow(id) {
			return true // it is a value
		}
		_, cells := v["cells"].([]any)
		_, values := v["values"].([]any)
		if id, ok := v["id"].(string); ok && (cells || values) && m.isUnknownRow(id) {
			return true // it is a row or a card
		}
	}
	return false
}

// isUnknownRow reports whether a row did not exist when the mask was made.
func (m *mask) isUnknownRow(row string) bool { return m.rows != nil && !m.rows[kernel.ID(row)] }

// hideMembers clears the members of an object that show hidden data.
func (m *mask) hideMembers(v map[string]any) {
	row, _ := v["blockID"].(string)
	column, _ := v["keyID"].(string)
	if m.cells[kernel.ID(row)][kernel.ID(column)] {
		delete(v, "rollup")
		delete(v, "template")
	}
	if b, ok := v["block"].(map[string]any); ok {
		if id, ok := b["id"].(string); ok && m.copied[kernel.ID(id)] {
			b["content"] = ""
		}
	}
	if r, ok := v["relation"].(map[string]any); ok {
		if id, ok := r["avID"].(string); ok && m.databases[kernel.ID(id)] {
			delete(v, "relation")
		}
		if rows, ok := r["blockIDs"].([]any); ok {
			r["blockIDs"] = slices.DeleteFunc(rows, func(row any) bool {
				id, ok := row.(string)
				return ok && m.isUnknownRow(id)
			})
		}
	}
	if _, ok := v["coverContent"]; ok { // content of the card's block, including text copied from others
		v["coverContent"] = ""
	}
	if calc, ok := v["calc"].(map[string]any); ok && (m.hidden > 0 || len(m.cells) > 0) {
		calc["result"] = nil // computed from hidden rows as well
	}
	m.correctCount(v, "rows", "rowCount")
	m.correctCount(v, "cards", "cardCount")
	m.hideGroups(v)
}

// correctCount corrects a number of rows to the visible rows in the same object. In a view with groups, the groups hold the
// rows.
func (m *mask) correctCount(v map[string]any, list, number string) {
	if _, ok := v[number]; !ok {
		return
	}
	seen := map[string]bool{}
	collect := func(in any) {
		items, _ := in.([]any)
		for _, item := range items {
			row, _ := item.(map[string]any)
			if id, ok := row["id"].(string); ok && !m.isHidden(item) {
				seen[id] = true
			}
		}
	}
	collect(v[list])
	groups, _ := v["groups"].([]any)
	for _, g := range groups {
		if g, ok := g.(map[string]any); ok {
			collect(g[list])
		}
	}
	v[number] = len(seen)
}

// hideGroups hides names of groups that come from hidden rows, and groups without visible rows. Because of a query or
// paging, a visible group can be empty, so an empty group is kept only if it is named after an option of its column.
// Stored groups have only the ids of their rows.
func (m *mask) hideGroups(v map[string]any) {
	groups, ok := v["groups"].([]any)
	if !ok {
		return
	}
	visible := groups[:0]
	for _, g := range groups {
		g, ok := g.(map[string]any)
		if !ok {
			continue
		}
		before, after, copied := 0, 0, false
		for _, list := range []string{"rows", "cards", "groupItemIds"} {
			items, _ := g[list].([]any)
			before += len(items)
			for _, item := range items {
				id, isID := item.(string)
				if m.isHidden(item) || isID && m.isUnknownRow(id) {
					continue
				}
				after++
				if row, ok := item.(map[string]any); ok {
					id, _ = row["id"].(string)
				}
				copied = copied || m.copied[kernel.ID(id)]
			}
		}
		key, _ := g["groupKey"].(map[string]any)
		options := false
		switch key["type"] {
		case siyuanapi.ColumnRelation, siyuanapi.ColumnRollup, siyuanapi.ColumnTemplate:
			clearGroupName(g)
		case siyuanapi.ColumnBlock:
			if copied {
				clearGroupName(g)
			}
		case "select", "mSelect", "checkbox":
			options = true
		}
		if after == 0 && (before > 0 || !options && (m.hidden > 0 || len(m.cells) > 0)) {
			continue
		}
		visible = append(visible, g)
	}
	v["groups"] = visible
}

// clearGroupName removes the value that a group's rows have in common, in its rendered and in its stored form.
func clearGroupName(g map[string]any) {
	g["name"] = ""
	delete(g, "groupValue")
	delete(g, "groupVal")
}
