package search

import (
	"cmp"
	"slices"
	"strings"

	"collie/internal/vault/api"
	"collie/internal/vault/edit"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoints for tags.

// tagEntry is a tag in the tree of tags.
type tagEntry struct {
	Name     string      `json:"name"`
	Label    string      `json:"label"`
	Children []*tagEntry `json:"children"` // null where there are none
	Type     string      `json:"type"`
	Depth    int         `json:"depth"`
	Count    int         `json:"count"`
}

// getTag returns all tags as a tree, in which a/b is below a. The order from the request, 0 by default, is stored in
// the configuration.
func getTag(tx *workspace.Tx, req api.Request) api.Reply {
	order := req.OptNum("sort", 0)
	api.SetTagSort(tx, order)
	compare := tagOrder(order)
	top := &tagEntry{Children: []*tagEntry{}}
	byLabel := map[string]*tagEntry{}
	for label, count := range tagCounts(tx) {
		tagAt(top, byLabel, label).Count = count
	}
	for _, entry := range byLabel {
		slices.SortFunc(entry.Children, compare)
	}
	slices.SortFunc(top.Children, compare)
	return api.OK(top.Children)
}

// tagAt returns the entry for a label. It creates missing entries, including those above.
func tagAt(top *tagEntry, byLabel map[string]*tagEntry, label string) *tagEntry {
	if entry := byLabel[label]; entry != nil {
		return entry
	}
	parent, name, depth := top, label, 0
	if i := strings.LastIndexByte(label, '/'); i >= 0 {
		parent, name = tagAt(top, byLabel, label[:i]), label[i+1:]
		depth = parent.Depth + 1
	}
	entry := &tagEntry{Name: name, Label: label, Type: "tag", Depth: depth}
	byLabel[label] = entry
	parent.Children = append(parent.Children, entry)
	return entry
}

// tagOrder returns the comparison for an order of tags: 1 and 5 by name, descending; 7 by count, ascending; 8 by count,
// descending; any other by name, ascending.
func tagOrder(order int) func(a, b *tagEntry) int {
	byName := func(a, b *tagEntry) int {
		return cmp.Or(strings.Compare(foldCase(a.Name), foldCase(b.Name)), strings.Compare(a.Name, b.Name))
	}
	switch order {
	case 1, 5:
		return func(a, b *tagEntry) int { return byName(b, a) }
	case 7:
		return func(a, b *tagEntry) int { return cmp.Or(cmp.Compare(a.Count, b.Count), byName(a, b)) }
	case 8:
		return func(a, b *tagEntry) int { return cmp.Or(cmp.Compare(b.Count, a.Count), byName(a, b)) }
	}
	return byName
}

// tagCounts counts the uses of each tag in open notebooks.
func tagCounts(tx *workspace.Tx) map[string]int {
	counts := map[string]int{}
	tx.Rows(func(row workspace.Row) bool {
		for _, tag := range tagsIn(row.Text(0)) {
			counts[tag] += int(row.Int(1))
		}
		return true
	}, `SELECT node.tag, count(*) FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
		WHERE node.tag <> '' AND notebook.closed = 0 GROUP BY node.tag`)
	return counts
}

// tagsIn returns the tags in the column tag, such as #a# #b#.
func tagsIn(column string) []string {
	var tags []string
	for tag := range strings.SplitSeq(column, "# #") {
		if tag = strings.Trim(tag, "# "); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// forbiddenMarks are the characters that must not be in a new tag.
const forbiddenMarks = "!#$&()*<=>[\\]^_`{}~\n"

// renameTag renames a tag and the tags below it. It is not an error if there is no such tag.
func renameTag(tx *workspace.Tx, req api.Request) api.Reply {
	oldLabel, label := req.NeedText("oldLabel"), strings.Trim(req.NeedText("newLabel"), "/ ")
	if i := strings.IndexAny(label, forbiddenMarks); i >= 0 {
		return api.Notice("Do not include Markdown syntax marker ["+label[i:i+1]+"]", 5000)
	}
	changeTags(tx, oldLabel, func(tag string) string {
		if tag == oldLabel || strings.HasPrefix(tag, oldLabel+"/") {
			return label + tag[len(oldLabel):]
		}
		return tag
	})
	return api.Done()
}

// changeTags changes the labels of tags that begin with prefix.
func changeTags(tx *workspace.Tx, prefix string, change func(tag string) (label string)) {
	var ids []string
	tx.Rows(func(row workspace.Row) bool {
		ids = append(ids, row.Text(0))
		return true
	}, "SELECT id FROM node WHERE tag <> '' AND instr(tag, ?)", "#"+prefix)
	for _, id := range ids {
		b := tx.Block(id)
		if b == nil { // in a closed notebook
			continue
		}
		edit.SaveBefore(tx, b.Doc)
		switch b.Kind {
		case tree.Doc:
			b.Attrs["tags"] = retagList(b.Attrs["tags"], change)
		default:
			b.Text = retagText(b.Text, change)
		}
	}
}

// retagList changes the tags in a document's list, such as a, b.
func retagList(list string, change func(tag string) string) string {
	var labels []string
	for tag := range strings.SplitSeq(list, ",") {
		if label := change(strings.TrimSpace(tag)); label != "" {
			labels = append(labels, label)
		}
	}
	return strings.Join(labels, ",")
}

// retagText changes the tags in the text of a leaf.
func retagText(text string, change func(tag string) string) string {
	var out strings.Builder
	for _, s := range markup.Spans(text) {
		if label := change(s.Content); s.Kind == "tag" && label != s.Content {
			out.WriteString("#" + label + "#")
		} else {
			out.WriteString(s.Markdown)
		}
	}
	return out.String()
}
