package action_test

import (
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// TestReadOnlyKernel: a read-only kernel refuses SQL too. Reading works all the same, and what does not exist still
// gives the same error.
func TestReadOnlyKernel(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	notebook := makeNotebook(t, kit, "工作")
	a, b := makeDocument(t, kit, notebook, "/甲"), makeDocument(t, kit, notebook, "/乙")
	kit.ReadOnly(true)
	read := resolvingAction(action.OnPath(access.Read, "path"))
	r := kit.Request(t, read, pathArg(t, "/工作/甲"))
	if got, err := r.Resolve(t.Context(), "/工作/甲"); err != nil || got.ID != a {
		t.Errorf("found %v, %v, want %s", got.ID, err, a)
	}
	if _, err := r.Resolve(t.Context(), "/工作/丙"); tool.KindOf(err) != tool.NotFound {
		t.Errorf("a document that is not there: %v", err)
	}
	found, err := r.Places(t.Context(), []kernel.ID{a, b, "20210808180117-czj9bvb"})
	if err != nil || len(found) != 2 || found[b].Notebook != notebook {
		t.Errorf("found %v, %v, want two documents", found, err)
	}
}
