package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
	"collie/test/await"
)

// writeEvents writes parts of an event stream and flushes them.
func writeEvents(w http.ResponseWriter, parts ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range parts {
		_, _ = io.WriteString(w, p)
	}
	w.(http.Flusher).Flush()
}

// notificationEvent returns an event with a notification of the method, without params.
func notificationEvent(method string) string {
	return `data: {"jsonrpc":"2.0","method":"` + method + `"}` + "\n\n"
}

func TestHTTPStream(t *testing.T) {
	t.Parallel()
	answered := make(chan string, 1)
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		if p.method == "" {
			answered <- p.raw
			w.WriteHeader(http.StatusAccepted)
			return
		}
		writeEvents(w, "event: ping\ndata: x\n\n", ": comment\n\n", "data: not JSON\n\n", notificationEvent("a"), notificationEvent("b"),
			`data: {"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage"}`+"\n\n")
		<-answered
		answered <- p.raw
		writeEvents(w, notificationEvent("c"), "data: "+responseTo(p, `{"ok":true}`)+"\n\n")
	})
	h := newHandlerLog()
	h.answer = func(context.Context, mcp.Message, any) (json.RawMessage, error) {
		return json.RawMessage(`{"n":1}`), nil
	}
	l := dialHTTP(t, url, h, nil)
	l.Agreed("2025-11-25")
	got, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call", Owner: 42})
	if err != nil || string(got.Result) != `{"ok":true}` {
		t.Fatalf("got %s, %v", got.Result, err)
	}
	var notes []string
	for _, line := range h.all() {
		if line[0] != '?' {
			notes = append(notes, line)
		}
	}
	if diff := cmp.Diff([]string{"a 42", "b 42", "c 42"}, notes); diff != "" {
		t.Errorf("heard before the response (-want +got):\n%s", diff)
	}
	h.waitFor(t, "?sampling/createMessage 42")
}

// The handler's answers and errors reach the server.
func TestHTTPServerRequests(t *testing.T) {
	t.Parallel()
	answers := make(chan string, 10)
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		if p.method == "" {
			answers <- p.raw
			w.WriteHeader(http.StatusAccepted)
			return
		}
		writeEvents(w, `data: {"jsonrpc":"2.0","id":7,"method":"ask"}`+"\n\n")
		if a := <-answers; a == `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}` {
			writeEvents(w, "data: "+responseTo(p, `{}`)+"\n\n")
		} else {
			t.Errorf("answered %s", a)
		}
	})
	h := newHandlerLog()
	h.answer = func(context.Context, mcp.Message, any) (json.RawMessage, error) {
		return nil, &rpcError{`{"code":-32601,"message":"no"}`}
	}
	if _, err := dialHTTP(t, url, h, nil).Call(t.Context(), &mcp.Request{Method: "tools/call"}); err != nil {
		t.Fatal(err)
	}
}

type rpcError struct{ raw string }

func (e *rpcError) Error() string           { return e.raw }
func (e *rpcError) Object() json.RawMessage { return json.RawMessage(e.raw) }

// A request that the server cancels is cancelled and not answered.
func TestHTTPServerCancels(t *testing.T) {
	t.Parallel()
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		if p.method == "" {
			t.Errorf("answered %s", p.raw)
			return
		}
		writeEvents(w, `data: {"jsonrpc":"2.0","id":7,"method":"ask"}`+"\n\n",
			`data: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`+"\n\n",
			"data: "+responseTo(p, `{}`)+"\n\n")
	})
	h := newHandlerLog()
	ended := make(chan struct{})
	h.answer = func(ctx context.Context, _ mcp.Message, _ any) (json.RawMessage, error) {
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	if _, err := dialHTTP(t, url, h, nil).Call(t.Context(), &mcp.Request{Method: "tools/call"}); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// A modern server may not send requests; they are dropped.
func TestHTTPModernServerRequest(t *testing.T) {
	t.Parallel()
	url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) {
		writeEvents(w, `data: {"jsonrpc":"2.0","id":7,"method":"ask"}`+"\n\n", "data: "+responseTo(p, `{}`)+"\n\n")
	})
	h := newHandlerLog()
	l := dialHTTP(t, url, h, nil)
	l.Agreed("2026-07-28")
	if _, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"}); err != nil {
		t.Fatal(err)
	}
	if got := h.all(); len(got) != 0 || l.Dropped() != 1 {
		t.Errorf("heard %q, dropped %d", got, l.Dropped())
	}
}

