package call

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/rawjson"
)

// list renders items one per line, and objects as a table.
func (v *resultView) list(name string, items []gjson.Result, most int) string {
	var b strings.Builder
	if name != "" {
		fmt.Fprintf(&b, "  %s (%d)\n", output.OneLine(name), len(items))
	}
	shown := items[:min(most, len(items))]
	if slices.ContainsFunc(shown, func(i gjson.Result) bool { return !i.IsObject() }) {
		for _, item := range shown {
			b.WriteString("    " + cell(item) + "\n")
		}
	} else {
		b.WriteString(v.objects(shown))
	}
	if n := len(items) - len(shown); n > 0 {
		locale.Fprintf(&b, "    … %d more; --json shows all\n", n)
	}
	return b.String()
}

// branch is an item of a list, with its depth if the list is a tree.
type branch struct {
	depth int
	item  gjson.Result
}

// isTree reports whether any item has items of its own.
func isTree(items []gjson.Result) bool {
	return slices.ContainsFunc(items, func(i gjson.Result) bool { return rawjson.Member(i, "children").IsArray() })
}

// flatten returns all items of a tree in display order.
func flatten(items []gjson.Result, depth int, out []branch) []branch {
	for _, item := range items {
		out = append(out, branch{depth, item})
		if below := rawjson.Member(item, "children"); below.IsArray() {
			out = flatten(below.Array(), depth+1, out)
		}
	}
	return out
}

// objects renders objects as a table with their names first. Empty columns are left out.
func (v *resultView) objects(items []gjson.Result) string {
	all := flatten(items, 0, nil)
	var names []string
	for _, i := range all {
		i.item.ForEach(func(k, m gjson.Result) bool {
			if name := k.String(); inColumn(name, m) != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
			return true
		})
	}
	if slices.Contains(names, "fsPath") && saidBy(all, "hPath", "fsPath") {
		names = slices.DeleteFunc(names, func(n string) bool { return n == "hPath" })
	}
	slices.SortStableFunc(names, func(a, b string) int { return rankInList(a) - rankInList(b) })
	rows := [][]string{make([]string, len(names))}
	for j, name := range names {
		rows[0][j] = strings.ToUpper(name)
	}
	for _, i := range all {
		row := make([]string, len(names))
		for j, name := range names {
			row[j] = inColumn(name, rawjson.Member(i.item, name))
		}
		if len(row) > 0 {
			row[0] = strings.Repeat("  ", i.depth) + row[0]
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if len(row) > 0 {
			row[0] = "    " + row[0]
		}
	}
	return output.LayOut(nil, rows, v.width)
}

// saidBy reports whether the value of the member name is, in every item, the end of the member other.
func saidBy(items []branch, name, other string) bool {
	return !slices.ContainsFunc(items, func(i branch) bool {
		return !strings.HasSuffix(rawjson.Member(i.item, other).String(), rawjson.Member(i.item, name).String())
	})
}

// inColumn returns a member for a table cell. It is empty for nested items, which have rows of their own, and
// for false values.
func inColumn(name string, m gjson.Result) string {
	if name == "children" && m.IsArray() || m.Type == gjson.False {
		return ""
	}
	return cell(m)
}

// rankInList sorts columns: names before ids, long texts last.
func rankInList(name string) int {
	if i := slices.Index([]string{"name", "title", "label", "id"}, name); i >= 0 {
		return i
	}
	if slices.Contains(texts, name) || name == "message" {
		return 6
	}
	return 5
}

// database renders the rows of a database view as a table.
func (v *resultView) database(table gjson.Result) string {
	head := []string{"  ROW"}
	for _, c := range rawjson.List(rawjson.Member(table, "columns")) {
		head = append(head, cell(rawjson.Member(c, "name")))
	}
	var rows [][]string
	for _, r := range rawjson.List(rawjson.Member(table, "rows")) {
		row := []string{"  " + cell(rawjson.Member(r, "id"))}
		for _, c := range rawjson.List(rawjson.Member(r, "cells")) {
			row = append(row, cell(c))
		}
		rows = append(rows, row)
	}
	return output.LayOut(head, rows, v.width)
}
