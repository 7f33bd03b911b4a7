package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/mcp"
	"collie/test/await"
)

// farEnd is the end of a pair of pipes that the test holds itself, in place of a server (of a client in
// startLineClient). It reads and writes lines there.
type farEnd struct {
	t    *testing.T
	in   mcp.Stream
	out  *io.PipeWriter
	read chan mcp.Message // messages that the client sent
}

// newConn returns a conn over in-memory pipes and its far end. Both end with the test.
func newConn(t *testing.T, h mcp.Handler, opts *mcp.ConnOptions, maxFrame int) (*mcp.Conn, *farEnd) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	c := mcp.NewConn(mcp.NewLines(toClient, fromClient, maxFrame, toClient.Close), h, opts)
	f := &farEnd{t: t, in: mcp.NewLines(toServer, fromServer, 0, toServer.Close), out: fromServer, read: make(chan mcp.Message, 2000)}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(f.read)
		for {
			m, err := f.in.Read()
			if err != nil {
				return
			}
			f.read <- m
		}
	})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		_ = fromClient.Close()
		_ = fromServer.Close()
		wg.Wait()
	})
	return c.(*mcp.Conn), f
}

// next returns the next message that the other side sent, and fails the test if none comes.
func (f *farEnd) next() mcp.Message {
	f.t.Helper()
	select {
	case m, ok := <-f.read:
		if !ok {
			f.t.Fatal("the client sent nothing more")
		}
		return m
	case <-f.t.Context().Done():
		f.t.Fatal("the client sends nothing")
	}
	return mcp.Message{}
}

// writeLine sends one line, which need not be a message.
func (f *farEnd) writeLine(format string, args ...any) {
	f.t.Helper()
	if err := f.in.Write(fmt.Appendf(nil, format, args...)); err != nil {
		f.t.Errorf("say: %v", err)
	}
}

// answer sends a response with the result, which is JSON text.
func (f *farEnd) answer(id mcp.ID, result string) {
	f.t.Helper()
	f.writeLine(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// pendingCall is a call in progress.
type pendingCall struct {
	resp mcp.Response
	err  error
	done chan struct{}
}

// startCall sends the request on a goroutine of its own.
func startCall(ctx context.Context, c *mcp.Conn, req *mcp.Request) *pendingCall {
	a := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.resp, a.err = c.Call(ctx, req)
	}()
	return a
}

// waitResult waits for the answer and returns its result or its JSON-RPC error as text. It fails the test if the call
// failed without an answer.
func (a *pendingCall) waitResult(t *testing.T) string {
	t.Helper()
	<-a.done
	if a.err != nil {
		t.Fatal(a.err)
	}
	return string(a.resp.Result) + string(a.resp.Error)
}

// ignoringHandler is a Handler for tests in which the server sends nothing.
type ignoringHandler struct{}

func (ignoringHandler) Notification(mcp.Message, any) {}
func (ignoringHandler) Request(context.Context, mcp.Message, any) (json.RawMessage, error) {
	return nil, errors.New("unexpected request")
}

// Each of many parallel calls gets its own answer, in whatever order the answers come.
func TestConnManyCalls(t *testing.T) {
	t.Parallel()
	const calls = 1000
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		waiting := make([]mcp.Message, 0, calls)
		for range calls {
			waiting = append(waiting, f.next())
		}
		rand.Shuffle(calls, func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
		for _, m := range waiting {
			f.answer(m.ID, string(m.Params))
		}
	}()
	var wg sync.WaitGroup
	for n := range calls {
		wg.Go(func() {
			params := fmt.Sprintf(`{"n":%d}`, n)
			r, err := c.Call(t.Context(), &mcp.Request{Method: "echo", Params: json.RawMessage(params)})
			if err != nil || string(r.Result) != params {
				t.Errorf("call %d: %s, %v", n, r.Result, err)
			}
		})
	}
	wg.Wait()
	<-answered
}

func TestConnRequestIDs(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	for want := 1; want <= 3; want++ { // integers, ascending
		a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
		m := f.next()
		if got := string(m.Raw); got != fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, want) {
			t.Errorf("sent %s", got)
		}
		f.answer(m.ID, "{}")
		a.waitResult(t)
	}
}

// Answers with unknown ids are dropped and counted; the right one still arrives.
func TestConnStrangeIDs(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
	id := f.next().ID
	for _, other := range []string{`99`, `"nobody"`, `null`, `-1`, `1.5`, `18446744073709551616`, `""`} {
		f.answer(mcp.ID(other), `"wrong"`)
	}
	f.answer(`"`+id+`"`, `"right"`) // the id as a string
	if got := a.waitResult(t); got != `"right"` {
		t.Errorf("answer %s", got)
	}
	f.answer(id, `"again"`)
	b := startCall(t.Context(), c, &mcp.Request{Method: "x"})
	f.answer(f.next().ID, `"second"`)
	if got := b.waitResult(t); got != `"second"` {
		t.Errorf("second answer %s", got)
	}
	if got := c.Dropped(); got != 8 {
		t.Errorf("%d responses dropped, want 8", got)
	}
}

