package av

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"collie/internal/siyuanapi"
	"collie/internal/vault/api"
)

// This file assigns rows to the groups of a view.

// defaultGroup is the value of the group for rows that have no value in the column by which the view is grouped.
const defaultGroup = "_@default@_"

// group is a group of a view with its rows.
type group struct {
	view  view
	name  string
	value *value
	rows  []string
}

// groupColumn returns the column by which a view is grouped, nil if it is not grouped.
func (db *database) groupColumn(v view) *column {
	if field := v.at("group").str("field"); field != "" && len(v.objects("groups")) > 0 {
		return db.column(field)
	}
	return nil
}

// groups assigns rows to the groups of a view; each group keeps their order. A row with several options is in several
// groups. For options and checkboxes the value of a
// row decides. For other columns, such as ranges of numbers, the list of rows in the stored group decides. The
// remaining rows go to the group for rows without a value or, if there is none, to the last group.
func (s *sheet) groups(v view, c *column, rows []string) []*group {
	var groups []*group
	for _, o := range v.objects("groups") {
		groups = append(groups, &group{view: view{o}, value: groupValue(o)})
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(a.rank(c), b.rank(c)) })
	fallback := groups[len(groups)-1]
	members := map[*group]map[string]bool{}
	for _, g := range groups {
		g.name = g.value.text()
		if g.isFallback() {
			g.name, fallback = fmt.Sprintf("Field [%s] is empty", c.name()), g
		}
		members[g] = setOf(g.view.strs("groupItemIds"))
	}
	for _, row := range rows {
		placed, v := false, s.cell(c, row)
		for _, g := range groups {
			if !g.isFallback() && g.accepts(v, members[g][row]) {
				g.rows, placed = append(g.rows, row), true
			}
		}
		if !placed {
			fallback.rows = append(fallback.rows, row)
		}
	}
	return groups
}

// groupValue returns the value of a group, an empty one if it cannot be parsed.
func groupValue(o object) *value {
	var v value
	if json.Unmarshal(api.MustJSON(o["groupVal"]), &v) != nil {
		return &value{Type: siyuanapi.ColumnText}
	}
	return &v
}

// isFallback reports whether g is the group for rows without a value.
func (g *group) isFallback() bool { return g.value.Text != nil && g.value.Text.Content == defaultGroup }

// rank returns the sort key of a group: the index of its option, or its position in the view; the group without a value
// comes last.
func (g *group) rank(c *column) int {
	switch {
	case g.isFallback():
		return math.MaxInt
	case len(g.value.MSelect) > 0:
		return c.optionIndex(g.value.MSelect[0].Content)
	}
	return g.view.num("groupSort", 0)
}

// accepts reports whether a row with a value belongs into g. isMember is whether the stored group lists the row.
func (g *group) accepts(v *value, isMember bool) bool {
	switch {
	case len(g.value.MSelect) > 0:
		return choiceHolds(v, g.value, "=")
	case g.value.Checkbox != nil && v.Checkbox != nil:
		return g.value.Checkbox.Checked == v.Checkbox.Checked
	}
	return isMember
}

func setOf(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[text] = true
	}
	return set
}