// A stream that breaks, or is closed on purpose, is continued by GET from its last event id.
func TestHTTPResume(t *testing.T) {
	t.Parallel()
	var gets atomic.Int32
	var id atomic.Value
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		if r.Method == http.MethodPost {
			id.Store(p)
			writeEvents(w, "id: e1\nretry: 10\ndata:\n\n")
			return // the server closes the stream on purpose, as 2025-11-25 allows
		}
		last := r.Header.Get("Last-Event-Id")
		if r.Header.Get("Accept") != "text/event-stream" || r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
			t.Errorf("GET with %v", r.Header)
		}
		switch gets.Add(1) {
		case 1:
			if last != "e1" {
				t.Errorf("resumed from %q", last)
			}
			writeEvents(w, "id: e2\n"+notificationEvent("half"), "id: e3\ndata: {\"jsonrpc\"")
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			if last != "e2" {
				t.Errorf("resumed from %q", last)
			}
			writeEvents(w, "id: e3\ndata: "+responseTo(id.Load().(receivedRequest), `{"done":1}`)+"\n\n")
		}
	})
	h := newHandlerLog()
	l := dialHTTP(t, url, h, nil)
	l.Agreed("2025-11-25")
	got, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call", Owner: "o"})
	if err != nil || string(got.Result) != `{"done":1}` {
		t.Fatalf("got %s, %v", got.Result, err)
	}
	if diff := cmp.Diff([]string{"half o"}, h.all()); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

func TestHTTPResumeInVain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		version string
		first   string
		status  int
		gets    int32
	}{
		{name: "no event id", version: "2025-11-25", first: notificationEvent("x"), status: 200},
		{name: "modern", version: "2026-07-28", first: "id: 1\nretry: 10\n" + notificationEvent("x"), status: 200},
		{name: "not offered", version: "2025-11-25", first: "id: 1\nretry: 10\n" + notificationEvent("x"), status: 405, gets: 1},
		{name: "session lost", version: "2025-11-25", first: "id: 1\nretry: 10\n" + notificationEvent("x"), status: 404, gets: 1},
		{name: "nothing comes", version: "2025-11-25", first: "id: 1\nretry: 10\n" + notificationEvent("x"), status: 200, gets: 5},
		{name: "server broken", version: "2025-11-25", first: "id: 1\nretry: 10\n" + notificationEvent("x"), status: 500, gets: 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var gets atomic.Int32
			url := startServer(t, func(w http.ResponseWriter, r *http.Request, _ receivedRequest) {
				if r.Method == http.MethodPost {
					writeEvents(w, tt.first)
					return
				}
				gets.Add(1)
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(tt.status)
			})
			l := dialHTTP(t, url, nil, nil)
			l.Agreed(tt.version)
			_, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"})
			// A status here would look like a refusal of the request, which was executed.
			if e := mustBeLinkError(t, err); !e.Sent || e.Status != 0 || errors.Is(err, mcp.ErrSessionGone) {
				t.Errorf("got %+v", e)
			}
			if gets.Load() != tt.gets {
				t.Errorf("%d GETs, want %d", gets.Load(), tt.gets)
			}
		})
	}
}

// A cancelled call ends at once, and the server is notified in the form of its era.
func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprint(version, streams), func(t *testing.T) {
				t.Parallel()
				entered, gone, told := make(chan struct{}), make(chan time.Time, 1), make(chan string, 1)
				url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
					if p.method == "notifications/cancelled" {
						told <- p.raw
						w.WriteHeader(http.StatusAccepted)
						return
					}
					if streams {
						writeEvents(w, ": begun\n\n")
					}
					close(entered)
					<-r.Context().Done()
					gone <- time.Now()
				})
				l := dialHTTP(t, url, nil, nil)
				l.Agreed(version)
				ctx, cancel := context.WithCancelCause(t.Context())
				cause := errors.New("enough")
				var start time.Time
				go func() {
					<-entered
					start = time.Now()
					cancel(cause)
				}()
				_, err := l.Call(ctx, &mcp.Request{Method: "tools/call"})
				if !errors.Is(err, cause) {
					t.Errorf("got %v", err)
				}
				await.Within(t, "to tell the server", (<-gone).Sub(start), 500*time.Millisecond)
				if version < "2026" {
					if got := <-told; !strings.Contains(got, `"params":{"requestId":1,"reason":"enough"}`) {
						t.Errorf("told %s", got)
					}
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				if len(told) != 0 {
					t.Errorf("told %s", <-told)
				}
			})
		}
	}
}

func TestHTTPCloseEndsCalls(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	url := startServer(t, func(_ http.ResponseWriter, r *http.Request, _ receivedRequest) {
		close(entered)
		<-r.Context().Done()
	})
	l := mcp.DialHTTP(url, newHandlerLog(), nil)
	done := make(chan error, 1)
	go func() {
		_, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"})
		done <- err
	}()
	<-entered
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if e := mustBeLinkError(t, <-done); !e.Sent {
		t.Errorf("got %+v", e)
	}
}

