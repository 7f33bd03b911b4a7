package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
)

// readEvents reads n messages of a response, or all if n is negative, and closes it. It returns their texts and
// the event id to come back with.
func (s *httpFixture) readEvents(resp *http.Response, n int, last string) (said []string, id string) {
	s.t.Helper()
	defer resp.Body.Close()
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != "text/event-stream" {
		raw, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("no stream but %d %s: %s", resp.StatusCode, ct, raw)
	}
	events := newEventReader(resp.Body)
	for n < 0 || len(said) < n {
		e, ok := events.next(s.t)
		if !ok {
			break
		}
		said = append(said, e.message.Method+string(mcp.Get(e.message.Params, "progress"))+string(e.message.ID))
	}
	if events.last == "" {
		events.last = last
	}
	return said, events.last
}

// A request's stream that is cut, once or many times, is completed with no message lost or repeated.
func TestServeHTTPResume(t *testing.T) {
	t.Parallel()
	const steps = 6
	want := []string{
		"notifications/progress1", "notifications/progress2", "notifications/progress3",
		"notifications/progress4", "notifications/progress5", "notifications/progress6", "7",
	}
	for _, cuts := range [][]int{{1}, {3}, {6}, {7}, {1, 1}, {2, 0, 0, 3}, {1, 1, 1, 1, 1, 1}, {5, 1, 1}} {
		t.Run(fmt.Sprint(cuts), func(t *testing.T) {
			t.Parallel()
			s := newHTTPFixture(t, mcp.HTTPServerOptions{})
			id := s.openSession("2025-11-25")
			for range cuts[0] {
				s.service.gate <- struct{}{}
			}
			resp := s.send(t.Context(), "POST", rpcRequest(7, "march", fmt.Sprintf(`{"n":%d}`, steps)), "Mcp-Session-Id", id)
			said, last := s.readEvents(resp, cuts[0], "")
			for range steps - cuts[0] {
				s.service.gate <- struct{}{} // while the client is away
			}
			for _, n := range append(cuts[1:], -1) {
				resp := s.send(t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", last)
				more, at := s.readEvents(resp, n, last)
				said, last = append(said, more...), at
			}
			if d := cmp.Diff(want, said); d != "" {
				t.Errorf("heard (-want +got):\n%s", d)
			}
			if r := s.exchange("GET", "", "Mcp-Session-Id", s.openSession("2025-11-25"), "Last-Event-ID", last); r.status != 404 {
				t.Errorf("another session reads the stream: %d %s", r.status, r.body)
			}
		})
	}
}

// A client of 2025-11-25 can come back for the answer before it has received any message.
func TestServeHTTPResumeBeforeTheFirstMessage(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	id := s.openSession("2025-11-25")
	resp := s.send(t.Context(), "POST", rpcRequest(7, "gate", "{}"), "Mcp-Session-Id", id)
	events := newEventReader(resp.Body)
	if line, err := events.r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "id: ") {
		t.Fatalf("the stream begins with %q, %v", line, err)
	} else {
		events.last = strings.TrimSpace(line[4:])
	}
	_ = resp.Body.Close()
	s.service.gate <- struct{}{}
	said, _ := s.readEvents(s.send(t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", events.last), -1, "")
	if d := cmp.Diff([]string{"7"}, said); d != "" {
		t.Errorf("heard (-want +got):\n%s", d)
	}
}

// As long as a client cannot come back for the answer, losing the connection ends the request.
func TestServeHTTPGone(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	id := s.openSession("2025-06-18")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.service.began
		cancel()
	}()
	if resp := s.tryPost(ctx, rpcRequest(1, "wait", "{}"), "Mcp-Session-Id", id); resp != nil {
		_ = resp.Body.Close()
		t.Errorf("answered %d", resp.StatusCode)
	}
	if err := <-s.service.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

func TestServeHTTPCancel(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		id := s.openSession(version)
		other := s.openSession(version)
		done := make(chan reply, 1)
		go func() { done <- s.exchange("POST", rpcRequest(1, "wait", "{}"), "Mcp-Session-Id", id) }()
		<-s.service.began
		const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
		for _, session := range []string{other, id} {
			if r := s.exchange("POST", cancel, "Mcp-Session-Id", session); r.status != 202 {
				t.Errorf("cancel: %d %s", r.status, r.body)
			}
			if session == other && len(s.service.ended) > 0 {
				t.Error("another session's client took the request back")
			}
		}
		if err := <-s.service.ended; err == nil {
			t.Error("ended without a cause")
		}
		if r := <-done; strings.Contains(r.body, `"jsonrpc"`) {
			t.Errorf("a request taken back was answered: %d %s", r.status, r.body)
		}
	}
}

// An id can be used again as soon as its request is answered.
func TestServeHTTPUsesIDsAgain(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	id := s.openSession("2025-11-25")
	for n := range 200 {
		if r := s.exchange("POST", rpcRequest(1, "note", `{"n":2}`), "Mcp-Session-Id", id); r.status != 200 {
			t.Fatalf("request %d: %d %s", n, r.status, r.body)
		}
	}
}

func TestServeHTTPOwnStream(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	id := s.openSession("2025-11-25")
	tell := func(n int) {
		s.service.newestPeer(t).Notify("note", mcp.Edit(nil, mcp.Field{Key: "progress", Value: []byte{byte('0' + n)}}))
	}
	tell(1) // before a client opens the stream
	tell(2)
	first := s.send(t.Context(), "GET", "", "Mcp-Session-Id", id)
	reader := newEventReader(first.Body)
	var lasts []string
	hear := func(r *eventReader, want int) {
		t.Helper()
		e, ok := r.next(t)
		if got := string(mcp.Get(e.message.Params, "progress")); !ok || got != fmt.Sprint(want) {
			t.Errorf("heard %s, %t, want %d", e.message.Raw, ok, want)
		}
		lasts = append(lasts, e.id)
	}
	hear(reader, 1)
	hear(reader, 2)
	tell(3)
	hear(reader, 3)

	// Another reader takes over and gets no message again.
	second := s.send(t.Context(), "GET", "", "Mcp-Session-Id", id)
	if e, ok := reader.next(t); ok {
		t.Errorf("the earlier reader heard %s", e.message.Raw)
	}
	_ = first.Body.Close()
	tell(4)
	reader = newEventReader(second.Body)
	hear(reader, 4)
	_ = second.Body.Close()

	// A reader that names its last event gets the rest, and only that.
	third := s.send(t.Context(), "GET", "", "Mcp-Session-Id", id, "Last-Event-ID", lasts[1])
	reader = newEventReader(third.Body)
	hear(reader, 3)
	hear(reader, 4)
	_ = third.Body.Close()
}

func TestServeHTTPAsks(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	for _, version := range []string{"2024-11-05", "2025-11-25"} {
		id, other := s.openSession(version), s.openSession(version)
		resp := s.send(t.Context(), "POST", rpcRequest(1, "ask", `{"ask":"roots/list","params":{"n":1.0}}`), "Mcp-Session-Id", id)
		events := newEventReader(resp.Body)
		e, ok := events.next(t)
		if !ok || e.message.Method != "roots/list" || string(e.message.Params) != `{"n":1.0,"nr":0}` {
			t.Fatalf("asked %s", e.message.Raw)
		}
		for _, answer := range []struct{ session, text string }{{other, "wrong"}, {id, "right"}, {id, "again"}} {
			body := `{"jsonrpc":"2.0","id":` + string(e.message.ID) + `,"result":"` + answer.text + `"}`
			if r := s.exchange("POST", body, "Mcp-Session-Id", answer.session); r.status != 202 {
				t.Errorf("answer: %d %s", r.status, r.body)
			}
		}
		e, ok = events.next(t)
		if !ok || e.message.ID != "1" || textOfResult(t, e.message.Result) != `"right"` {
			t.Errorf("answered %s", e.message.Raw)
		}
		_ = resp.Body.Close()
		r := s.exchange("POST", rpcRequest(1, "ask", `{"ask":"roots/list"}`), "Mcp-Session-Id", id, "Accept", "application/json")
		if r.status != 200 || !strings.Contains(r.body, "the client cannot be asked") {
			t.Errorf("a client that takes no stream: %d %s", r.status, r.body)
		}
	}
}
