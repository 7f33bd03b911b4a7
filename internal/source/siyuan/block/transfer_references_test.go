package block_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// newRefWorkspace has two targets in its document and a block that refers to the first in each of
// three notebooks.
func newRefWorkspace(t *testing.T) (w *workspace, refs, notebooks []kernel.ID) {
	t.Helper()
	w = newWorkspace(t, "from\n\nto")
	notebooks = []kernel.ID{w.nb, kernel.ID(w.Notebook("Second")), kernel.ID(w.Notebook("Third"))}
	for _, nb := range notebooks {
		doc := w.addDocument(nb, "/Refs", "see (("+string(w.blocks[0])+" \"x\"))")
		refs = append(refs, w.Children(w.t, doc)[0])
	}
	return w, refs, notebooks
}

// refersTo reports whether the document of the block ref consists of a reference to id.
func (w *workspace) refersTo(ref, id kernel.ID) bool {
	w.t.Helper()
	at, err := w.Client.Place(w.t.Context(), ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return cmp.Equal(w.Texts(w.t, at.Root), []string{"see ((" + string(id) + " \"x\"))"})
}

func TestTransferReferences(t *testing.T) {
	w, refs, _ := newRefWorkspace(t)
	got := w.Must(t, findAction(t, "transfer_references"), args("fromID", w.blocks[0], "toID", w.blocks[1]))
	for _, ref := range refs {
		if !w.refersTo(ref, w.blocks[1]) {
			t.Errorf("block %s still refers to the old block", ref)
		}
	}
	if got.Get("count").Int() != 3 || got.Get("filteredOutCount").Exists() {
		t.Errorf("result: %s", got.Raw)
	}
}

func TestTransferReferencesLeavesBlocksThatMayNotBeWritten(t *testing.T) {
	w, refs, notebooks := newRefWorkspace(t)
	w.Levels[notebooks[1]], w.Levels[notebooks[2]] = access.Read, access.None
	got := w.Must(t, findAction(t, "transfer_references"), args("fromID", w.blocks[0], "toID", w.blocks[1]))
	if !w.refersTo(refs[0], w.blocks[1]) || !w.refersTo(refs[1], w.blocks[0]) || !w.refersTo(refs[2], w.blocks[0]) {
		t.Error("a block was changed that may not be written, or none at all")
	}
	if got.Get("count").Int() != 1 || got.Get("skippedCount").Int() != 1 || got.Get("filteredOutCount").Exists() {
		t.Errorf("result: %s", got.Raw)
	}
	if got.Get("warning").Str == "" {
		t.Error("no warning of the block that was left out")
	}
}

func TestTransferReferencesOfSomeBlocks(t *testing.T) {
	w, refs, notebooks := newRefWorkspace(t)
	a := findAction(t, "transfer_references")
	w.Must(t, a, args("fromID", w.blocks[0], "toID", w.blocks[1], "refIDs", []kernel.ID{refs[1]}))
	if w.refersTo(refs[0], w.blocks[1]) || !w.refersTo(refs[1], w.blocks[1]) {
		t.Error("another block than the one that was named changed")
	}
	w.Refused(w.t, a, args("fromID", w.blocks[0], "toID", w.blocks[1], "refIDs", []kernel.ID{refs[1]}), tool.Invalid)
	w.Refused(w.t, a, args("fromID", w.blocks[0], "toID", w.blocks[0]), tool.Invalid)
	w.Levels[notebooks[2]] = access.Read
	w.Refused(w.t, a, args("fromID", w.blocks[0], "toID", w.blocks[1], "refIDs", []kernel.ID{refs[2]}), tool.Denied)
	w.checkGuarded(a, access.Write, w.blocks[1], args("fromID", w.blocks[0], "toID", w.blocks[1]))
}

func TestTransferReferencesWithoutAnyWritesNothing(t *testing.T) {
	w := newWorkspace(t, "from\n\nto")
	w.ResetCalls()
	got := w.Must(t, findAction(t, "transfer_references"), args("fromID", w.blocks[0], "toID", w.blocks[1]))
	if got.Get("count").Int() != 0 || len(w.Writes()) != 0 {
		t.Errorf("result %s, writes %v", got.Raw, w.Writes())
	}
}

// It is not a failure that the index still shows references after they were transferred.
func TestTransferReferencesOutrunsTheIndex(t *testing.T) {
	w, refs, _ := newRefWorkspace(t)
	stale := `{"code":0,"msg":"","data":[{"block_id":"` + string(refs[0]) + `","root_id":"` + string(w.doc) + `","box":"` + string(w.nb) + `"}]}`
	w.Client = kernel.New(w.URL(), kernel.Options{Transport: transport(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path != "/api/query/sql" {
			return http.DefaultTransport.RoundTrip(req)
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(stale))}, nil
	})})
	got := w.Must(t, findAction(t, "transfer_references"), args("fromID", w.blocks[0], "toID", w.blocks[1]))
	if got.Get("count").Int() != 1 || !w.refersTo(refs[0], w.blocks[1]) {
		t.Errorf("result: %s", got.Raw)
	}
}

// A call changes 10,000 blocks at most, and says that there are more.
func TestTransferReferencesSaysWhenThereAreMore(t *testing.T) {
	w, refs, _ := newRefWorkspace(t)
	const most = 10_000
	rows := make([]string, most+1)
	for i := range rows {
		id := fmt.Sprintf("20240801%06d-aaaaaaa", i)
		if i == 0 {
			id = string(refs[0])
		}
		rows[i] = `{"block_id":"` + id + `","root_id":"` + string(w.doc) + `","box":"` + string(w.nb) + `"}`
	}
	answers := []string{"[" + strings.Join(rows, ",") + "]", "[]"} // before the transfer and after it
	w.Client = kernel.New(w.URL(), kernel.Options{Transport: transport(func(req *http.Request) (*http.Response, error) {
		if req.URL.Path != "/api/query/sql" || len(answers) == 0 {
			return http.DefaultTransport.RoundTrip(req)
		}
		body := `{"code":0,"msg":"","data":` + answers[0] + `}`
		answers = answers[1:]
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})})
	t.Cleanup(w.Client.Close)
	got := w.Must(t, findAction(t, "transfer_references"), args("fromID", w.blocks[0], "toID", w.blocks[1]))
	if got.Get("count").Int() != most || !strings.Contains(got.Get("warning").Str, "more than 10000 blocks") || !w.refersTo(refs[0], w.blocks[1]) {
		t.Errorf("count %s, warning %q", got.Get("count"), got.Get("warning").Str)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