func TestConnErrorWinsOverResult(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
	f.writeLine(`{"jsonrpc":"2.0","result":{"isError":true},"id":%s,"error": {"code":1, "message":"no","data":1.0}}`, f.next().ID)
	if got := a.waitResult(t); got != `{"code":1, "message":"no","data":1.0}` || a.resp.IsError {
		t.Errorf("answer %s, isError %t", got, a.resp.IsError)
	}
}

// recorder is a Handler that records the notifications that arrive, in order, and answers requests with handleFunc.
type recorder struct {
	mu            sync.Mutex
	notifications []string
	handleFunc
}

type handleFunc func(ctx context.Context, m mcp.Message) (json.RawMessage, error)

func (r *recorder) Notification(m mcp.Message, _ any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notifications = append(r.notifications, m.Method+string(m.Params))
}

func (r *recorder) Request(ctx context.Context, m mcp.Message, _ any) (json.RawMessage, error) {
	return r.handleFunc(ctx, m)
}

func TestConnNotificationsComeBeforeTheResponse(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	c, f := newConn(t, r, nil, 0)
	a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
	id := f.next().ID
	var want []string
	for n := range 50 {
		f.writeLine(`{"jsonrpc":"2.0","method":"note","params":{"n":%d}}`, n)
		want = append(want, fmt.Sprintf(`note{"n":%d}`, n))
	}
	f.answer(id, "{}")
	a.waitResult(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := cmp.Diff(want, r.notifications); d != "" {
		t.Errorf("notifications (-want +got):\n%s", d)
	}
}

func TestConnServesTheServer(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}, 9), make(chan error, 9)
	c, f := newConn(t, &recorder{handleFunc: func(ctx context.Context, m mcp.Message) (json.RawMessage, error) {
		switch m.Method {
		case "good":
			return m.Params, nil
		case "refused":
			return nil, &mcp.RPCError{Raw: json.RawMessage(`{"code":-1, "message":"user","x":1}`)}
		case "failed":
			return nil, errors.New("oops")
		}
		began <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}}, nil, 0)
	for _, tc := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"good","params":{"a":1.0}}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}`},
		{`{"jsonrpc":"2.0","id":"1","method":"refused"}`, `{"jsonrpc":"2.0","id":"1","error":{"code":-1, "message":"user","x":1}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"failed"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"oops"}}`},
	} {
		f.writeLine("%s", tc.in)
		if got := string(f.next().Raw); got != tc.want {
			t.Errorf("answer to %s:\n got %s\nwant %s", tc.in, got, tc.want)
		}
	}
	// The server's request has the same id as a waiting request of ours.
	mine := startCall(t.Context(), c, &mcp.Request{Method: "mine"})
	id := f.next().ID
	f.writeLine(`{"jsonrpc":"2.0","id":%s,"method":"wait"}`, id)
	f.writeLine(`{"jsonrpc":"2.0","id":%s,"method":"wait"}`, id) // a second request with the same id is ignored
	<-began
	f.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId": %s }}`, id)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled with %v", err)
	}
	f.answer(id, `"mine"`)
	if got := mine.waitResult(t); got != `"mine"` {
		t.Errorf("answer %s", got)
	}
	// The cancelled request gets no answer: the next message answers another one.
	f.writeLine(`{"jsonrpc":"2.0","id":3,"method":"good","params":{}}`)
	if got := f.next(); got.ID != "3" {
		t.Errorf("sent %s", got.Raw)
	}
}

// A server may end a subscriptions/listen request of ours (2026-07-28).
func TestConnServerEndsARequest(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	a := startCall(t.Context(), c, &mcp.Request{Method: "subscriptions/listen"})
	f.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, f.next().ID)
	<-a.done
	if _, ok := errors.AsType[*mcp.LinkError](a.err); !ok {
		t.Errorf("ended with %v, want a LinkError", a.err)
	}
}

