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
	g := startGateway(t, list...)
	for _, transport := range transports {
		for _, s := range []*server{pipes[transport], webs[transport]} {
			t.Run(transport+"_to_"+s.name, func(t *testing.T) {
				t.Parallel()
				p := &path{client: g.client(t, transport, legacy, allCapabilities, s.name), server: s, mark: "mark-" + transport + "-"}
				p.checkVendorMessages()
				p.checkVendorMessagesInCalls()
				p.checkTranslatedIDs()
				p.checkClientReason()
				p.checkServerReason()
				p.checkQuestionProgress()
			})
		}
	}
	t.Run("order", func(t *testing.T) {
		t.Parallel()
		checkQuestionOrder(t, g.client(t, "http", legacy, allCapabilities, ""), later)
	})
	for _, transport := range []string{"http", "stdio"} {
		t.Run("addressee_"+transport, func(t *testing.T) {
			t.Parallel()
			checkAddressee(t, g.client(t, transport, legacy, allCapabilities, ""), transport, []*server{other, web})
		})
	}
	t.Run("modern", func(t *testing.T) {
		t.Parallel()
		for _, transport := range transports {
			c := g.client(t, transport, modern, "{}", "other")
			got := c.mustRequest("vendor/modern", `{"n":1.0}`)
			if mcp.GetString(json.RawMessage(got), "method") != "vendor/modern" || string(mcp.Get(json.RawMessage(got), "params", "n")) != "1.0" ||
				mcp.GetString(json.RawMessage(got), "resultType") != "complete" {
				t.Errorf("%s: answered %s", transport, got)
			}
			c.notify("notifications/vendor/modern", `{"by":"`+transport+`"}`)
			other.awaitReceived(t, 1, "notifications/vendor/modern", transport)
		}
	})
}

// path is a client together with the server that it talks to through Collie.
type path struct {
	*client
	server *server
	mark   string // a text in the messages of this client alone
}

// awaitOwn waits until the server has received a message of this client that contains text, and returns it.
func (p *path) awaitOwn(text string) string {
	p.t.Helper()
	return p.server.awaitReceived(p.t, 1, text, p.mark)[0]
}

// Requests and notifications that MCP does not name pass from the client to the server byte for byte.
func (p *path) checkVendorMessages() {
	p.t.Helper()
	odd := `{"n":1.0,"big":12345678901234567890,"t":"\u00e9\/","progressToken":"nobody's","requestId":99999,"mark":"` + p.mark + `"}`
	if got, want := p.mustRequest("vendor/x", odd), `{"method":"vendor/x","params":`+odd+`}`; got != want {
		p.t.Errorf("answered %s, want %s", got, want)
	}
	if got, want := p.mustRequest("vendor/x", ""), `{"method":"vendor/x","params":null}`; got != want {
		p.t.Errorf("answered %s, want %s", got, want)
	}
	p.notify("notifications/vendor/x", odd)
	if got := params(p.awaitOwn("notifications/vendor/x")); got != odd {
		p.t.Errorf("the server heard %s, want %s", got, odd)
	}
	for _, method := range []string{"collie/confirm", "tasks/list"} { // a method of Collie itself, and one that Collie does not pass on
		_, failure, err := p.request(p.t.Context(), method, "{}")
		if failure == nil || failure.Code() != mcp.CodeMethodNotFound || len(p.server.received(`"method":"`+method)) != 0 {
			p.t.Errorf("%s passed: %v %v", method, failure, err)
		}
	}
}

