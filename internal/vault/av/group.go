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

// defaultGroup is the value of the group whose rows have nothing in the column the view is grouped by.
const defaultGroup = "_@default@_"

// group is a group of a view with its rows.
type group struct {
	view  view
	name  string
	value *value
	rows  []string
}

// groupColumn returns the column a view is grouped by, nil when it is not grouped.
func (db *database) groupColumn(v view) *column {
	if field := v.at("group").str("field"); field != "" && len(v.objects("groups")) > 0 {
		return db.column(field)
	}
	return nil
}

// groups distributes rows over the groups of a view, each in the order of rows. Of columns whose groups follow from a
// value alone it asks the value; of others, such as ranges of numbers, what the view remembers. What belongs nowhere
// goes to the group without a value, or else to the last one.
func (s *sheet) groups(v view, c *column, rows []string) []*group {
	var groups []*group
	for _, o := range v.objects("groups") {
		groups = append(groups, &group{view: view{o}, value: groupValue(o)})
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(a.rank(c), b.rank(c)) })
	rest := groups[len(groups)-1]
	members := map[*group]map[string]bool{}
	for _, g := range groups {
		g.name = g.value.text()
		if g.isFallback() {
			g.name, rest = fmt.Sprintf("Field [%s] is empty", c.name()), g
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
			rest.rows = append(rest.rows, row)
		}
	}
	return groups
}

// groupValue returns the value that a group stands for, nothing if it cannot be read.
func groupValue(o object) *value {
	var v value
	if json.Unmarshal(api.MustJSON(o["groupVal"]), &v) != nil {
		return &value{Type: siyuanapi.ColumnText}
	}
	return &v
}

// isFallback reports whether g is the group of rows without a value.
func (g *group) isFallback() bool { return g.value.Text != nil && g.value.Text.Content == defaultGroup }

// rank orders groups: by options where there are some, then as the view has it, the one without a value last.
func (g *group) rank(c *column) int {
	switch {
	case g.isFallback():
		return math.MaxInt
	case len(g.value.MSelect) > 0:
		return c.optionIndex(g.value.MSelect[0].Content)
	}
	return g.view.num("groupSort", 0)
}

// accepts reports whether a row with a value is in g; remembered is what the view says.
func (g *group) accepts(v *value, remembered bool) bool {
	switch {
	case len(g.value.MSelect) > 0:
		return choiceHolds(v, g.value, "=")
	case g.value.Checkbox != nil && v.Checkbox != nil:
		return g.value.Checkbox.Checked == v.Checkbox.Checked
	}
	return remembered
}

func setOf(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[text] = true
	}
	return set
}
