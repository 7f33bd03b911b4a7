package content_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// siblings is a notebook with a document and three children.
type siblings struct {
	*actiontest.Kit
	notebook, parent kernel.ID
	a, b, c          kernel.ID
}

func newSiblings(t *testing.T) *siblings {
	t.Helper()
	k := actiontest.New(t)
	nb := k.Notebook("A")
	return &siblings{
		k, kernel.ID(nb), kernel.ID(k.Doc(nb, "/Up", "")),
		kernel.ID(k.Doc(nb, "/Up/a", "")), kernel.ID(k.Doc(nb, "/Up/b", "")), kernel.ID(k.Doc(nb, "/Up/c", "")),
	}
}

// request returns a request of some action.
func (s *siblings) request(t *testing.T) *action.Request {
	t.Helper()
	a := action.New(action.Spec{Tool: "x", Name: "x", Example: `{}`}, func(context.Context, *action.Request, action.None) (any, error) {
		return nil, nil
	})
	return s.Request(t, a, `{}`)
}

func (s *siblings) target() action.Target {
	return action.Target{
		What: access.Document, ID: s.parent, Root: s.parent, Notebook: s.notebook, Path: "/" + string(s.parent) + ".sy",
	}
}

// shown returns the child documents in the order of the interface.
func (s *siblings) shown(t *testing.T) []kernel.ID {
	t.Helper()
	docs, err := s.Client.Documents(t.Context(), s.notebook, s.target().Path)
	if err != nil {
		t.Fatal(err)
	}
	var out []kernel.ID
	for _, d := range docs {
		out = append(out, d.ID)
	}
	return out
}

func TestReorder(t *testing.T) {
	t.Parallel()
	s := newSiblings(t)
	if _, err := s.Client.SetNotebookConf(t.Context(), s.notebook, map[string]any{"sortMode": 1}); err != nil { // by name, from the end
		t.Fatal(err)
	}
	want := []kernel.ID{s.b, s.c, s.a}
	got, err := content.Reorder(t.Context(), s.request(t), s.notebook, s.target(), want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(content.Reordered{
		ParentID: s.parent, Notebook: s.notebook, Changed: true, OrderChanged: true, SortModeChanged: true, SortModeScope: "notebook",
		PreviousOrder: []kernel.ID{s.a, s.b, s.c}, Order: want,
	}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, s.shown(t)); diff != "" {
		t.Errorf("shown: %s", diff)
	}
	s.ResetCalls()
	got, err = content.Reorder(t.Context(), s.request(t), s.notebook, s.target(), want)
	if err != nil || got.Changed {
		t.Errorf("again: %+v, %v", got, err)
	}
	if w := s.Writes(); len(w) > 0 {
		t.Errorf("again wrote: %v", w)
	}
}

func TestReorderTop(t *testing.T) {
	t.Parallel()
	s := newSiblings(t)
	other := kernel.ID(s.Doc(string(s.notebook), "/B", ""))
	want := []kernel.ID{other, s.parent}
	top := action.NotebookTarget(&kernel.Notebook{ID: s.notebook})
	got, err := content.Reorder(t.Context(), s.request(t), s.notebook, top, want)
	if err != nil || !got.OrderChanged || got.SortModeScope != "notebook" || got.ParentID != s.notebook {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Kernels from 3.8.1 on have an order for a single document.
func TestReorderNewerKernel(t *testing.T) {
	t.Parallel()
	s := newSiblings(t)
	var asked string
	s.Client = kernel.New(s.URL(), kernel.Options{Transport: fakeSuccess("/api/filetree/setDocSortMode", &asked)})
	t.Cleanup(s.Client.Close)
	s.ResetCalls()
	got, err := content.Reorder(t.Context(), s.request(t), s.notebook, s.target(), []kernel.ID{s.b, s.c, s.a})
	if err != nil || !got.SortModeChanged || got.SortModeScope != "document" {
		t.Errorf("got %+v, %v", got, err)
	}
	if want := `{"id":"` + string(s.parent) + `","sortMode":6}`; asked != want {
		t.Errorf("asked for %s, want %s", asked, want)
	}
	for _, c := range s.Calls() {
		if c.Path == "/api/notebook/setNotebookConf" {
			t.Error("the order of the whole notebook was changed")
		}
	}
	if err := s.Client.SetAttrs(t.Context(), s.parent, map[string]string{"custom-sy-subdoc-sort-mode": "6"}); err != nil {
		t.Fatal(err)
	}
	if got, err = content.Reorder(t.Context(), s.request(t), s.notebook, s.target(), got.Order); err != nil || got.Changed {
		t.Errorf("again: %+v, %v", got, err)
	}
}

func TestReorderRefused(t *testing.T) {
	t.Parallel()
	s := newSiblings(t)
	const ghost = kernel.ID("20990101000000-zzzzzzz")
	s.ResetCalls()
	for text, ids := range map[string][]kernel.ID{
		"left out: " + string(s.c):                 {s.b, s.a},
		"given twice: " + string(s.a):              {s.a, s.b, s.c, s.a},
		"no child of the parent: " + string(ghost): {s.a, s.b, s.c, ghost},
	} {
		_, err := content.Reorder(t.Context(), s.request(t), s.notebook, s.target(), ids)
		e, ok := errors.AsType[*tool.Error](err)
		if !ok || e.Kind != tool.Conflicting || !strings.Contains(e.Message, text) {
			t.Errorf("%v: %v, want %q", ids, err, text)
		}
	}
	if w := s.Writes(); len(w) > 0 {
		t.Errorf("what was refused wrote: %v", w)
	}
}

func TestReorderNothingDone(t *testing.T) {
	t.Parallel()
	s := newSiblings(t)
	var asked string
	s.Client = kernel.New(s.URL(), kernel.Options{Transport: fakeSuccess("/api/filetree/changeSort", &asked)})
	t.Cleanup(s.Client.Close)
	_, err := content.Reorder(t.Context(), s.request(t), s.notebook, s.target(), []kernel.ID{s.b, s.c, s.a})
	if tool.KindOf(err) != kernel.Mismatch {
		t.Errorf("the kernel did nothing, and the error is %v", err)
	}
}

// fakeSuccess returns a transport that answers requests to an endpoint with success itself, and records their body.
func fakeSuccess(endpoint string, body *string) roundTripper {
	return func(req *http.Request) (*http.Response, error) {
		if req.URL.Path != endpoint {
			return http.DefaultTransport.RoundTrip(req)
		}
		raw, err := io.ReadAll(req.Body)
		*body = string(raw)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader(`{"code":0,"msg":"","data":null}`)),
		}, err
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