// pulsingTransport is a transport whose streams send a comment per minute for a while, then nothing.
type pulsingTransport struct{ minutes int }

func (p pulsingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	pr, pw := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = pw.CloseWithError(r.Context().Err()) })
	go func() {
		for range p.minutes {
			await.Sleep(time.Minute)
			_, _ = io.WriteString(pw, ": life\n\n")
		}
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Body: pr, ContentLength: -1,
		Header: http.Header{"Content-Type": {"text/event-stream"}},
	}, nil
}

// The call fails after five silent minutes; SSE comments count as activity. A call without a deadline keeps waiting.
func TestHTTPIdle(t *testing.T) {
	t.Parallel()
	for _, deadline := range []time.Duration{time.Hour, 0} {
		synctest.Test(t, func(t *testing.T) {
			l := mcp.DialHTTP("http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: pulsingTransport{minutes: 8}})
			defer l.Close()
			l.Agreed("2026-07-28")
			ctx, cancel := context.WithCancel(t.Context())
			if deadline > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), deadline)
			} else {
				time.AfterFunc(24*time.Hour, cancel)
			}
			defer cancel()
			start := time.Now()
			_, err := l.Call(ctx, &mcp.Request{Method: "subscriptions/listen"})
			took := time.Since(start)
			if deadline == 0 {
				if !errors.Is(err, context.Canceled) || took != 24*time.Hour {
					t.Errorf("without a deadline: %v after %v", err, took)
				}
				return
			}
			if e := mustBeLinkError(t, err); !e.Sent || !strings.Contains(e.Error(), "too long") || took != 13*time.Minute {
				t.Errorf("got %v after %v", err, took)
			}
		})
	}
}

// One connection serves several calls in turn that are answered by streams.
func TestHTTPStreamConnectionReuse(t *testing.T) {
	t.Parallel()
	addrs := make(chan string, 100)
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		addrs <- r.RemoteAddr
		writeEvents(w, "data: "+responseTo(p, `{}`)+"\n\n")
	})
	l := dialHTTP(t, url, nil, nil)
	for range 50 {
		if _, err := l.Call(t.Context(), &mcp.Request{Method: "ping"}); err != nil {
			t.Fatal(err)
		}
	}
	close(addrs)
	conns := map[string]bool{}
	for a := range addrs {
		conns[a] = true
	}
	if len(conns) > 25 {
		t.Errorf("%d connections for 50 calls", len(conns))
	}
}

func TestHTTPListen(t *testing.T) {
	t.Parallel()
	var gets atomic.Int32
	posted := make(chan string, 1)
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		if r.Method == http.MethodPost {
			posted <- p.raw
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if gets.Add(1) == 1 {
			writeEvents(w, "id: 1\nretry: 10\n"+notificationEvent("first"))
			return
		}
		if got := r.Header.Get("Last-Event-Id"); got != "1" {
			t.Errorf("opened again from %q", got)
		}
		writeEvents(w, notificationEvent("second"), `data: {"jsonrpc":"2.0","id":3,"method":"roots/list"}`+"\n\n")
		<-r.Context().Done()
	})
	h := newHandlerLog()
	l := dialHTTP(t, url, h, nil)
	l.Agreed("2025-11-25")
	l.Listen()
	h.waitFor(t, "first <nil>")
	h.waitFor(t, "second <nil>")
	h.waitFor(t, "?roots/list <nil>")
	if got := <-posted; got != `{"jsonrpc":"2.0","id":3,"result":{}}` {
		t.Errorf("answered %s", got)
	}
}

// A server may send questions of a call on the listening stream, so calls wait until that is open. Lists do
// not wait.
func TestHTTPCallWaitsForTheStream(t *testing.T) {
	t.Parallel()
	listed, called := make(chan struct{}), make(chan struct{}, 1)
	var open atomic.Bool
	url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
		switch {
		case r.Method == http.MethodGet:
			<-listed
			select {
			case <-called: // without a listening stream to ask on
			case <-time.After(100 * time.Millisecond):
				open.Store(true)
			}
			writeEvents(w, ": open\n\n")
			<-r.Context().Done()
		case p.method == "tools/list":
			answerJSON(w, responseTo(p, `{}`))
			close(listed)
		default:
			if !open.Load() {
				called <- struct{}{}
				t.Error("the call came before the stream was open")
			}
			answerJSON(w, responseTo(p, `{}`))
		}
	})
	l := dialHTTP(t, url, nil, nil)
	l.Agreed("2025-11-25")
	l.Listen()
	for _, method := range []string{"tools/list", "tools/call", "tools/call"} {
		if _, err := l.Call(t.Context(), &mcp.Request{Method: method}); err != nil {
			t.Fatal(err)
		}
	}
}

