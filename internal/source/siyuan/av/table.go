package av

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"collie/internal/siyuanapi"
	"collie/internal/source/siyuan/kernel"
)

// This file reads a rendered view: its columns, rows and groups.

// rendering is the kernel's rendering of a view, in any layout.
type rendering struct {
	Name     string     `json:"name"`
	ViewID   kernel.ID  `json:"viewID"`
	ViewType string     `json:"viewType"`
	View     layout     `json:"view"`
	Views    []viewName `json:"views"`
}

type viewName struct {
	ID   kernel.ID `json:"id"`
	Name string    `json:"name"`
	Type string    `json:"type"`
}

// layout is a view or one of its groups. A table has columns, and rows of cells; the other layouts have fields, and
// cards of values.
type layout struct {
	ID        kernel.ID `json:"id"`
	Name      string    `json:"name"`
	Columns   []column  `json:"columns"`
	Fields    []column  `json:"fields"`
	Rows      []item    `json:"rows"`
	Cards     []item    `json:"cards"`
	RowCount  int       `json:"rowCount"`
	CardCount int       `json:"cardCount"`
	Groups    []layout  `json:"groups"`
}

type item struct {
	ID     kernel.ID `json:"id"`
	Cells  []slot    `json:"cells"`
	Values []slot    `json:"values"`
}

type slot struct {
	Value *kernel.Value `json:"value"`
}

type column struct {
	ID   kernel.ID `json:"id"`
	Name string    `json:"name"`
	Type string    `json:"type"`
}

func parse(raw json.RawMessage) (*rendering, error) {
	var out rendering
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	return &out, nil
}

// items returns the rows of a layout, without the rows of its groups.
func (l *layout) items() []item {
	if len(l.Rows) > 0 {
		return l.Rows
	}
	return l.Cards
}

// count returns how many rows a layout has on all pages.
func (l *layout) count() int { return max(l.RowCount, l.CardCount) }

// columns returns the columns of a layout.
func (l *layout) columns() []column {
	if l.Columns != nil {
		return l.Columns
	}
	return l.Fields
}

// table is a view in a form for readers. Cells are simple values in the order of the columns.
type table struct {
	Columns  []column   `json:"columns" about:"id, name and type"`
	Rows     []tableRow `json:"rows" about:"id, blockID of a bound row, group, cells"`
	RowCount int        `json:"rowCount" about:"rows in all"`
	Groups   []group    `json:"groups,omitempty" about:"of a grouped view"`
}

type tableRow struct {
	ID      kernel.ID `json:"id"`
	BlockID kernel.ID `json:"blockID,omitempty"`
	Group   kernel.ID `json:"group,omitempty"`
	Cells   []any     `json:"cells"`
}

type group struct {
	ID       kernel.ID `json:"id"`
	Name     string    `json:"name"`
	RowCount int       `json:"rowCount"`
}

// tableOf returns the table of a view: all rendered rows, group by group.
func tableOf(v *layout) table {
	t := table{Columns: slices.Clone(v.columns()), Rows: []tableRow{}, RowCount: v.count()}
	if t.Columns == nil {
		t.Columns = []column{}
	}
	for i := range v.items() {
		t.Rows = append(t.Rows, tableRowOf(&v.items()[i], t.Columns, ""))
	}
	for g := range v.Groups {
		in := &v.Groups[g]
		t.Groups = append(t.Groups, group{ID: in.ID, Name: in.Name, RowCount: in.count()})
		for i := range in.items() {
			t.Rows = append(t.Rows, tableRowOf(&in.items()[i], t.Columns, in.ID))
		}
	}
	return t
}

func tableRowOf(it *item, columns []column, group kernel.ID) tableRow {
	row := tableRow{ID: it.ID, Group: group, Cells: make([]any, len(columns))}
	slots := it.Cells
	if slots == nil {
		slots = it.Values
	}
	for n, s := range slots {
		if s.Value == nil {
			continue
		}
		if s.Value.Type == siyuanapi.ColumnBlock && s.Value.Block != nil {
			row.BlockID = s.Value.Block.ID
		}
		at := slices.IndexFunc(columns, func(c column) bool { return c.ID == s.Value.ColumnID })
		if at < 0 && n < len(columns) {
			at = n
		}
		if at >= 0 {
			row.Cells[at] = plain(s.Value)
		}
	}
	return row
}

// contains reports whether a cell of the row contains a text.
func (row *tableRow) contains(text string) bool {
	return slices.ContainsFunc(row.Cells, func(c any) bool {
		return c != nil && strings.Contains(strings.ToLower(fmt.Sprint(c)), strings.ToLower(text))
	})
}
