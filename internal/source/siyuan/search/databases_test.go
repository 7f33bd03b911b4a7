package search_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/search"
)

// TestWordsFindNoDatabaseWhereSomethingIsHidden: the text of a database in the index is that of its rows, which may be
// blocks of any notebook.
func TestWordsFindNoDatabaseWhereSomethingIsHidden(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	kit.Notebook("Open")
	hidden := kernel.ID(kit.Notebook("Hidden"))
	fulltext := actiontest.Find(t, search.Tool(), "fulltext")
	asked := func(args string) map[string]bool {
		t.Helper()
		kit.ResetCalls()
		kit.Must(t, fulltext, args)
		for _, c := range kit.Calls() {
			if c.Path == "/api/search/fullTextSearchBlock" {
				types := map[string]bool{}
				for name, on := range c.Get("types").Map() {
					types[name] = on.Bool()
				}
				return types
			}
		}
		t.Fatalf("%s asks for nothing", args)
		return nil
	}
	if types := asked(`{"query":"tea"}`); len(types) > 0 {
		t.Errorf("with all notebooks readable, types %v, want the kernel's own", types)
	}
	if types := asked(`{"query":"tea","typeShortcodes":["av","p"]}`); !types["databaseBlock"] {
		t.Errorf("with all notebooks readable, types %v", types)
	}
	kit.Levels[hidden] = access.None
	if types := asked(`{"query":"tea"}`); types["databaseBlock"] || !types["paragraph"] || !types["document"] || types["listItem"] {
		t.Errorf("with a hidden notebook, types %v, want the usual ones without databases", types)
	}
	if types := asked(`{"query":"tea","typeShortcodes":["av","p"]}`); types["databaseBlock"] || !types["paragraph"] {
		t.Errorf("with a hidden notebook, types %v, want paragraphs only", types)
	}
}
