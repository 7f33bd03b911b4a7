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
		c, f := newConn(t, nothing{}, nil, 0)
		ctx, cancel := context.WithCancelCause(t.Context())
		a := ask(ctx, c, &mcp.Request{Method: "tools/call"})
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
		url := serveFunc(t, func(w http.ResponseWriter, r *http.Request, p post) {
			if p.method == "notifications/cancelled" {
				told <- p.raw
				w.WriteHeader(http.StatusAccepted)
				return
			}
			close(entered)
			<-r.Context().Done()
		})
		l := dial(t, url, nil, nil)
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
		l := serveLine(t, t.Context(), nil, 0)
		l.initialize()
		l.say("%s", rpc(5, "wait", "{}")) // which the server's desk answers never
		<-l.desk.began
		l.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`, want("5"))
		var got *mcp.TakenBack
		if err := <-l.desk.ended; !errors.As(err, &got) || string(got.Params) != want("5") {
			t.Errorf("the request ended with %v", err)
		}
		l.stop()
	})

	t.Run("of_a_server_to_a_client", func(t *testing.T) {
		t.Parallel()
		l := serveLine(t, t.Context(), nil, 0)
		l.initialize()
		l.say("%s", rpc(1, "gate", "{}")) // which the server's desk answers when told, so that a call is running
		<-l.desk.began
		c, f := newConn(t, &recorder{serve: func(ctx context.Context, m mcp.Message) (json.RawMessage, error) {
			return l.desk.peer(t).Ask(ctx, m.Method, m.Params)
		}}, nil, 0)
		_ = c
		f.say(`{"jsonrpc":"2.0","id":"theirs","method":"elicitation/create","params":{}}`)
		asked := l.next()
		if asked.Method != "elicitation/create" {
			t.Fatalf("asked %s", asked.Raw)
		}
		f.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`, given)
		if got := string(l.next().Params); got != want(string(asked.ID)) {
			t.Errorf("the client got %s, want %s", got, want(string(asked.ID)))
		}
		l.desk.gate <- struct{}{}
		l.next()
		l.stop()
	})
}

// Peer.Ask reaches a session outside of its requests, if there is a way to reach it at all.
func TestPeerAsk(t *testing.T) {
	t.Parallel()
	s := newSite(t, mcp.HTTPServerOptions{})
	id := s.open("2025-11-25")
	type answer struct {
		raw json.RawMessage
		err error
	}
	answers := make(chan answer, 1)
	go func() { // Ask may begin before the client reads its stream
		raw, err := s.desk.peer(t).Ask(t.Context(), "roots/list", json.RawMessage(`{"n":1.0}`))
		answers <- answer{raw, err}
	}()
	resp := s.send(t.Context(), "GET", "", "Mcp-Session-Id", id)
	e, ok := newEventReader(resp.Body).next(t)
	if !ok || e.message.Method != "roots/list" || string(e.message.Params) != `{"n":1.0}` {
		t.Fatalf("asked %s", e.message.Raw)
	}
	s.do("POST", `{"jsonrpc":"2.0","id":`+string(e.message.ID)+`,"result":{"roots":[]}}`, "Mcp-Session-Id", id)
	if a := <-answers; a.err != nil || string(a.raw) != `{"roots":[]}` {
		t.Errorf("answered %s, %v", a.raw, a.err)
	}
	_ = resp.Body.Close()

	s.open("2025-11-25") // its client never opens a stream, for which Ask waits as long as ctx lasts
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.desk.peer(t).Ask(ctx, "roots/list", nil); !errors.Is(err, mcp.ErrNoAsking) {
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
