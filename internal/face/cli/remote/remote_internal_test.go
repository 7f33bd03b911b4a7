package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/web/webtest"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// serveGateway serves a source behind a real pipeline and the real API, and returns a client for it.
func serveGateway(t *testing.T, src tool.Source) *Client {
	t.Helper()
	url, key := webtest.Serve(t, src)
	r := New(&config.Config{}, home.Gateway{URL: url, Control: key}, nil)
	t.Cleanup(r.Close)
	return r
}

// Tools, lists and servers arrive as the gateway has them, and only with its control key.
func TestRemoteReads(t *testing.T) {
	t.Parallel()
	action := tooltest.Action("log", `"properties":{"a":{"pattern":"<&>"}}`)
	action.Off = "not today"
	r := serveGateway(t, tooltest.NewFake("git", tooltest.Offer("git", action, tooltest.Action("push"))))
	ctx := t.Context()
	tools, err := r.Tools(ctx, "")
	if err != nil || len(tools) != 1 || len(tools[0].Actions) != 2 {
		t.Fatalf("Tools = %+v, %v", tools, err)
	}
	if diff := cmp.Diff(action, tools[0].Actions[0]); diff != "" {
		t.Errorf("an action changed on the way:\n%s", diff)
	}
	raw, err := r.List(ctx, tool.ListTools, "@grouped")
	if err != nil || !strings.HasPrefix(string(raw), `{"tools":[{"name":"git"`) {
		t.Errorf("List = %s, %v", raw, err)
	}
	if servers, err := r.Servers(ctx); err != nil || len(servers) != 1 || servers[0].Name != "git" {
		t.Errorf("Servers = %+v, %v", servers, err)
	}
	r.Gateway.Control = "wrong"
	if _, err := r.Servers(ctx); tool.KindOf(err) != tool.Denied {
		t.Errorf("Servers with a wrong key = %v, want kind %s", err, tool.Denied)
	}
}

// newCallRequest returns a request for a call.
func newCallRequest(name, args string, caller tool.Caller) tool.Request {
	return tool.Request{Kind: tool.KindCall, Name: name, Args: json.RawMessage(args), Caller: caller}
}

// Arguments and results pass the gateway byte for byte, and the call is one of the person at the terminal.
func TestRemoteKeepsTheBytes(t *testing.T) {
	t.Parallel()
	const args, result = `{ "a":1.0,"b":"<\u00e9>" }`, `{ "content":[] ,"n":12345678901234567890,"t":"<\u00e9>"}`
	src := tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log")))
	src.On("log", func(_ context.Context, c *tool.Call) (tool.Result, error) {
		if string(c.Args) != args {
			t.Errorf("arguments are %s, want %s", c.Args, args)
		}
		if c.Origin != tool.Direct || c.Principal != "me" {
			t.Errorf("the call comes from %s %s, want direct me", c.Origin, c.Principal)
		}
		return tool.Result{Raw: json.RawMessage(result), IsError: true}, nil
	})
	got, err := serveGateway(t, src).Call(t.Context(), newCallRequest("git/log", args, nil))
	if err != nil || string(got.Raw) != result || !got.IsError {
		t.Errorf("Call = %s, %t, %v, want %s, true", got.Raw, got.IsError, err, result)
	}
}

// Errors of the pipeline, of a source and of a server arrive with everything they say.
func TestRemoteErrors(t *testing.T) {
	t.Parallel()
	src := tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log", `"required":["path"]`), tooltest.Action("push"), tooltest.Action("pull")))
	own := &tool.Error{
		Op: "call", Kind: kernel.API, Code: "no_effect", Subject: "git.pull", Message: "m", Hint: "h", RetryAfter: 1500 * time.Millisecond,
		Facts: map[string]any{"id": 12345678901234567, "list": []string{"<é>"}},
	}
	src.On("pull", func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{}, own })
	src.On("push", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, &tool.ProtocolError{Code: 7, Message: "no", Raw: json.RawMessage(`{"code":7,"message":"no","x":[1]}`)}
	})
	r := serveGateway(t, src)
	_, err := r.Call(t.Context(), newCallRequest("git/log", "{}", nil))
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.Invalid || len(e.Fields) != 1 || e.Fields[0].Path != "/path" {
		t.Errorf("Call without path = %v", err)
	}
	_, err = r.Call(t.Context(), newCallRequest("git/pull", "{}", nil))
	if e, ok := errors.AsType[*tool.Error](err); !ok || string(e.Payload()) != string(own.Payload()) || e.RetryAfter != own.RetryAfter {
		t.Errorf("Call = %+v, want what the source said", err)
	}
	_, err = r.Call(t.Context(), newCallRequest("git/push", "{}", nil))
	if e, ok := errors.AsType[*tool.ProtocolError](err); !ok || e.Code != 7 || string(e.Raw) != `{"code":7,"message":"no","x":[1]}` {
		t.Errorf("Call = %v, want the server's own error", err)
	}
}

// scripted is a caller that answers questions and records notifications.
type scripted struct {
	mu   sync.Mutex
	told []string
}

func (*scripted) Supports(tool.Capability) bool { return true }

func (*scripted) ID() string { return "" }

func (*scripted) Capabilities() json.RawMessage {
	return json.RawMessage(`{"elicitation":{"form":{}}}`)
}

func (s *scripted) Notify(_ context.Context, method string, params json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, method+" "+string(params))
}

func (*scripted) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "elicitation/create" {
		return nil, tool.NewProtocolError(CodeMethod, "cannot", nil)
	}
	return json.RawMessage(`{"action":"accept","content":` + string(params) + `}`), nil
}