// Requests and notifications that MCP does not name pass from the server to the client whose call it is answering.
func (p *path) checkVendorMessagesInCalls() {
	p.t.Helper()
	p.setAnswer(func(_ context.Context, m mcp.Message) (json.RawMessage, error) {
		if m.Method == "vendor/refuse" {
			return nil, &mcp.RPCError{Raw: json.RawMessage(`{"code":-5,"message":"no","data":1.0}`)}
		}
		return json.RawMessage(`{"n":1.0,"for":` + string(m.Params) + `}`), nil
	})
	const token, want = `"odd \u00e9"`, `{"a":1.0,"progressToken":"odd \u00e9"}`
	args := `{"notification":"notifications/vendor/y","request":"vendor/y","params":{"a":1.0,"progressToken":"$token"}}`
	if got := p.mustCallTool(p.server.tool("vendor"), args, `"progressToken":`+token); got != `{"n":1.0,"for":`+want+`}` {
		p.t.Errorf("the client was asked with %s, want %s", got, want)
	}
	if got := string(p.awaitNotification("notifications/vendor/y").Params); got != want {
		p.t.Errorf("the client heard %s, want %s", got, want)
	}
	if _, err := p.callTool(p.t.Context(), p.server.tool("vendor"), `{"request":"vendor/refuse"}`, ""); err == nil || err.Error() != `{"code":-5,"message":"no","data":1.0}` {
		p.t.Errorf("a refusal arrived as %v", err)
	}
	if _, err := p.callTool(p.t.Context(), p.server.tool("vendor"), `{"request":"collie/confirm"}`, ""); err == nil || !strings.Contains(err.Error(), "-32601") {
		p.t.Errorf("a server asked as the gateway does: %v", err)
	}
}

// startHangingCall makes a call that lasts until cancel is called. It returns the ids by which the client and the server know it.
func (p *path) startHangingCall(what string) (mine, theirs string, cancel func(error)) {
	p.t.Helper()
	ctx, end := context.WithCancelCause(p.t.Context())
	var id atomic.Uint64
	ended := make(chan struct{})
	args := fmt.Sprintf(`{"name":%q,"arguments":{"what":%q,"mark":%q}}`, p.server.tool("hang"), what, p.mark)
	go func() {
		defer close(ended)
		_, _ = p.Call(ctx, &mcp.Request{Method: "tools/call", Params: json.RawMessage(args), ID: &id})
	}()
	theirs = string(mcp.Get(json.RawMessage(p.awaitOwn(`"what":"`+what)), "id"))
	return fmt.Sprint(id.Load()), theirs, func(cause error) {
		end(cause)
		<-ended
	}
}

// An id of a request in a message is translated from the one that the sender uses to the one that the receiver knows.
func (p *path) checkTranslatedIDs() {
	p.t.Helper()
	mine, theirs, cancel := p.startHangingCall("named")
	p.notify("notifications/vendor/id", `{"requestId":`+mine+`,"mark":"`+p.mark+`"}`)
	if got := string(mcp.Get(json.RawMessage(params(p.awaitOwn("vendor/id"))), "requestId")); got != theirs {
		p.t.Errorf("the server knows the call by %s and heard of %s", theirs, got)
	}
	cancel(errors.New("seen"))
	args := json.RawMessage(`{"name":"` + p.server.tool("vendor") + `","arguments":{"notification":"notifications/vendor/back","params":{"requestId":"$id"}}}`)
	var id atomic.Uint64
	if _, err := p.Call(p.t.Context(), &mcp.Request{Method: "tools/call", Params: args, ID: &id}); err != nil {
		p.t.Fatal(err)
	}
	if got, want := string(mcp.Get(p.awaitNotification("notifications/vendor/back").Params, "requestId")), fmt.Sprint(id.Load()); got != want {
		p.t.Errorf("the client was told of %s, want %s", got, want)
	}
}

// The reason with which a client cancels a request reaches the server, with the server's id.
func (p *path) checkClientReason() {
	p.t.Helper()
	_, theirs, cancel := p.startHangingCall("cancelled")
	cancel(&mcp.TakenBack{Params: json.RawMessage(`{"reason":"I \u00e9 changed","requestId":0,"x":[1.0],"mark":"` + p.mark + `"}`)})
	want := `{"reason":"I \u00e9 changed","requestId":` + theirs + `,"x":[1.0],"mark":"` + p.mark + `"}`
	if got := params(p.awaitOwn("notifications/cancelled")); got != want {
		p.t.Errorf("the server heard %s, want %s", got, want)
	}
}

