package fs_test

import (
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/fs"
	"collie/internal/source/siyuan/kernel"
)

// findAction returns an action of the tool by its name.
func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, fs.Tool(), name)
}

// createNotebook makes a notebook.
func createNotebook(t testing.TB, kit *actiontest.Kit, name string) kernel.ID {
	t.Helper()
	n, err := kit.Client.CreateNotebook(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return n.ID
}

// createDocument makes a document.
func createDocument(t testing.TB, kit *actiontest.Kit, notebook kernel.ID, hpath, markdown string) kernel.ID {
	t.Helper()
	id, err := kit.Client.CreateDocument(t.Context(), notebook, hpath, markdown, kernel.NewID())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }

// stringsAt returns the values at a path of a result as strings.
func stringsAt(v gjson.Result, path string) []string {
	out := []string{}
	for _, one := range v.Get(path).Array() {
		out = append(out, one.String())
	}
	return out
}

// requestedPaths returns the endpoints that were requested since the last reset, in order.
func requestedPaths(kit *actiontest.Kit) []string {
	var out []string
	for _, c := range kit.Calls() {
		out = append(out, c.Path)
	}
	return out
}

// sortInPlace sorts list and returns it.
func sortInPlace(list []string) []string {
	slices.Sort(list)
	return list
}
