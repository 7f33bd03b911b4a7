package block_test

import (
	"fmt"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/block"
	"collie/internal/source/siyuan/kernel"
)

// workspace is a kernel with one notebook and one document.
type workspace struct {
	*actiontest.Kit
	t      *testing.T
	nb     kernel.ID
	doc    kernel.ID
	blocks []kernel.ID // directly below the document
}

func newWorkspace(t *testing.T, markdown string) *workspace {
	t.Helper()
	t.Parallel()
	w := &workspace{Kit: actiontest.New(t), t: t}
	w.nb = kernel.ID(w.Notebook("Notes 笔记"))
	w.doc = w.addDocument(w.nb, "/Doc 文档", markdown)
	w.blocks = w.Children(w.t, w.doc)
	return w
}

// addDocument adds a document to a notebook.
func (w *workspace) addDocument(nb kernel.ID, hpath, markdown string) kernel.ID {
	w.t.Helper()
	return kernel.ID(w.Doc(string(nb), hpath, markdown))
}

// attrs returns the attributes of a block as the kernel has them.
func (w *workspace) attrs(id kernel.ID) map[string]string {
	w.t.Helper()
	attrs, err := w.Client.Attrs(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return attrs
}

func (w *workspace) setAttrs(id kernel.ID, attrs map[string]string) {
	w.t.Helper()
	if err := w.Client.SetAttrs(w.t.Context(), id, attrs); err != nil {
		w.t.Fatal(err)
	}
}

// findAction returns an action of the tool by its name.
func findAction(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, block.Tool(), name)
}

// checkGuarded checks that an action with args needs a level on the notebook of id.
func (w *workspace) checkGuarded(a *action.Action, need access.Level, id kernel.ID, args string) {
	w.t.Helper()
	at, err := w.Client.Place(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Guarded(w.t, a, need, at.Notebook, id, args)
}

func idList(ids ...kernel.ID) string { return fmt.Sprint(ids) }

// args returns a JSON object made of alternating names and values.
func args(pairs ...any) string { return actiontest.Args(pairs...) }