// The reason with which a server cancels its question reaches the client before the call's answer.
func (p *path) checkServerReason() {
	p.t.Helper()
	given := make(chan error, 1)
	p.setAnswer(func(ctx context.Context, _ mcp.Message) (json.RawMessage, error) {
		p.notify("notifications/vendor/go", "")
		select {
		case <-ctx.Done():
		case <-time.After(limit):
		}
		given <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	if got := p.mustCallTool(p.server.tool("withdraw"), `{"params":{"reason":"it \u00e9 settled","x":[1.0]}}`, ""); got != "withdrawn" {
		p.t.Error(got)
	}
	err := <-given
	var taken *mcp.TakenBack
	if !errors.As(err, &taken) || !strings.HasSuffix(string(taken.Params), `,"reason":"it \u00e9 settled","x":[1.0]}`) {
		p.t.Errorf("the client was told %+v", err)
	}
}

// The progress of a question reaches the server with the server's own token.
func (p *path) checkQuestionProgress() {
	p.t.Helper()
	p.setAnswer(func(_ context.Context, m mcp.Message) (json.RawMessage, error) {
		token := string(mcp.Get(m.Params, "_meta", "progressToken"))
		p.notify("notifications/progress", `{"progressToken":`+token+`,"progress":0.50,"mark":"`+p.mark+`"}`)
		p.awaitOwn("notifications/progress")
		return json.RawMessage(`{"role":"assistant","model":"m","x":` + string(mcp.Get(m.Params, "_meta", "x")) + `,"content":{"type":"text","text":"ok"}}`), nil
	})
	p.notify("notifications/progress", `{"progressToken":"nobody's","progress":1,"mark":"`+p.mark+`"}`)
	if got := p.mustCallTool(p.server.tool("ask"), `{"what":"sampling","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":"mine\u00e9","x":1.0}}}`, ""); !strings.Contains(got, `"x":1.0`) {
		p.t.Errorf("answered %s", got)
	}
	if got, want := params(p.awaitOwn("notifications/progress")), `{"progressToken":"mine\u00e9","progress":0.50,"mark":"`+p.mark+`"}`; got != want {
		p.t.Errorf("the server heard %s, want %s", got, want)
	}
}

// The questions of one input_required result are asked in their order.
func checkQuestionOrder(t *testing.T, c *client, s *server) {
	t.Helper()
	c.setAnswer(func(context.Context, mcp.Message) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"decline"}`), nil
	})
	for range 5 {
		c.mustCallTool(s.tool("askmany"), `{"keys":["q7","b","zz","a","q1","c","0"]}`, "")
		order := ""
		for range 7 {
			order += mcp.GetString(c.awaitQuestion().Params, "message") + " "
		}
		if order != "q7 b zz a q1 c 0 " {
			t.Fatalf("asked in the order %s", order)
		}
	}
}

// A message is passed to the server whose call it names. A message that names no call is refused if there are several
// servers.
func checkAddressee(t *testing.T, c *client, transport string, servers []*server) {
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
			_, _ = c.callTool(ctx, s.tool("hang"), `{"mark":"`+mark+`"}`, `"progressToken":"`+mark+`"`)
		}()
		call := s.awaitReceived(t, 1, `"tools/call"`, mark)[0]
		theirs := string(mcp.Get(json.RawMessage(params(call)), "_meta", "progressToken"))
		c.notify("notifications/vendor/about", `{"progressToken":"`+mark+`","mark":"`+mark+`"}`)
		if got := string(mcp.Get(json.RawMessage(params(s.awaitReceived(t, 1, "vendor/about", mark)[0])), "progressToken")); got != theirs {
			t.Errorf("%s knows the call by %s and was told of %s", s.name, theirs, got)
		}
		got := c.mustRequest("vendor/about", `{"progressToken":"`+mark+`"}`)
		if token := string(mcp.Get(json.RawMessage(got), "params", "progressToken")); token != theirs {
			t.Errorf("%s knows the call by %s and was asked about %s", s.name, theirs, token)
		}
		cancel()
		<-ended
	}
}
