package document_test

import (
	"errors"
	"strings"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/document"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// findAction returns an action of the tool by its name.
func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, document.Tool(), name)
}

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }

// errorPayload returns the payload of an error without the names that the caller gave.
func errorPayload(err error, names ...string) string {
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		return err.Error()
	}
	out := string(e.Payload())
	for _, name := range names {
		out = strings.ReplaceAll(out, name, "NAME")
	}
	return out
}

// checkGuarded checks that an action is denied in a notebook of every level below need, and that it
// answers for a hidden notebook as if its target did not exist. on creates a target in a notebook
// and returns the arguments for it, with the names in them that differ between two answers.
// missing returns arguments of the same form for a target that does not exist.
func checkGuarded(
	t *testing.T, name string, need access.Level,
	on func(k *actiontest.Kit, notebook string) (call string, names []string), missing func(k *actiontest.Kit) string,
) {
	t.Helper()
	a := findAction(t, name)
	for level := access.Read; level < need; level++ {
		k := actiontest.New(t)
		id := k.Notebook("Low")
		call, _ := on(k, id)
		k.Levels[kernel.ID(id)] = level
		k.Refused(t, a, call, tool.Denied)
	}
	k := actiontest.New(t)
	id := k.Notebook("Hidden")
	call, names := on(k, id)
	k.Levels[kernel.ID(id)] = access.None
	hidden := k.Refused(t, a, call, tool.NotFound)
	gone := k.Refused(t, a, missing(k), tool.NotFound)
	if got, want := errorPayload(hidden, names...), errorPayload(gone, actiontest.Nowhere); got != want {
		t.Errorf("%s tells what is hidden from what is not there:\n%s\n%s", name, got, want)
	}
}

// guardedByID returns the functions on and missing of [checkGuarded] for an action whose argument is a document's id.
func guardedByID(param string, more ...any) (func(*actiontest.Kit, string) (string, []string), func(*actiontest.Kit) string) {
	return func(k *actiontest.Kit, notebook string) (string, []string) {
			id := k.Doc(notebook, "/D", "text")
			return args(append([]any{param, id}, more...)...), []string{id}
		}, func(*actiontest.Kit) string {
			return args(append([]any{param, actiontest.Nowhere}, more...)...)
		}
}

// guardedByNotebook is like [guardedByID], for an action whose argument is a notebook's id.
func guardedByNotebook(param string, more ...any) (func(*actiontest.Kit, string) (string, []string), func(*actiontest.Kit) string) {
	return func(_ *actiontest.Kit, notebook string) (string, []string) {
			return args(append([]any{param, notebook}, more...)...), []string{notebook}
		}, func(*actiontest.Kit) string {
			return args(append([]any{param, actiontest.Nowhere}, more...)...)
		}
}

// hpathOf returns the kernel's human path of a document, "" if the document is gone.
func hpathOf(t testing.TB, k *actiontest.Kit, id string) string {
	t.Helper()
	path, err := k.Client.HPathByID(t.Context(), kernel.ID(id))
	if err != nil {
		return ""
	}
	return path
}

// storagePathOf returns the storage path of a document at the top of a notebook.
func storagePathOf(id string) string { return "/" + id + ".sy" }

func TestTool(t *testing.T) {
	t.Parallel()
	actiontest.Tool(t, document.Tool(), actiontest.Told{
		Actions: []string{
			"create", "lookup", "rename", "remove", "move", "reorder", "get_child_blocks", "get_child_docs", "set_attr", "list_tree",
			"search_docs", "get_doc", "get_outline", "create_daily_note", "duplicate", "heading_to_doc", "doc_to_heading",
		},
		Dangerous: []string{"remove", "move", "heading_to_doc", "doc_to_heading"},
		Off:       []string{"remove"},
	})
	for _, a := range document.Tool().Actions {
		if len(a.Needs) == 0 || len(a.Endpoints) == 0 {
			t.Errorf("%s does not say all about itself", a.Name)
		}
	}
	if n := findAction(t, "doc_to_heading").HighestLevel(); n != access.Delete {
		t.Errorf("doc_to_heading, which removes a document, needs %s", n)
	}
}
