package folder_test

import (
	"regexp"
	"strings"
	"testing"

	"collie/internal/vault/folder"
	"collie/internal/vault/markup"
	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

var anyID = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)

// shownDocuments returns the documents of a vault by notebook and titles, in a form for comparison: kramdown without the ids and times of
// blocks. Ids in texts are replaced by the text of the block that they name, as <title> or <text>; ids in names of assets by ID.
func shownDocuments(t testing.TB, w *workspace.Workspace) map[string]string {
	t.Helper()
	docs := documentsByPath(t, w)
	says := map[string]string{}
	for _, d := range docs {
		d.Root.Walk(func(b *tree.Block) {
			says[b.ID] = "<" + strings.TrimSpace(markup.Content(b)) + ">"
		})
	}
	found := map[string]string{}
	for name, d := range docs {
		if d.Root.ID == d.Box.ID {
			continue
		}
		root := d.Root.Clone()
		root.Walk(func(b *tree.Block) {
			delete(b.Attrs, "id")
			delete(b.Attrs, "updated")
			delete(b.Attrs, "colgroup")
		})
		parts := []string{}
		for _, b := range root.Children {
			parts = append(parts, markup.Kramdown(b))
		}
		text := regexp.MustCompile(`-\d{14}-[0-9a-z]{7}(\.\w+)`).ReplaceAllString(strings.Join(parts, "\n\n"), "-ID$1")
		found[name] = anyID.ReplaceAllStringFunc(text, func(id string) string {
			if said := says[id]; said != "" {
				return said
			}
			return id
		})
	}
	return found
}

// importAndCompare imports a folder and compares one document, as shownDocuments returns it, with want.
func importAndCompare(t *testing.T, f files, document, want string) folder.Report {
	t.Helper()
	w := newVault(t)
	r := importFolder(t, w, f.write(t), folder.ImportOptions{Notebook: "N"})
	got := shownDocuments(t, w)
	if got["N/"+document] != want {
		t.Errorf("%s is\n%s\nwant\n%s\nall: %q, problems: %v", document, got["N/"+document], want, got, r.Problems)
	}
	return r
}
