package document_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	var ids []string
	for _, title := range []string{"/1", "/2", "/3", "/4", "/5"} {
		ids = append(ids, k.Doc(nb, title, ""))
	}
	below := k.Doc(nb, "/3/below", "")
	for _, c := range []struct {
		call  string
		count int64
	}{
		{args("id", ids[0]), 1},
		{args("notebook", nb, "path", storagePathOf(ids[1])), 1},
		{args("ids", []string{ids[2], below}), 2}, // removing the one removes the other as well
		{args("paths", []string{storagePathOf(ids[3])}), 1},
	} {
		if got := k.Must(t, findAction(t, "remove"), c.call); got.Get("count").Int() != c.count {
			t.Errorf("%s: %s", c.call, got.Raw)
		}
	}
	var left []string
	for _, id := range append(ids, below) {
		if hpathOf(t, k, id) != "" {
			left = append(left, id)
		}
	}
	if diff := cmp.Diff([]string{ids[4]}, left); diff != "" {
		t.Errorf("what is left: %s", diff)
	}
}

func TestRemoveRefused(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	id := k.Doc(nb, "/D", "text")
	blocks, err := k.Client.ChildBlocks(t.Context(), kernel.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind tool.ErrorKind
		call string
	}{
		{tool.Conflicting, `{}`},
		{tool.Conflicting, args("id", id, "ids", []string{id})},
		{tool.Conflicting, args("ids", []string{id}, "paths", []string{storagePathOf(id)})},
		{tool.Invalid, args("id", blocks[0].ID)},
		{tool.Invalid, args("id", nb)},
		{tool.Invalid, args("paths", []string{storagePathOf(nb)})},                             // the notebook's own page
		{tool.NotFound, args("ids", []string{id, actiontest.Nowhere})},                         // all or none
		{tool.NotFound, args("paths", []string{"/" + actiontest.Nowhere + storagePathOf(id)})}, // no such path
		{kernel.InvalidPath, args("paths", []string{storagePathOf(id), "/D"})},
	} {
		k.Refused(t, findAction(t, "remove"), c.call, c.kind)
	}
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
	on, missing := guardedByID("id")
	checkGuarded(t, "remove", access.Delete, on, missing)
}

// Every target must pass before any write.
func TestRemoveOneDenied(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, low := k.Notebook("A"), k.Notebook("Low")
	k.Levels[kernel.ID(low)] = access.Write
	a, b := k.Doc(nb, "/D", ""), k.Doc(low, "/D", "")
	k.ResetCalls()
	k.Refused(t, findAction(t, "remove"), args("ids", []string{a, b}), tool.Denied)
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("wrote: %v", w)
	}
}

func TestRemovePartly(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	a, b := k.Doc(nb, "/1", ""), k.Doc(nb, "/2", "")
	r := k.Request(t, findAction(t, "remove"), args("ids", []string{a, b}))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := k.Client.RemoveDocument(t.Context(), kernel.ID(b)); err != nil { // somebody else removes it
		t.Fatal(err)
	}
	_, err := r.Run(t.Context())
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || !cmp.Equal(e.Facts["removed"], []kernel.ID{kernel.ID(a)}) {
		t.Errorf("the error is %v", err)
	}
}

// A storage path that two notebooks have is refused.
func TestRemoveSharedPath(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	nb, other := k.Notebook("A"), k.Notebook("B")
	id := k.Doc(nb, "/D", "")
	k.Client = kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token, Transport: fakeRows(func(stmt string) bool {
		return strings.Contains(stmt, "DISTINCT box")
	}, `[{"box":"`+nb+`"},{"box":"`+other+`"}]`)})
	t.Cleanup(k.Client.Close)
	k.ResetCalls()
	k.Refused(t, findAction(t, "remove"), args("paths", []string{storagePathOf(id)}), kernel.InvalidPath)
	if w := k.Writes(); len(w) > 0 {
		t.Errorf("wrote: %v", w)
	}
	k.Levels[kernel.ID(other)] = access.None // that one must stay hidden
	k.Must(t, findAction(t, "remove"), args("paths", []string{storagePathOf(id)}))
}

// fakeRows returns a transport that answers the statements of SQL for which mine is true with rows, a JSON array.
func fakeRows(mine func(stmt string) bool, rows string) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == "/api/query/sql" {
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			var b strings.Builder
			if _, err := copyAll(&b, body); err != nil {
				return nil, err
			}
			if mine(b.String()) {
				return okResponse(`{"code":0,"msg":"","data":` + rows + `}`), nil
			}
		}
		return http.DefaultTransport.RoundTrip(req)
	})
}