func TestConnTooLongFailsItsRequestOnly(t *testing.T) {
	t.Parallel()
	var noise []string
	c, f := newConn(t, ignoringHandler{}, &mcp.ConnOptions{Noise: func(frame []byte, err error) {
		noise = append(noise, fmt.Sprintf("%.20s: %v", frame, err))
	}}, 1000)
	long := startCall(t.Context(), c, &mcp.Request{Method: "long"})
	longID := f.next().ID
	b := startCall(t.Context(), c, &mcp.Request{Method: "other"})
	other := f.next().ID
	pad := strings.Repeat("x", 2000)
	// A request of the server with the same id does not affect ours.
	f.writeLine(`{"jsonrpc":"2.0","id":%s,"method":"huge","params":{"t":"%s"}}`, other, pad)
	f.writeLine(`{"jsonrpc":"2.0","id":%s,"result":{"t":"%s"}}`, longID, pad)
	<-long.done
	e, ok := errors.AsType[*mcp.LinkError](long.err)
	if !ok || !e.TooLarge || !e.Sent || !strings.Contains(e.Error(), "1000 bytes") {
		t.Errorf("the long answer gives %#v", long.err)
	}
	f.answer(other, `"fine"`)
	if got := b.waitResult(t); got != `"fine"` {
		t.Errorf("other answer %s", got)
	}
	d := startCall(t.Context(), c, &mcp.Request{Method: "next"})
	f.answer(f.next().ID, `"next"`)
	if got := d.waitResult(t); got != `"next"` {
		t.Errorf("answer %s", got)
	}
	if d := cmp.Diff([]string{`{"jsonrpc":"2.0","id: message longer than 1000 bytes`}, noise); d != "" {
		t.Errorf("noise (-want +got):\n%s", d)
	}
}

func TestConnNoise(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 9)
	c, f := newConn(t, ignoringHandler{}, &mcp.ConnOptions{Noise: func(frame []byte, _ error) { seen <- string(frame) }}, 0)
	a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
	id := f.next().ID
	f.writeLine("starting up ...")
	f.writeLine(`{"level":"info"}`)
	f.answer(id, "{}")
	a.waitResult(t)
	for _, want := range []string{"starting up ...", `{"level":"info"}`} {
		if got := <-seen; got != want {
			t.Errorf("noise %q, want %q", got, want)
		}
	}
}

func TestConnCancel(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	ctx, cancel := context.WithCancelCause(t.Context())
	a := startCall(ctx, c, &mcp.Request{Method: "tools/call"})
	b := startCall(ctx, c, &mcp.Request{Method: "initialize", NoCancel: true})
	ids := map[string]mcp.ID{}
	for range 2 {
		m := f.next()
		ids[m.Method] = m.ID
	}
	why := errors.New("changed my mind")
	cancel(why)
	<-a.done
	<-b.done
	if !errors.Is(a.err, why) || !errors.Is(b.err, why) {
		t.Errorf("errors %v and %v, want the cause", a.err, b.err)
	}
	want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"changed my mind"}}`, ids["tools/call"])
	if got := string(f.next().Raw); got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}
	f.answer(ids["tools/call"], `"late"`) // dropped
	d := startCall(t.Context(), c, &mcp.Request{Method: "ping"})
	if m := f.next(); m.Method != "ping" {
		t.Errorf("sent %s, want nothing more about the cancelled requests", m.Raw)
	} else {
		f.answer(m.ID, "{}")
	}
	d.waitResult(t)
}

// When the server goes away, waiting calls and later calls fail.
func TestConnEnd(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"server", "close"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			serving := make(chan struct{})
			c, f := newConn(t, &recorder{handleFunc: func(ctx context.Context, _ mcp.Message) (json.RawMessage, error) {
				close(serving)
				<-ctx.Done()
				return nil, ctx.Err()
			}}, nil, 0)
			var waiting []*pendingCall
			for range 20 {
				waiting = append(waiting, startCall(t.Context(), c, &mcp.Request{Method: "x"}))
				f.next()
			}
			f.writeLine(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
			<-serving
			if how == "server" {
				_ = f.out.Close() // as happens when a process ends
			} else if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			for _, a := range waiting {
				<-a.done
				if e, ok := errors.AsType[*mcp.LinkError](a.err); !ok || !e.Sent {
					t.Errorf("a call in flight ended with %v, want a LinkError that was sent", a.err)
				}
			}
			<-c.Done()
			if c.Err() == nil {
				t.Error("Err is nil after the end")
			}
			_, err := c.Call(t.Context(), &mcp.Request{Method: "x"})
			if e, ok := errors.AsType[*mcp.LinkError](err); !ok || e.Sent {
				t.Errorf("a call after the end gives %v, want a LinkError that was not sent", err)
			}
		})
	}
}

// If a server stops reading, a call waits no longer than its context.
func TestConnServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	far, near := net.Pipe() // net.Pipe has deadlines, as pipes of the operating system do
	c := mcp.NewConn(mcp.NewLines(r, near, 0, r.Close), ignoringHandler{}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := c.Call(ctx, &mcp.Request{Method: "x"})
	await.Within(t, "a call that nobody reads", time.Since(begun), 2*time.Second)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	if err := errors.Join(far.Close(), near.Close(), w.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

// A server may cancel a request of its own that was already answered. A request of ours with the same id goes
// on.
func TestConnServerTakesBackAnAnsweredRequest(t *testing.T) {
	t.Parallel()
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	a := startCall(t.Context(), c, &mcp.Request{Method: "tools/call"})
	id := f.next().ID
	f.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
	f.answer(id, `{"ok":true}`)
	if got := a.waitResult(t); got != `{"ok":true}` {
		t.Errorf("the call ended with %s", got)
	}
}
