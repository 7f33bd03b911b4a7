package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"collie/internal/mcp"
)

// The other side is told of a cancellation exactly as its sender wrote it: only the request's id is replaced
// by the id that the other side knows.
func TestCancelKeepsItsReason(t *testing.T) {
	t.Parallel()
	const given = `{"reason":"é \u003c 1.0","requestId":"theirs","x":1.0,"_meta":{"a":null}}`
	want := func(id string) string { return strings.Replace(given, `"theirs"`, id, 1) }
	taken := &mcp.TakenBack{Params: json.RawMessage(given)}

	t.Run("to_a_server_over_lines", func(t *testing.T) {
		t.Parallel()
		c, f := newConn(t, ignoringHandler{}, nil, 0)
		ctx, cancel := context.WithCancelCause(t.Context())
		a := startCall(ctx, c, &mcp.Request{Method: "tools/call"})
		id := string(f.next().ID)
		cancel(taken)
		if got := string(f.next().Params); got != want(id) {
			t.Errorf("the server got %s, want %s", got, want(id))
		}
		if <-a.done; !errors.Is(a.err, taken) || !errors.Is(a.err, context.Canceled) {
			t.Errorf("ended with %v", a.err)
		}
	})

	t.Run("to_a_server_over_http", func(t *testing.T) {
		t.Parallel()
		entered, told := make(chan struct{}), make(chan string, 1)
		url := startServer(t, func(w http.ResponseWriter, r *http.Request, p receivedRequest) {
			if p.method == "notifications/cancelled" {
				told <- p.raw
				w.WriteHeader(http.StatusAccepted)
				return
			}
			close(entered)
			<-r.Context().Done()
		})
		l := dialHTTP(t, url, nil, nil)
		l.Agreed("2025-11-25")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-entered
			cancel(taken)
		}()
		if _, err := l.Call(ctx, &mcp.Request{Method: "tools/call"}); !errors.Is(err, taken) {
			t.Errorf("ended with %v", err)
		}
		if got := <-told; !strings.Contains(got, `"params":`+want("1")) {
			t.Errorf("the server got %s, want %s", got, want("1"))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})

	t.Run("of_a_client", func(t *testing.T) {
		t.Parallel()
		l := startLineClient(t, t.Context(), nil, 0)
		l.initialize()
		l.writeLine("%s", rpcRequest(5, "wait", "{}")) // which scriptedService never answers
		<-l.service.began
		l.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`, want("5"))
		var got *mcp.TakenBack
		if err := <-l.service.ended; !errors.As(err, &got) || string(got.Params) != want("5") {
			t.Errorf("the request ended with %v", err)
		}
		l.closeInputAndWait()
	})

	t.Run("of_a_server_to_a_client", func(t *testing.T) {
		t.Parallel()
		l := startLineClient(t, t.Context(), nil, 0)
		l.initialize()
		l.writeLine("%s", rpcRequest(1, "gate", "{}")) // which scriptedService answers when told, so that a call is running
		<-l.service.began
		_, f := newConn(t, &recorder{handleFunc: func(ctx context.Context, m mcp.Message) (json.RawMessage, error) {
			return l.service.newestPeer(t).Ask(ctx, m.Method, m.Params)
		}}, nil, 0)
		f.writeLine(`{"jsonrpc":"2.0","id":"theirs","method":"elicitation/create","params":{}}`)
		asked := l.next()
		if asked.Method != "elicitation/create" {
			t.Fatalf("asked %s", asked.Raw)
		}
		f.writeLine(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`, given)
		if got := string(l.next().Params); got != want(string(asked.ID)) {
			t.Errorf("the client got %s, want %s", got, want(string(asked.ID)))
		}
		l.service.gate <- struct{}{}
		l.next()
		l.closeInputAndWait()
	})
}

// Peer.Ask reaches a session outside of its requests, if there is a way to reach it at all.
func TestPeerAsk(t *testing.T) {
	t.Parallel()
	s := newHTTPFixture(t, mcp.HTTPServerOptions{})
	id := s.openSession("2025-11-25")
	type answer struct {
		raw json.RawMessage
		err error
	}
	answers := make(chan answer, 1)
	go func() { // Ask may begin before the client reads its stream
		raw, err := s.service.newestPeer(t).Ask(t.Context(), "roots/list", json.RawMessage(`{"n":1.0}`))
		answers <- answer{raw, err}
	}()
	resp := s.send(t.Context(), "GET", "", "Mcp-Session-Id", id)
	e, ok := newEventReader(resp.Body).next(t)
	if !ok || e.message.Method != "roots/list" || string(e.message.Params) != `{"n":1.0}` {
		t.Fatalf("asked %s", e.message.Raw)
	}
	s.exchange("POST", `{"jsonrpc":"2.0","id":`+string(e.message.ID)+`,"result":{"roots":[]}}`, "Mcp-Session-Id", id)
	if a := <-answers; a.err != nil || string(a.raw) != `{"roots":[]}` {
		t.Errorf("answered %s, %v", a.raw, a.err)
	}
	_ = resp.Body.Close()

	s.openSession("2025-11-25") // its client never opens a stream, for which Ask waits as long as ctx lasts
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.service.newestPeer(t).Ask(ctx, "roots/list", nil); !errors.Is(err, mcp.ErrNoAsking) {
		t.Errorf("asked a client that does not read: %v", err)
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: "", `[1]`: "", `null`: "", ``: "",
		` { "b" : 1.0 , "\u0061":{"x":[ ]}, "b":"two"} `: `b=1.0 a={"x":[ ]} b="two" `,
	} {
		got := ""
		for name, value := range mcp.Members(json.RawMessage(in)) {
			got += name + "=" + string(value) + " "
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
