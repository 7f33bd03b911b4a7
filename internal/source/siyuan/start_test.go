package siyuan_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
	"collie/test/await"
)

// TestStartMakesLittle bounds what New allocates, since every command that uses notes waits for it. It does not run
// beside other tests, whose allocations would count.
func TestStartMakesLittle(t *testing.T) { //nolint:paralleltest // see above
	const most = 9000 // a little more than a source needs now
	made := testing.AllocsPerRun(5, func() { siyuan.New(siyuan.Options{}).Close() })
	if made > most {
		t.Errorf("a source makes %.0f objects when it starts, expected at most %d", made, most)
	}
}

// TestAnotherKernelGetsNothing: a kernel that is not the intended one gets no request, and so no token, whoever asks: the start,
// a list of tools, a call, a page of help and the rules.
func TestAnotherKernelGetsNothing(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "no", http.StatusNotFound)
	}))
	defer server.Close()
	client := kernel.New(server.URL, kernel.Options{Token: "canary"})
	defer client.Close()
	another := errors.New("another workspace")
	var refused atomic.Int64
	s := siyuan.New(siyuan.Options{
		Kernel: client, SwitchTTL: -1,
		Verifier: kernel.NewVerifier(client, func(context.Context, *kernel.Client) error {
			refused.Add(1)
			return another
		}),
	})
	defer s.Close()
	s.Start()
	await.Until(t, "the start verifies the kernel", func() bool { return refused.Load() == 1 })
	s.Listed(tool.ListTools, func() bool { return true })
	await.Until(t, "a list verifies the kernel", func() bool { return refused.Load() == 2 })
	for uri, want := range map[string]error{"siyuan://help/fs/ls": nil, "siyuan://help/user-rules": another} {
		call := &tool.Call{Request: tool.Request{Kind: tool.KindRead, Name: uri}, Target: uri}
		if _, err := s.Run(t.Context(), call); !errors.Is(err, want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if err := s.ConfigProblem(t.Context()); !errors.Is(err, another) {
		t.Errorf("the tool config: %v", err)
	}
	off := &tool.Action{Name: "rm", Off: "off"}
	if _, err := s.Current(t.Context(), &tool.Call{Tool: "fs", Action: off}); !errors.Is(err, another) {
		t.Errorf("a call of an action that is off: %v", err)
	}
	select {
	case path := <-asked:
		t.Errorf("it was asked for %s", path)
	default:
	}
}
