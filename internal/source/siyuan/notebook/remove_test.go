package notebook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	id, other := k.Notebook("Gone"), k.Notebook("Stays")
	a := findAction(t, "remove")
	r := k.Request(t, a, argsFor("")(id))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if effect := a.Effect(r); !strings.Contains(effect, `"Gone"`) {
		t.Errorf("a person is asked: %s", effect)
	}
	if got := k.Must(t, a, argsFor("")(id)); got.Get("notebook").String() != id || got.Get("name").String() != "Gone" {
		t.Errorf("removed %s", got.Raw)
	}
	all, err := k.Client.Notebooks(t.Context())
	if err != nil || len(all) != 1 || string(all[0].ID) != other {
		t.Errorf("the kernel has %+v, %v", all, err)
	}
	k.Refused(t, a, argsFor("")(id), tool.NotFound)
}

// The kernel may end while it removes a notebook, and may then be started again.
func TestRemoveKernelEnds(t *testing.T) {
	t.Parallel()
	const endpoint, boot = "/api/notebook/removeNotebook", "/api/system/bootProgress"
	k := actiontest.New(t)
	id := k.Notebook("A")
	k.Fail(endpoint, 1, kerneltest.FailClose) // it ends before the notebook is removed
	k.Failed(t, findAction(t, "remove"), argsFor("")(id), kernel.OutcomeUnknown)
	k.Fail(endpoint, 1, kerneltest.FailLost) // it ends afterwards
	k.Fail(boot, 1, kerneltest.FailClose)
	if got := k.Must(t, findAction(t, "remove"), argsFor("")(id)); !got.Get("success").Bool() {
		t.Errorf("removed %s", got.Raw)
	}

	id = k.Notebook("B")
	k.Fail(endpoint, 1, kerneltest.FailLost)
	k.Fail(boot, 10000, kerneltest.FailClose) // it is not started again
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r := k.Request(t, findAction(t, "remove"), argsFor("")(id))
	if err := r.Check(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(ctx); tool.KindOf(err) != kernel.OutcomeUnknown {
		t.Errorf("of a kernel that stays away: %v", err)
	}
}

// While a kernel starts, it may not list the notebooks that exist.
func TestRemoveKernelStarts(t *testing.T) {
	t.Parallel()
	k := actiontest.New(t)
	k.NeedsVault("it does not start at the right moment")
	id := k.Notebook("A")
	starts := &startingKernel{id: id}
	k.Client = kernel.New(k.URL(), kernel.Options{Token: kerneltest.Token, Transport: starts})
	t.Cleanup(k.Client.Close)
	k.Refused(t, findAction(t, "remove"), argsFor("")(id), kernel.OutcomeUnknown)
}

// startingKernel is a transport that makes the kernel seem to end when a notebook is to be removed. When
// it is asked for the first time after that, it says that it starts, and lists no notebooks.
type startingKernel struct {
	id    string
	ended bool
	asked int
}

func (s *startingKernel) RoundTrip(req *http.Request) (*http.Response, error) {
	say := func(body string) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	}
	switch {
	case req.URL.Path == "/api/notebook/removeNotebook":
		s.ended = true
		return nil, io.ErrUnexpectedEOF
	case s.ended && req.URL.Path == "/api/system/bootProgress":
		s.asked++
		return say(fmt.Sprintf(`{"code":0,"msg":"","data":{"progress":%d}}`, min(100, 50*s.asked)))
	case s.ended && s.asked < 2 && req.URL.Path == "/api/notebook/lsNotebooks":
		return say(`{"code":0,"msg":"","data":{"notebooks":[]}}`)
	}
	return http.DefaultTransport.RoundTrip(req)
}

func TestRemoveGuarded(t *testing.T) {
	t.Parallel()
	checkGuarded(t, "remove", access.Delete, argsFor(""))
	k := actiontest.New(t)
	k.Refused(t, findAction(t, "remove"), `{}`, tool.Invalid)
}
