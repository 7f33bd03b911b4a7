package messages_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"collie/internal/mcp"
)

// roots makes c answer with roots of this name.
func (c *client) roots(name string) {
	c.answers(func(_ context.Context, m mcp.Message) (json.RawMessage, error) {
		if m.Method != "roots/list" {
			return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: m.Method}
		}
		return json.RawMessage(`{"roots":[{"uri":"file:///` + name + `","x":1.0}]}`), nil
	})
}

const noRoots = `"result":{"roots":[]}`

// A server that all share is told the roots of the only session, of none where there are several, and
// when that changes. Inside a call they are the caller's.
func TestRoots(t *testing.T) {
	t.Parallel()
	s := newServer(t, "s", "legacy", false, "", "--ask-roots")
	own := newServer(t, "own", "legacy", false, `,"isolation":"session"`, "--ask-roots")
	fixed := newServer(t, "fixed", "legacy", false, `,"roots":["/set"]`, "--ask-roots")
	g := open(t, s, own, fixed)
	s.hears(t, 1, noRoots) // when it was started, nobody was there
	fixed.hears(t, 1, "file:///set")

	ada := g.client(t, "bridge", legacy, can, "")
	ada.roots("ada")
	ada.tells("notifications/roots/list_changed", "") // the client may have been asked before it had roots
	s.hears(t, 1, "file:///ada")
	ada.roots("ada-moved")
	ada.tells("notifications/roots/list_changed", "")
	s.hears(t, 1, "file:///ada-moved")

	bob := g.client(t, "http", legacy, can, "")
	bob.roots("bob")
	s.hears(t, 2, noRoots) // it is unknown whose question this is
	if got := bob.called(s.tool("ask"), `{"what":"roots"}`, ""); !strings.Contains(got, `"file:///bob","x":1.0`) {
		t.Errorf("inside a call of bob's the roots are %s", got)
	}
	for _, c := range []*client{ada, bob} {
		c.called(own.tool("echo"), `{"text":"start"}`, "")
	}
	own.hears(t, 1, "file:///ada-moved")
	own.hears(t, 1, "file:///bob")
	if len(s.lines("file:///bob")) != 1 {
		t.Errorf("outside of a call the server got the roots of one of two sessions:\n%s", strings.Join(s.lines("roots"), "\n"))
	}
	if err := bob.Link.Close(); err != nil {
		t.Fatal(err)
	}
	s.hears(t, 2, "file:///ada-moved") // the only one again
	if n := len(fixed.lines("list_changed")); n != 0 {
		t.Errorf("a server with roots of its own was told %d times that they changed", n)
	}
}

// A question that a shared process asks while clients have calls in flight is put to nobody, and the
// error says which server it is and what to write where.
func TestQuestionOfSeveralClients(t *testing.T) {
	t.Parallel()
	s := newServer(t, "shared", "legacy", false, "")
	g := open(t, s)
	ada, bob := g.client(t, "bridge", legacy, can, ""), g.client(t, "bridge", legacy, can, "")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = ada.calls(ctx, s.tool("hang"), `{"mark":"here"}`, "")
	}()
	s.hears(t, 1, `"tools/call"`, "here")
	_, err := bob.calls(t.Context(), s.tool("ask"), `{"what":"elicitation"}`, "")
	for _, part := range []string{`server \"shared\"`, `\"isolation\": \"session\"`, `entry \"shared\" of mcpServers`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, want %s in it", err, part)
		}
	}
	cancel()
	<-ended
}

// The roots of the only session are not told in the call of a client that has no session.
func TestRootsInACallOfAnotherClient(t *testing.T) {
	t.Parallel()
	s := newServer(t, "s", "legacy", false, "")
	g := open(t, s)
	ada, bob := g.client(t, "http", legacy, can, ""), g.client(t, "http", modern, can, "")
	ada.roots("ada")
	bob.roots("bob")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = ada.calls(ctx, s.tool("hang"), `{"mark":"here"}`, "")
	}()
	s.hears(t, 1, `"tools/call"`, "here")
	got, err := bob.calls(t.Context(), s.tool("ask"), `{"what":"roots"}`, "")
	if err != nil || !strings.Contains(got, `"roots":[]`) {
		t.Errorf("in a call of bob's, beside one of ada's, the roots are %s, %v; want none", got, err)
	}
	cancel()
	<-ended
}

// With several calls in a session, a question goes to a call whose stream is read and, when that
// ends, to another one. So a call that its client has given up does not block the others.
func TestQuestionGoesWhereItIsRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, "s", "legacy", false, "")
	c := open(t, s).client(t, "http", legacy, can, "")
	c.answers(func(context.Context, mcp.Message) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept","content":{"name":"x"}}`), nil
	})
	for _, mark := range []string{"one", "two", "three"} { // given up on by closing the connection alone
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			args := `{"name":"` + s.tool("hang") + `","arguments":{"mark":"` + mark + `"}}`
			_, _ = c.Call(ctx, &mcp.Request{Method: "tools/call", Params: json.RawMessage(args), NoCancel: true})
		}()
		s.hears(t, 1, `"tools/call"`, mark)
		time.AfterFunc(200*time.Millisecond, cancel) // once its answer is a stream, which one can come back to
		<-ended
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("the question went to a call that nobody reads"))
	defer cancel()
	for range 8 {
		if got, err := c.calls(ctx, s.tool("ask"), `{"what":"elicitation"}`, ""); err != nil || !strings.Contains(got, "accept") {
			t.Fatalf("answered %s, %v", got, err)
		}
	}
}
