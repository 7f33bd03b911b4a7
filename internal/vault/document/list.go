package document

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"collie/internal/sorting"
	"collie/internal/vault/api"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// This file has the endpoint that lists documents, in the orders and words of SiYuan's file tree.

// listedDocument is a document in the answer of listDocsByPath.
type listedDocument struct {
	Path              string `json:"path"`
	Name              string `json:"name"` // its title
	Icon              string `json:"icon"`
	Name1             string `json:"name1"` // its attribute name
	Alias             string `json:"alias"`
	Memo              string `json:"memo"`
	Bookmark          string `json:"bookmark"`
	ID                string `json:"id"`
	Count             int    `json:"count"` // of references to it
	Size              int64  `json:"size"`
	HSize             string `json:"hSize"`
	MTime             int64  `json:"mtime"`
	CTime             int64  `json:"ctime"`
	HMTime            string `json:"hMtime"`
	HCTime            string `json:"hCtime"`
	Sort              int    `json:"sort"`
	SubFileCount      int    `json:"subFileCount"`
	NewFlashcardCount int    `json:"newFlashcardCount"`
	DueFlashcardCount int    `json:"dueFlashcardCount"`
	FlashcardCount    int    `json:"flashcardCount"`
	TitleEmpty        bool   `json:"titleEmpty,omitempty"`
}

// listDocsByPath lists the documents directly below a document or at the top of a notebook.
func listDocsByPath(tx *workspace.Tx, req api.Request) api.Reply {
	id, path := req.Str("notebook"), req.Str("path")
	box := tx.OpenNotebook(id)
	if box == nil {
		return api.Fail(-1, notebookFailed)
	}
	files := []listedDocument{}
	parent := listedAt(tx, id, path)
	if path == "/" || parent != nil {
		list := tx.Children(box, parent)
		sortDocuments(list, req.OptNum("sort", box.Conf.SortMode))
		if limit := req.OptNum("maxListCount", 0); limit > 0 && len(list) > limit {
			list = list[:limit]
		}
		files = listDocuments(tx, list)
	}
	return api.OK(map[string]any{"box": id, "files": files, "path": path})
}

// listedAt returns the document at a path, with or without .sy, or nil. It may not be loaded.
func listedAt(tx *workspace.Tx, box, path string) *tree.Document {
	return tx.DocumentAtUnloaded(box, strings.TrimSuffix(path, ".sy")+".sy")
}

// listDocuments returns documents in the form of the answer.
func listDocuments(tx *workspace.Tx, list []*tree.Document) []listedDocument {
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = d.ID()
	}
	children, references := tx.CountChildren(ids), countReferences(tx, ids)
	files := make([]listedDocument, len(list))
	for i, d := range list {
		attrs, created, size := d.Root.Attrs, tree.IDTime(d.ID()), workspace.Size(d)
		files[i] = listedDocument{
			Path: d.Path(), Name: d.Title(), Icon: attrs["icon"], Name1: attrs["name"], Alias: attrs["alias"],
			Memo: attrs["memo"], Bookmark: attrs["bookmark"], ID: d.ID(), Count: references[d.ID()], Size: size, HSize: humanSize(size),
			MTime: d.Changed.Unix(), CTime: created.Unix(), HMTime: humanTime(d.Changed), HCTime: humanTime(created),
			Sort: d.Sort, SubFileCount: children[d.ID()], TitleEmpty: attrs["title-empty"] == "true",
		}
	}
	return files
}

// countReferences returns the number of references to each of ids. Documents without references are missing.
func countReferences(tx *workspace.Tx, ids []string) map[string]int {
	counts := map[string]int{}
	tx.Rows(func(row workspace.Row) bool {
		counts[row.Text(0)] = int(row.Int(1))
		return true
	}, `SELECT ref.def, count(*) FROM json_each(?) AS wanted CROSS JOIN ref ON ref.def = wanted.value GROUP BY ref.def`,
		string(api.MustJSON(ids)))
	return counts
}

// sortDocuments sorts documents in one of the orders of the file tree. 6 and 15 are the manual order, which list has
// already.
func sortDocuments(list []*tree.Document, mode int) {
	byTitle := func(a, b *tree.Document) int {
		return strings.Compare(strings.ToLower(a.Title()), strings.ToLower(b.Title()))
	}
	byChange := func(a, b *tree.Document) int { return a.Changed.Compare(b.Changed) }
	byID := func(a, b *tree.Document) int { return cmp.Compare(a.ID(), b.ID()) }
	type order func(a, b *tree.Document) int
	reverse := func(compare order) order {
		return func(a, b *tree.Document) int { return compare(b, a) }
	}
	orders := map[int]order{
		0: byTitle, 1: reverse(byTitle), 2: byChange, 3: reverse(byChange), 4: byTitle, 5: reverse(byTitle),
		9: byID, 10: reverse(byID),
	}
	if compare := orders[mode]; compare != nil {
		sorting.Stable(list, compare)
	}
}

// humanSize formats a number of bytes for a listing.
func humanSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// humanTime formats a time for a listing.
func humanTime(t time.Time) string {
	return t.Format(time.DateTime) + ", " + relativeTime(time.Since(t))
}

// relativeTime says how long ago something was, in the largest unit that fits.
func relativeTime(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		name string
		span time.Duration
	}{
		{"year", 365 * day},
		{"month", 30 * day},
		{"day", day},
		{"hour", time.Hour},
		{"minute", time.Minute},
		{"second", time.Second},
	} {
		switch n := d / unit.span; {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "now"
}
