package messages_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/mcp"
)

const legacy, modern = "2025-11-25", "2026-07-28"

// transports are the ways of a client to Collie: HTTP, `collie stdio` with servers of its own, and `collie stdio` as
// a bridge to the running gateway.
var transports = []string{"http", "stdio", "bridge"}

// Messages besides calls and answers pass between a client and a server, over each transport on both sides of
// Collie.
func TestMessages(t *testing.T) {
	t.Parallel()
	var list []*server
	named := func(name, era string, http bool) *server {
		s := newServer(t, name, era, http, "")
		list = append(list, s)
		return s
	}
	// Each client has its own servers, because a process does not say which call its question belongs
	// to, and a session at a remote server cancels its previous question.
	pipes, webs := map[string]*server{}, map[string]*server{}
	for _, transport := range transports {
		pipes[transport], webs[transport] = named("pipe_"+transport, "legacy", false), named("web_"+transport, "legacy", true)
	}
	web, later, other := named("web", "legacy", true), named("later", "modern", false), named("other", "legacy", false)
	g := open(t, list...)
	for _, transport := range transports {
		for _, s := range []*server{pipes[transport], webs[transport]} {
			t.Run(transport+"_to_"+s.name, func(t *testing.T) {
				t.Parallel()
				p := &path{client: g.client(t, transport, legacy, can, s.name), server: s, mark: "mark-" + transport + "-"}
				p.vendorMessages()
				p.vendorMessagesInCalls()
				p.namesOfRequests()
				p.reasons()
				p.reasonsOfTheServer()
				p.progressOfQuestions()
			})
		}
	}
	t.Run("order", func(t *testing.T) {
		t.Parallel()
		questionsInOrder(t, g.client(t, "http", legacy, can, ""), later)
	})
	for _, transport := range []string{"http", "stdio"} {
		t.Run("addressee_"+transport, func(t *testing.T) {
			t.Parallel()
			addressee(t, g.client(t, transport, legacy, can, ""), transport, []*server{other, web})
		})
	}
	t.Run("modern", func(t *testing.T) {
		t.Parallel()
		for _, transport := range transports {
			c := g.client(t, transport, modern, "{}", "other")
			got := c.does("vendor/modern", `{"n":1.0}`)
			if mcp.GetString(json.RawMessage(got), "method") != "vendor/modern" || string(mcp.Get(json.RawMessage(got), "params", "n")) != "1.0" ||
				mcp.GetString(json.RawMessage(got), "resultType") != "complete" {
				t.Errorf("%s: answered %s", transport, got)
			}
			c.tells("notifications/vendor/modern", `{"by":"`+transport+`"}`)
			other.hears(t, 1, "notifications/vendor/modern", transport)
		}
	})
}

// path is a client together with the server that it talks to through Collie.
type path struct {
	*client
	server *server
	mark   string // a text in the messages of this client alone
}

// heard waits until the server has received a message of this client that contains text, and returns it.
func (p *path) heard(text string) string {
	p.t.Helper()
	return p.server.hears(p.t, 1, text, p.mark)[0]
}

// Requests and notifications that MCP does not name pass from the client to the server byte for byte.
func (p *path) vendorMessages() {
	p.t.Helper()
	odd := `{"n":1.0,"big":12345678901234567890,"t":"\u00e9\/","progressToken":"nobody's","requestId":99999,"mark":"` + p.mark + `"}`
	if got, want := p.does("vendor/x", odd), `{"method":"vendor/x","params":`+odd+`}`; got != want {
		p.t.Errorf("answered %s, want %s", got, want)
	}
	if got, want := p.does("vendor/x", ""), `{"method":"vendor/x","params":null}`; got != want {
		p.t.Errorf("answered %s, want %s", got, want)
	}
	p.tells("notifications/vendor/x", odd)
	if got := params(p.heard("notifications/vendor/x")); got != odd {
		p.t.Errorf("the server heard %s, want %s", got, odd)
	}
	for _, method := range []string{"collie/confirm", "tasks/list"} { // a method of Collie itself, and one that Collie does not pass on
		_, failure, err := p.request(p.t.Context(), method, "{}")
		if failure == nil || failure.Code() != mcp.CodeMethodNotFound || len(p.server.lines(`"method":"`+method)) != 0 {
			p.t.Errorf("%s passed: %v %v", method, failure, err)
		}
	}
}

