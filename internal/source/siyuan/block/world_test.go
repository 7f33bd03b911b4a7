package block_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/block"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// nowhere is an id that no kernel has.
const nowhere = "20990101000000-zzzzzzz"

// world is a kernel with one notebook and one document.
type world struct {
	*actiontest.Kit
	t      *testing.T
	nb     kernel.ID
	doc    kernel.ID
	blocks []kernel.ID // at the top of the document
}

func newWorld(t *testing.T, markdown string) *world {
	t.Helper()
	t.Parallel()
	w := &world{Kit: actiontest.New(t), t: t}
	w.nb = kernel.ID(w.Notebook("Notes 笔记"))
	w.doc = w.add(w.nb, "/Doc 文档", markdown)
	w.blocks = w.children(w.doc)
	return w
}

func (w *world) add(nb kernel.ID, hpath, markdown string) kernel.ID {
	w.t.Helper()
	return kernel.ID(w.Doc(string(nb), hpath, markdown))
}

func (w *world) children(id kernel.ID) []kernel.ID {
	w.t.Helper()
	list, err := w.Client.ChildBlocks(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []kernel.ID
	for _, b := range list {
		ids = append(ids, b.ID)
	}
	return ids
}

// texts are the Markdown of the blocks right below id.
func (w *world) texts(id kernel.ID) []string {
	w.t.Helper()
	list, err := w.Client.ChildBlocks(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	out := []string{}
	for _, b := range list {
		out = append(out, b.Markdown)
	}
	return out
}

func (w *world) attrs(id kernel.ID) map[string]string {
	w.t.Helper()
	attrs, err := w.Client.Attrs(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return attrs
}

func (w *world) setAttrs(id kernel.ID, attrs map[string]string) {
	w.t.Helper()
	if err := w.Client.SetAttrs(w.t.Context(), id, attrs); err != nil {
		w.t.Fatal(err)
	}
}

// act is an action of the tool by name.
func act(t testing.TB, name string) *action.Action {
	t.Helper()
	return actiontest.Find(t, block.Tool(), name)
}

// args makes a JSON object of pairs.
func args(pairs ...any) string { return actiontest.Args(pairs...) }

// Must is [actiontest.Kit.Must]. It also checks that the action uses no endpoint that it does not
// declare, beside those that find its targets and show what changed.
func (w *world) Must(t testing.TB, a *action.Action, args string) gjson.Result {
	t.Helper()
	w.ResetCalls()
	got := w.Kit.Must(t, a, args)
	beside := []string{"block/getBlockInfo", "query/sql", "sqlite/flushTransaction", "notebook/lsNotebooks"}
	for _, c := range w.Calls() {
		endpoint := strings.TrimPrefix(c.Path, "/api/")
		if !strings.HasPrefix(endpoint, "ui/") && !slices.Contains(beside, endpoint) && !slices.Contains(a.Endpoints, endpoint) {
			t.Errorf("%s uses %s, which it does not declare", a.Name, endpoint)
		}
	}
	return got
}

// refused runs an action that must be refused with kind and without a write, and returns the
// error.
func (w *world) refused(a *action.Action, args string, kind tool.ErrorKind) *tool.Error {
	w.t.Helper()
	w.ResetCalls()
	err := w.Refused(w.t, a, args, kind)
	if n := len(w.Writes()); n != 0 {
		w.t.Errorf("%s %s: refused, and yet %d writes: %v", a.Name, args, n, w.Writes())
	}
	e, ok := errors.AsType[*tool.Error](err)
	if !ok {
		w.t.Fatalf("%s %s: %v is not a tool.Error", a.Name, args, err)
	}
	return e
}

// guarded checks that an action needs a level on the notebook of id, and that with none the
// answer is the same as for an id that does not exist.
func (w *world) guarded(a *action.Action, need access.Level, id kernel.ID, args string) {
	w.t.Helper()
	at, err := w.Client.Place(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	old, had := w.Levels[at.Notebook]
	defer func() {
		delete(w.Levels, at.Notebook)
		if had {
			w.Levels[at.Notebook] = old
		}
	}()
	if need > access.Read {
		w.Levels[at.Notebook] = need - 1
		w.refused(a, args, tool.Denied)
	}
	w.Levels[at.Notebook] = access.None
	hidden := w.refused(a, args, tool.Unknown)
	missing := w.refused(a, strings.ReplaceAll(args, string(id), nowhere), tool.Unknown)
	want := strings.ReplaceAll(string(missing.Payload()), nowhere, string(id))
	if diff := cmp.Diff(want, string(hidden.Payload())); diff != "" {
		w.t.Errorf("%s: a hidden block differs from one that does not exist (-missing +hidden):\n%s", a.Name, diff)
	}
}

func idList(ids ...kernel.ID) string { return fmt.Sprint(ids) }
