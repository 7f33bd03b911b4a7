package av

import (
	"cmp"
	"slices"
	"strings"

	"collie/internal/siyuanapi"
)

// This file sorts rows by the sorts of a view.

// viewSorts returns the sorts of a view, an empty list if there are none.
func viewSorts(v view) []any {
	if list := v.list("sorts"); list != nil {
		return list
	}
	return []any{}
}

// sort sorts rows by the sorts of a view. Empty cells come last in either direction. Rows that no sort tells apart stay
// in the order in which they are stored, as in SiYuan.
func (s *sheet) sort(v view, rows []string) {
	type criterion struct {
		column     *column
		descending bool
	}
	var order []criterion
	for _, one := range v.objects("sorts") {
		if c := s.db.column(one.str("column")); c != nil {
			order = append(order, criterion{c, one.str("order") == "DESC"})
		}
	}
	if len(order) == 0 {
		return
	}
	position := make(map[string]int, len(rows))
	for i, c := range s.db.primary().cells {
		position[c.row] = i
	}
	slices.SortFunc(rows, func(a, b string) int { return cmp.Compare(position[a], position[b]) })
	keys := make(map[string][]*value, len(rows))
	for _, row := range rows {
		for _, o := range order {
			keys[row] = append(keys[row], s.cell(o.column, row))
		}
	}
	slices.SortStableFunc(rows, func(a, b string) int {
		for i, o := range order {
			x, y := keys[a][i], keys[b][i]
			switch {
			case x.isEmpty() && y.isEmpty():
				continue
			case x.isEmpty():
				return 1
			case y.isEmpty():
				return -1
			}
			if n := compare(o.column, x, y); n != 0 {
				if o.descending {
					return -n
				}
				return n
			}
		}
		return 0
	})
}

// compare compares two values of a column that are not empty.
func compare(c *column, a, b *value) int {
	switch a.Type {
	case siyuanapi.ColumnNumber:
		return cmp.Compare(a.Number.Content, b.Number.Content)
	case siyuanapi.ColumnDate, siyuanapi.ColumnCreated, siyuanapi.ColumnUpdated:
		x, _ := a.time()
		y, _ := b.time()
		return x.Compare(y)
	case siyuanapi.ColumnCheckbox:
		return cmp.Compare(btoi(a.Checkbox.Checked), btoi(b.Checkbox.Checked))
	case siyuanapi.ColumnSelect, siyuanapi.ColumnMSelect:
		for i := range min(len(a.MSelect), len(b.MSelect)) {
			if n := cmp.Compare(c.optionIndex(a.MSelect[i].Content), c.optionIndex(b.MSelect[i].Content)); n != 0 {
				return n
			}
		}
		return cmp.Compare(len(a.MSelect), len(b.MSelect))
	case siyuanapi.ColumnRollup:
		if x, y := a.Rollup.single(), b.Rollup.single(); x != nil && y != nil && x.Type == siyuanapi.ColumnNumber && y.Type == siyuanapi.ColumnNumber && !x.isEmpty() && !y.isEmpty() {
			return cmp.Compare(x.Number.Content, y.Number.Content)
		}
	}
	return cmp.Compare(strings.ToLower(a.text()), strings.ToLower(b.text()))
}

// single returns the value of a rollup with exactly one, else nil.
func (r *valueRollup) single() *value {
	if r == nil || len(r.Contents) != 1 {
		return nil
	}
	return r.Contents[0]
}

// btoi returns 1 for true and 0 for false.
func btoi(on bool) int {
	if on {
		return 1
	}
	return 0
}
