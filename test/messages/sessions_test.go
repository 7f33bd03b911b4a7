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

// setRoots makes c answer with roots of this name.
func (c *client) setRoots(name string) {
	c.setAnswer(func(_ context.Context, m mcp.Message) (json.RawMessage, error) {
		if m.Method != "roots/list" {
			return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: m.Method}
		}
		return json.RawMessage(`{"roots":[{"uri":"file:///` + name + `","x":1.0}]}`), nil
	})
}

// noRoots is how a server is told that there are no roots.
const noRoots = `"result":{"roots":[]}`

// A shared server that asks for roots outside of a call gets those of the only session, or none if there are several
// sessions. It is told when that changes. During a call it gets the roots of the caller, unless another client has a call in
// flight.
func TestRoots(t *testing.T) {
	t.Parallel()
	s := newServer(t, "s", "legacy", false, "", "--ask-roots")
	own := newServer(t, "own", "legacy", false, `,"isolation":"session"`, "--ask-roots")
	fixed := newServer(t, "fixed", "legacy", false, `,"roots":["/set"]`, "--ask-roots")
	g := startGateway(t, s, own, fixed)
	s.awaitReceived(t, 1, noRoots) // when the server was started, there was no session
	fixed.awaitReceived(t, 1, "file:///set")

	ada := g.client(t, "bridge", legacy, allCapabilities, "")
	ada.setRoots("ada")
	ada.notify("notifications/roots/list_changed", "") // the client may have been asked before it had roots
	s.awaitReceived(t, 1, "file:///ada")
	ada.setRoots("ada-moved")
	ada.notify("notifications/roots/list_changed", "")
	s.awaitReceived(t, 1, "file:///ada-moved")

	bob := g.client(t, "http", legacy, allCapabilities, "")
	bob.setRoots("bob")
	s.awaitReceived(t, 2, noRoots) // with two sessions, it is unknown whose roots are meant
	if got := bob.mustCallTool(s.tool("ask"), `{"what":"roots"}`, ""); !strings.Contains(got, `"file:///bob","x":1.0`) {
		t.Errorf("inside a call of bob's the roots are %s", got)
	}
	for _, c := range []*client{ada, bob} {
		c.mustCallTool(own.tool("echo"), `{"text":"start"}`, "")
	}
	own.awaitReceived(t, 1, "file:///ada-moved")
	own.awaitReceived(t, 1, "file:///bob")
	if len(s.received("file:///bob")) != 1 {
		t.Errorf("outside of a call the server got the roots of one of two sessions:\n%s", strings.Join(s.received("roots"), "\n"))
	}
	if err := bob.Link.Close(); err != nil {
		t.Fatal(err)
	}
	s.awaitReceived(t, 2, "file:///ada-moved") // ada has the only session again
	if n := len(fixed.received("list_changed")); n != 0 {
		t.Errorf("a server with roots of its own was told %d times that they changed", n)
	}
}

// A question of a shared process is put to nobody if several clients have calls in flight. The error names the server
// and the setting that gives each client a process of its own.
func TestQuestionOfSeveralClients(t *testing.T) {
	t.Parallel()
	s := newServer(t, "shared", "legacy", false, "")
	g := startGateway(t, s)
	ada, bob := g.client(t, "bridge", legacy, allCapabilities, ""), g.client(t, "bridge", legacy, allCapabilities, "")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = ada.callTool(ctx, s.tool("hang"), `{"mark":"here"}`, "")
	}()
	s.awaitReceived(t, 1, `"tools/call"`, "here")
	_, err := bob.callTool(t.Context(), s.tool("ask"), `{"what":"elicitation"}`, "")
	for _, part := range []string{`server \"shared\"`, `\"isolation\": \"session\"`, `entry \"shared\" of mcpServers`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, want %s in it", err, part)
		}
	}
	cancel()
	<-ended
}

// While calls of two clients are in flight, it is unknown whose roots a server asks for, so it gets none: neither those of the
// caller nor those of the only session.
func TestRootsWhileTwoClientsCall(t *testing.T) {
	t.Parallel()
	s := newServer(t, "s", "legacy", false, "")
	g := startGateway(t, s)
	ada, bob := g.client(t, "http", legacy, allCapabilities, ""), g.client(t, "http", modern, allCapabilities, "")
	ada.setRoots("ada")
	bob.setRoots("bob")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = ada.callTool(ctx, s.tool("hang"), `{"mark":"here"}`, "")
	}()
	s.awaitReceived(t, 1, `"tools/call"`, "here")
	got, err := bob.callTool(t.Context(), s.tool("ask"), `{"what":"roots"}`, "")
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
	c := startGateway(t, s).client(t, "http", legacy, allCapabilities, "")
	c.setAnswer(func(context.Context, mcp.Message) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept","content":{"name":"x"}}`), nil
	})
	for _, mark := range []string{"one", "two", "three"} { // calls that the client gives up by closing the connection, without a cancellation
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			args := `{"name":"` + s.tool("hang") + `","arguments":{"mark":"` + mark + `"}}`
			_, _ = c.Call(ctx, &mcp.Request{Method: "tools/call", Params: json.RawMessage(args), NoCancel: true})
		}()
		s.awaitReceived(t, 1, `"tools/call"`, mark)
		time.AfterFunc(200*time.Millisecond, cancel) // by then the answer is a stream, to which a client may come back
		<-ended
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("the question went to a call that nobody reads"))
	defer cancel()
	for range 8 {
		if got, err := c.callTool(ctx, s.tool("ask"), `{"what":"elicitation"}`, ""); err != nil || !strings.Contains(got, "accept") {
			t.Fatalf("answered %s, %v", got, err)
		}
	}
}