// Requests and notifications that MCP does not name pass from the server to the client whose call it is answering.
func (p *path) vendorMessagesInCalls() {
	p.t.Helper()
	p.answers(func(_ context.Context, m mcp.Message) (json.RawMessage, error) {
		if m.Method == "vendor/refuse" {
			return nil, &mcp.RPCError{Raw: json.RawMessage(`{"code":-5,"message":"no","data":1.0}`)}
		}
		return json.RawMessage(`{"n":1.0,"for":` + string(m.Params) + `}`), nil
	})
	const token, want = `"odd \u00e9"`, `{"a":1.0,"progressToken":"odd \u00e9"}`
	args := `{"notification":"notifications/vendor/y","request":"vendor/y","params":{"a":1.0,"progressToken":"$token"}}`
	if got := p.called(p.server.tool("vendor"), args, `"progressToken":`+token); got != `{"n":1.0,"for":`+want+`}` {
		p.t.Errorf("the client was asked with %s, want %s", got, want)
	}
	if got := string(p.hears("notifications/vendor/y").Params); got != want {
		p.t.Errorf("the client heard %s, want %s", got, want)
	}
	if _, err := p.calls(p.t.Context(), p.server.tool("vendor"), `{"request":"vendor/refuse"}`, ""); err == nil || err.Error() != `{"code":-5,"message":"no","data":1.0}` {
		p.t.Errorf("a refusal arrived as %v", err)
	}
	if _, err := p.calls(p.t.Context(), p.server.tool("vendor"), `{"request":"collie/confirm"}`, ""); err == nil || !strings.Contains(err.Error(), "-32601") {
		p.t.Errorf("a server asked as the gateway does: %v", err)
	}
}

// hang makes a call that lasts until cancel is called. It returns the ids by which the client and the server know it.
func (p *path) hang(what string) (mine, theirs string, cancel func(error)) {
	p.t.Helper()
	ctx, end := context.WithCancelCause(p.t.Context())
	var id atomic.Uint64
	ended := make(chan struct{})
	args := fmt.Sprintf(`{"name":%q,"arguments":{"what":%q,"mark":%q}}`, p.server.tool("hang"), what, p.mark)
	go func() {
		defer close(ended)
		_, _ = p.Call(ctx, &mcp.Request{Method: "tools/call", Params: json.RawMessage(args), ID: &id})
	}()
	theirs = string(mcp.Get(json.RawMessage(p.heard(`"what":"`+what)), "id"))
	return fmt.Sprint(id.Load()), theirs, func(cause error) {
		end(cause)
		<-ended
	}
}

// An id of a request in a message is translated from the one that the sender uses to the one that the receiver knows.
func (p *path) namesOfRequests() {
	p.t.Helper()
	mine, theirs, cancel := p.hang("named")
	p.tells("notifications/vendor/id", `{"requestId":`+mine+`,"mark":"`+p.mark+`"}`)
	if got := string(mcp.Get(json.RawMessage(params(p.heard("vendor/id"))), "requestId")); got != theirs {
		p.t.Errorf("the server knows the call by %s and heard of %s", theirs, got)
	}
	cancel(errors.New("seen"))
	args := json.RawMessage(`{"name":"` + p.server.tool("vendor") + `","arguments":{"notification":"notifications/vendor/back","params":{"requestId":"$id"}}}`)
	var id atomic.Uint64
	if _, err := p.Call(p.t.Context(), &mcp.Request{Method: "tools/call", Params: args, ID: &id}); err != nil {
		p.t.Fatal(err)
	}
	if got, want := string(mcp.Get(p.hears("notifications/vendor/back").Params, "requestId")), fmt.Sprint(id.Load()); got != want {
		p.t.Errorf("the client was told of %s, want %s", got, want)
	}
}

// The reason with which a client cancels a request reaches the server, with the server's id.
func (p *path) reasons() {
	p.t.Helper()
	_, theirs, cancel := p.hang("cancelled")
	cancel(&mcp.TakenBack{Params: json.RawMessage(`{"reason":"I \u00e9 changed","requestId":0,"x":[1.0],"mark":"` + p.mark + `"}`)})
	want := `{"reason":"I \u00e9 changed","requestId":` + theirs + `,"x":[1.0],"mark":"` + p.mark + `"}`
	if got := params(p.heard("notifications/cancelled")); got != want {
		p.t.Errorf("the server heard %s, want %s", got, want)
	}
}

