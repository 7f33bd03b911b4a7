package document_test

import (
	"errors"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// TestClosedNotebook: the content of a closed notebook seems to be missing, so errors say that the notebook is
// closed.
func TestClosedNotebook(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("Closed"), k.Notebook("Open")
	id, doc := k.Doc(nb, "/P/D", "text"), k.Doc(other, "/O", "# H")
	heading := children(t, k, doc)[0]
	if err := k.Client.FlushNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := k.Client.CloseNotebook(t.Context(), kernel.ID(nb)); err != nil {
		t.Fatal(err)
	}
	k.ResetCalls()
	calls := map[string][]string{
		"create":            {args("notebook", nb, "path", "/P/D"), args("notebook", nb, "parentPath", "/P", "title", "D")},
		"create_daily_note": {args("notebook", nb)},
		"search_docs":       {args("notebook", nb, "query", "D")},
		"list_tree":         {args("notebook", nb, "path", "/")},
		"reorder":           {args("parentID", nb, "orderedIDs", []string{id})},
		"move":              {args("fromIDs", []string{doc}, "toID", nb), args("fromPaths", []string{storagePathOf(doc)}, "toNotebook", nb, "toPath", "/")},
		"heading_to_doc":    {args("headingID", heading, "targetNotebook", nb)},
		"lookup":            {args("notebook", nb, "hpath", "/P/D"), args("notebook", nb, "path", storagePathOf(id)), args("id", nb)},
		"rename":            {args("notebook", nb, "path", storagePathOf(id), "title", "x")},
	}
	for name, all := range calls {
		for _, call := range all {
			e, ok := errors.AsType[*tool.Error](k.Refused(t, findAction(t, name), call, kernel.API))
			if !ok || e.Code != kernel.CodeNotebookClosed || !strings.Contains(e.Hint, `notebook="`+nb+`", opened=true`) {
				t.Errorf("%s %s: %v, hint %q", name, call, e, e.Hint)
			}
		}
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
	if got := k.Must(t, findAction(t, "lookup"), args("notebook", nb, "path", "/")); got.Get("humanPath.notebookName").Str != "Closed" {
		t.Errorf("of the notebook itself: %s", got.Raw)
	}
	k.Levels[kernel.ID(nb)] = access.Read
	k.Refused(t, findAction(t, "create"), calls["create"][0], tool.Denied) // opening it would not help
	k.Levels[kernel.ID(nb)] = access.None
	k.Refused(t, findAction(t, "create"), calls["create"][0], tool.NotFound)
	k.Refused(t, findAction(t, "lookup"), args("id", nb), tool.NotFound)
}
