package notebook_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestSetOpenState(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id, a := k.Notebook("A"), findAction(t, "set_open_state")
	for _, step := range []struct {
		open    string
		changed bool
	}{{"true", false}, {"false", true}, {"false", false}, {"true", true}} {
		k.ResetCalls()
		got := k.Must(t, a, argsFor(`"opened":`+step.open)(id))
		if got.Get("opened").Raw != step.open || got.Get("changed").Bool() != step.changed || !got.Get("success").Bool() {
			t.Errorf("to %s: %s", step.open, got.Raw)
		}
		if wrote := len(k.Writes()) > 0; wrote != step.changed {
			t.Errorf("to %s: wrote is %v", step.open, wrote)
		}
	}
	all, err := k.Client.Notebooks(t.Context())
	if err != nil || all[0].Closed {
		t.Errorf("the kernel has %+v, %v", all, err)
	}
}

// The index is flushed before a notebook closes: closing it with an unflushed index can end the kernel.
func TestSetOpenStateFlushes(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	k.ResetCalls()
	k.Must(t, findAction(t, "set_open_state"), argsFor(`"opened":false`)(id))
	flushed := false
	for _, c := range k.Calls() {
		switch c.Path {
		case "/api/sqlite/flushTransaction":
			flushed = true
		case "/api/notebook/closeNotebook":
			if !flushed {
				t.Error("closed before the flush")
			}
		}
	}
}

func TestSetOpenStateKernelEnds(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	const endpoint = "/api/notebook/closeNotebook"
	k.Fail("/api/sqlite/flushTransaction", 1, kerneltest.FailMessage("no")) // before anything is closed
	k.Refused(t, findAction(t, "set_open_state"), argsFor(`"opened":false`)(id), kernel.API)
	k.Fail(endpoint, 1, kerneltest.FailClose)
	k.Failed(t, findAction(t, "set_open_state"), argsFor(`"opened":false`)(id), kernel.OutcomeUnknown)
	k.Fail(endpoint, 1, kerneltest.FailLost)
	if got := k.Must(t, findAction(t, "set_open_state"), argsFor(`"opened":false`)(id)); !got.Get("changed").Bool() {
		t.Errorf("closed: %s", got.Raw)
	}
}

// The content of a notebook is found as soon as it is reported open.
func TestSetOpenStateIndexed(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id := k.Notebook("A")
	for _, title := range []string{"a", "b", "c", "d", "e"} {
		k.Doc(id, "/"+title+"/below", "text")
	}
	slow := &indexer{}
	k.Client = kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token, Transport: slow})
	t.Cleanup(k.Client.Close)
	for range 3 {
		slow.asked, slow.has = 0, true
		k.Must(t, findAction(t, "set_open_state"), argsFor(`"opened":false`)(id))
		if slow.asked < 2 {
			t.Error("said to be closed before the index was")
		}
		slow.asked, slow.has = 0, false
		got := k.Must(t, findAction(t, "set_open_state"), argsFor(`"opened":true`)(id))
		rows, err := kernel.SQL[struct{ ID kernel.ID }](t.Context(), k.Client, "SELECT DISTINCT id FROM blocks WHERE type = 'd' AND id <> box LIMIT 100")
		ids, hpathErr := k.Client.IDsByHPath(t.Context(), kernel.ID(id), "/e/below")
		if err != nil || hpathErr != nil || len(rows) != 10 || len(ids) != 1 || got.Get("indexing").Exists() {
			t.Errorf("%s: %d documents of 10, %d of the path (%v, %v)", got.Raw, len(rows), len(ids), err, hpathErr)
		}
		if slow.asked < 2 {
			t.Errorf("%s before the index was there", got.Raw)
		}
	}
	k.Must(t, findAction(t, "set_open_state"), argsFor(`"opened":false`)(id))
	k.Fail("/api/filetree/listDocsByPath", 1, kerneltest.FailMessage("no"))
	if got := k.Must(t, findAction(t, "set_open_state"), argsFor(`"opened":true`)(id)); !got.Get("indexing").Bool() {
		t.Errorf("nobody knows whether the index is there: %s", got.Raw)
	}
}

// indexer is a transport that answers the first look into the index as if the kernel had not updated it yet: with
// no document or, if has, with the one that is asked for.
type indexer struct {
	asked int
	has   bool
}

func (s *indexer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path == "/api/block/getBlockTreeInfos" {
		if s.asked++; s.asked == 1 {
			there := "{}"
			if s.has {
				asked, err := io.ReadAll(req.Body)
				if err != nil {
					return nil, err
				}
				there = fmt.Sprintf(`{"%s":{"type":"NodeDocument"}}`, gjson.GetBytes(asked, "ids.0").Str)
			}
			body := io.NopCloser(strings.NewReader(`{"code":0,"msg":"","data":` + there + `}`))
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
		}
	}
	return http.DefaultTransport.RoundTrip(req)
}

func TestSetOpenStateGuarded(t *testing.T) {
	t.Parallel()
	checkGuarded(t, "set_open_state", access.Write, argsFor(`"opened":false`))
	k := actiontest.New(t)
	k.Refused(t, findAction(t, "set_open_state"), argsFor("")(k.Notebook("A")), tool.Invalid)
}