// While a call runs, its caller gets notifications and answers questions.
func TestRemoteCallerIsToldAndAsked(t *testing.T) {
	t.Parallel()
	src := tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log")))
	src.On("log", func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		if !c.Caller.Supports(tool.CanElicit) || c.Caller.Supports(tool.CanSample) || !c.Caller.Supports(tool.WantsProgress) {
			t.Error("what the caller can do did not arrive")
		}
		c.Caller.Notify(ctx, "notifications/progress", json.RawMessage(`{"progress":1}`))
		answer, err := c.Caller.Ask(ctx, "elicitation/create", json.RawMessage(`{"q":"<?>"}`))
		if err != nil {
			return tool.Result{}, err
		}
		_, err = c.Caller.Ask(ctx, "roots/list", nil)
		if e, ok := errors.AsType[*tool.ProtocolError](err); !ok || e.Code != CodeMethod || e.Message != "cannot" {
			t.Errorf("Ask of what the caller cannot = %v", err)
		}
		return tool.Result{Raw: answer}, nil
	})
	s := &scripted{}
	c := newCallRequest("git/log", "{}", s)
	c.Params = json.RawMessage(`{"_meta":{"progressToken":"x"}}`)
	got, err := serveGateway(t, src).Call(t.Context(), c)
	if err != nil || string(got.Raw) != `{"action":"accept","content":{"q":"<?>"}}` {
		t.Errorf("Call = %s, %v", got.Raw, err)
	}
	if diff := cmp.Diff([]string{`notifications/progress {"progress":1}`}, s.told); diff != "" {
		t.Error(diff)
	}
}

// A call that its caller gives up is cancelled in the gateway too.
func TestRemoteCancel(t *testing.T) {
	t.Parallel()
	src := tooltest.NewFake("git", tooltest.Offer("git", tooltest.Action("log")))
	running, ended := make(chan struct{}), make(chan error, 1)
	src.On("log", func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
		close(running)
		<-ctx.Done()
		ended <- ctx.Err()
		return tool.Result{}, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-running
		cancel()
	}()
	_, err := serveGateway(t, src).Call(ctx, newCallRequest("git/log", "{}", &scripted{}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Call = %v, want it cancelled", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the action ended by %v, want it cancelled", err)
	}
}

// If the gateway ends during a call, nobody knows whether the call took effect, and the error says so.
func TestRemoteThatGoesAway(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"notify\":{\"method\":\"x\"}}\n")
		_ = conn.Close()
	}))
	t.Cleanup(srv.Close)
	r := New(&config.Config{}, home.Gateway{URL: srv.URL}, nil)
	t.Cleanup(r.Close)
	_, err := r.Call(t.Context(), newCallRequest("git/log", "{}", nil))
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.Unavailable || !e.OutcomeUnknown || e.Hint != "" {
		t.Errorf("Call = %v, want kind %s, an unknown outcome and no advice to call again", err, tool.Unavailable)
	}
	srv.Close()
	r.Close()
	_, err = r.Call(t.Context(), newCallRequest("git/log", "{}", nil))
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.Unavailable || e.OutcomeUnknown || e.Hint == "" {
		t.Errorf("Call = %v, want kind %s and a known outcome", err, tool.Unavailable)
	}
	if r.Alive(t.Context()) {
		t.Error("a gateway that is gone counts as alive")
	}
	if _, err := r.Servers(t.Context()); tool.KindOf(err) != tool.Unavailable {
		t.Errorf("Servers = %v, want kind %s", err, tool.Unavailable)
	}
}

// A refusal before the call was read must not wait for the rest of the request, because the caller is waiting
// for the answer.
func TestRemoteThatRefuses(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write((&tool.Error{Kind: tool.Denied, Message: "who are you?"}).Payload())
	}))
	t.Cleanup(srv.Close)
	r := New(&config.Config{}, home.Gateway{URL: srv.URL}, nil)
	t.Cleanup(r.Close)
	if _, err := r.Call(t.Context(), newCallRequest("git/log", "{}", nil)); tool.KindOf(err) != tool.Denied {
		t.Errorf("Call = %v, want kind %s", err, tool.Denied)
	}
}

// Logs of a server are read once or followed, and errors end them.
func TestRemoteLogs(t *testing.T) {
	t.Parallel()
	r := serveGateway(t, tooltest.NewFake("git", tooltest.Offer("git")))
	read := func(ctx context.Context, name string, f tool.LogFilter, each func(tool.LogLine)) error {
		for line, err := range r.Logs(ctx, name, f) {
			if err != nil {
				return err
			}
			each(line)
		}
		return nil
	}
	var got []string
	keep := func(l tool.LogLine) { got = append(got, l.Stream+" "+l.Text) }
	f := tool.LogFilter{Last: 3, Streams: []string{"a", "b"}, Since: time.Unix(7, 0)}
	if err := read(t.Context(), "git", f, keep); err != nil || len(got) != 1 || got[0] != "stderr <hello> 3 [a b] 7" {
		t.Errorf("got %q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	got = nil
	err := read(ctx, "git", tool.LogFilter{Follow: true}, func(l tool.LogLine) {
		if keep(l); l.Text == "你好" {
			cancel()
		}
	})
	if err != nil || len(got) != 2 {
		t.Errorf("followed %q, %v", got, err)
	}
	if err := read(t.Context(), "git", tool.LogFilter{Follow: true, Last: 13}, keep); tool.KindOf(err) != tool.Internal || !strings.Contains(err.Error(), "bad luck") {
		t.Errorf("an error in the middle: %v", err)
	}
	for _, follow := range []bool{false, true} {
		if err := read(t.Context(), "x", tool.LogFilter{Follow: follow}, keep); tool.KindOf(err) != tool.NotFound {
			t.Errorf("of nobody: %v", err)
		}
	}
}