// The reason with which a server cancels its question reaches the client before the call's answer.
func (p *path) reasonsOfTheServer() {
	p.t.Helper()
	given := make(chan error, 1)
	p.answers(func(ctx context.Context, _ mcp.Message) (json.RawMessage, error) {
		p.tells("notifications/vendor/go", "")
		select {
		case <-ctx.Done():
		case <-time.After(limit):
		}
		given <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	if got := p.called(p.server.tool("withdraw"), `{"params":{"reason":"it \u00e9 settled","x":[1.0]}}`, ""); got != "withdrawn" {
		p.t.Error(got)
	}
	err := <-given
	var taken *mcp.TakenBack
	if !errors.As(err, &taken) || !strings.HasSuffix(string(taken.Params), `,"reason":"it \u00e9 settled","x":[1.0]}`) {
		p.t.Errorf("the client was told %+v", err)
	}
}

// The progress of a question reaches the server with the server's own token.
func (p *path) progressOfQuestions() {
	p.t.Helper()
	p.answers(func(_ context.Context, m mcp.Message) (json.RawMessage, error) {
		token := string(mcp.Get(m.Params, "_meta", "progressToken"))
		p.tells("notifications/progress", `{"progressToken":`+token+`,"progress":0.50,"mark":"`+p.mark+`"}`)
		p.heard("notifications/progress")
		return json.RawMessage(`{"role":"assistant","model":"m","x":` + string(mcp.Get(m.Params, "_meta", "x")) + `,"content":{"type":"text","text":"ok"}}`), nil
	})
	p.tells("notifications/progress", `{"progressToken":"nobody's","progress":1,"mark":"`+p.mark+`"}`)
	if got := p.called(p.server.tool("ask"), `{"what":"sampling","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":"mine\u00e9","x":1.0}}}`, ""); !strings.Contains(got, `"x":1.0`) {
		p.t.Errorf("answered %s", got)
	}
	if got, want := params(p.heard("notifications/progress")), `{"progressToken":"mine\u00e9","progress":0.50,"mark":"`+p.mark+`"}`; got != want {
		p.t.Errorf("the server heard %s, want %s", got, want)
	}
}

// The questions of one input_required result are asked in their order.
func questionsInOrder(t *testing.T, c *client, s *server) {
	t.Helper()
	c.answers(func(context.Context, mcp.Message) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"decline"}`), nil
	})
	for range 5 {
		c.called(s.tool("askmany"), `{"keys":["q7","b","zz","a","q1","c","0"]}`, "")
		order := ""
		for range 7 {
			order += mcp.GetString(c.isAsked().Params, "message") + " "
		}
		if order != "q7 b zz a q1 c 0 " {
			t.Fatalf("asked in the order %s", order)
		}
	}
}

// A message is passed to the server whose call it names. A message that names no call is refused if there are several
// servers.
func addressee(t *testing.T, c *client, transport string, servers []*server) {
	t.Helper()
	if _, failure, err := c.request(t.Context(), "vendor/x", "{}"); failure == nil || failure.Code() != mcp.CodeMethodNotFound || !strings.Contains(failure.Error(), "method not found: vendor/x") {
		t.Errorf("several servers, and the answer is %v %v", failure, err)
	}
	for _, s := range servers {
		mark := "addressee-" + transport + "-" + s.name
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = c.calls(ctx, s.tool("hang"), `{"mark":"`+mark+`"}`, `"progressToken":"`+mark+`"`)
		}()
		call := s.hears(t, 1, `"tools/call"`, mark)[0]
		theirs := string(mcp.Get(json.RawMessage(params(call)), "_meta", "progressToken"))
		c.tells("notifications/vendor/about", `{"progressToken":"`+mark+`","mark":"`+mark+`"}`)
		if got := string(mcp.Get(json.RawMessage(params(s.hears(t, 1, "vendor/about", mark)[0])), "progressToken")); got != theirs {
			t.Errorf("%s knows the call by %s and was told of %s", s.name, theirs, got)
		}
		got := c.does("vendor/about", `{"progressToken":"`+mark+`"}`)
		if token := string(mcp.Get(json.RawMessage(got), "params", "progressToken")); token != theirs {
			t.Errorf("%s knows the call by %s and was asked about %s", s.name, theirs, token)
		}
		cancel()
		<-ended
	}
}
