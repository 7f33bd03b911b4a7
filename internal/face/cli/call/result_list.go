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

// This file renders lists in results of our own tools as tables, trees or one item a line.

// list renders items one per line, and objects as a table.
func (v *resultView) list(name string, items []gjson.Result, limit int) string {
	var b strings.Builder
	if name != "" {
		fmt.Fprintf(&b, "  %s (%d)\n", output.OneLine(name), len(items))
	}
	visible := items[:min(limit, len(items))]
	if slices.ContainsFunc(visible, func(i gjson.Result) bool { return !i.IsObject() }) {
		for _, item := range visible {
			b.WriteString("    " + cell(item) + "\n")
		}
	} else {
		b.WriteString(v.objects(visible))
	}
	if n := len(items) - len(visible); n > 0 {
		locale.Fprintf(&b, "    … %d more; --json shows all\n", n)
	}
	return b.String()
}

// listItem is an item of a list, with its depth if the list is a tree.
type listItem struct {
	depth int
	item  gjson.Result
}

// isTree reports whether any item has items of its own.
func isTree(items []gjson.Result) bool {
	return slices.ContainsFunc(items, func(i gjson.Result) bool { return rawjson.Member(i, "children").IsArray() })
}

// flattenTree returns all items of a tree in display order.
func flattenTree(items []gjson.Result, depth int, out []listItem) []listItem {
	for _, item := range items {
		out = append(out, listItem{depth, item})
		if below := rawjson.Member(item, "children"); below.IsArray() {
			out = flattenTree(below.Array(), depth+1, out)
		}
	}
	return out
}

// objects renders objects as a table with their names first. Empty columns are left out.
func (v *resultView) objects(items []gjson.Result) string {
	all := flattenTree(items, 0, nil)
	var names []string
	for _, i := range all {
		i.item.ForEach(func(k, m gjson.Result) bool {
			if name := k.String(); inColumn(name, m) != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
			return true
		})
	}
	if slices.Contains(names, "fsPath") && isSuffixOf(all, "hPath", "fsPath") {
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

// isSuffixOf reports whether, in every item, the member called whole ends with the member called part.
func isSuffixOf(items []listItem, part, whole string) bool {
	return !slices.ContainsFunc(items, func(i listItem) bool {
		return !strings.HasSuffix(rawjson.Member(i.item, whole).String(), rawjson.Member(i.item, part).String())
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

// rankInList returns the rank of a column for sorting: names before ids, long texts last.
func rankInList(name string) int {
	if i := slices.Index([]string{"name", "title", "label", "id"}, name); i >= 0 {
		return i
	}
	if slices.Contains(textMembers, name) || name == "message" {
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