// A server that has no listening stream, or never says whether it has one, delays calls only briefly.
func TestHTTPCallWaitsNoLonger(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int // of the GET; 0 never answers
		want   time.Duration
	}{"refused": {405, 0}, "down": {503, 0}, "silent": {0, time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := roundTripFunc(func(req *http.Request) *httptest.ResponseRecorder {
					w := httptest.NewRecorder()
					switch {
					case req.Method != http.MethodGet:
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
					case test.status == 0:
						<-req.Context().Done()
					default:
						w.WriteHeader(test.status)
					}
					return w
				})
				l := mcp.DialHTTP("http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: rt}).(*mcp.HTTPLink)
				l.Agreed("2025-11-25")
				begun := time.Now()
				l.Listen()
				if _, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"}); err != nil {
					t.Error(err)
				}
				if took := time.Since(begun); took != test.want {
					t.Errorf("the call took %v, want %v", took, test.want)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A server that answers quickly is waited for only briefly, a slow one longer. Nobody waits for the same
// server twice, unless it has begun to answer in time.
func TestHTTPCallWaitsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var round time.Duration
		var opens bool
		var posts int
		rt := roundTripFunc(func(req *http.Request) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			switch {
			case req.Method == http.MethodGet && opens:
				await.Sleep(round)
				w.Header().Set("Content-Type", "text/event-stream")
			case req.Method == http.MethodGet:
				<-req.Context().Done()
			default:
				if posts++; posts == 1 { // initialize
					await.Sleep(round)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+strconv.Itoa(posts)+`,"result":{}}`)
			}
			return w
		})
		var withheld atomic.Bool
		for i, step := range []struct {
			round time.Duration
			opens bool
			want  time.Duration
		}{
			{round: 10 * time.Millisecond, want: 200 * time.Millisecond},
			{round: 10 * time.Millisecond},
			{round: 10 * time.Millisecond, opens: true},
			{round: 10 * time.Millisecond, opens: true, want: 10 * time.Millisecond}, // the previous link saw the server open the stream in time
			{round: 100 * time.Millisecond, want: 400 * time.Millisecond},
		} {
			round, opens, posts = step.round, step.opens, 0
			l := mcp.DialHTTP("http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: rt, Withheld: &withheld}).(*mcp.HTTPLink)
			if _, err := l.Call(t.Context(), &mcp.Request{Method: "initialize"}); err != nil {
				t.Fatal(err)
			}
			l.Agreed("2025-11-25")
			begun := time.Now()
			l.Listen()
			if _, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took != step.want {
				t.Errorf("step %d: the call took %v, want %v", i, took, step.want)
			}
			await.Sleep(round)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A server that opened the listening stream in time is not taken for a slow one, however late the first call comes.
func TestHTTPListenLongBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		posts := 0
		rt := roundTripFunc(func(req *http.Request) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			w.Header().Set("Content-Type", "text/event-stream")
			if req.Method == http.MethodPost {
				posts++
				await.Sleep(10 * time.Millisecond)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+strconv.Itoa(posts)+`,"result":{}}`)
			}
			return w
		})
		var withheld atomic.Bool
		for range 40 {
			posts = 0
			l := mcp.DialHTTP("http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: rt, Withheld: &withheld}).(*mcp.HTTPLink)
			if _, err := l.Call(t.Context(), &mcp.Request{Method: "initialize"}); err != nil {
				t.Fatal(err)
			}
			l.Agreed("2025-11-25")
			l.Listen()
			if !l.AwaitStream(t.Context()) {
				t.Fatal("the stream is not open")
			}
			await.Sleep(time.Minute)
			if _, err := l.Call(t.Context(), &mcp.Request{Method: "tools/call"}); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if withheld.Load() {
				t.Fatal("the server is taken for one that does not open the stream in time")
			}
		}
	})
}

// A server without a listening stream gets no second request for it; a server that is down does.
func TestHTTPListenAgain(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{405: 1, 404: 1, 401: 1, 503: 5} {
		synctest.Test(t, func(t *testing.T) {
			gets := 0
			rt := roundTripFunc(func(*http.Request) *httptest.ResponseRecorder {
				gets++
				w := httptest.NewRecorder()
				w.WriteHeader(status)
				return w
			})
			l := mcp.DialHTTP("http://example.com", newHandlerLog(), &mcp.HTTPOptions{Transport: rt}).(*mcp.HTTPLink)
			l.Agreed("2025-11-25")
			l.Listen()
			await.Sleep(15 * time.Second) // waits of 1, 2, 4 and 8 seconds at most
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if gets < want || want == 1 && gets > 1 || gets > 8 {
				t.Errorf("status %d: asked %d times in 15 s, want %d", status, gets, want)
			}
		})
	}
}
