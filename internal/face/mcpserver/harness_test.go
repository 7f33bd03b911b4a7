package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"collie/internal/face/mcpserver"
	"collie/internal/mcp"
	"collie/internal/pipeline"
	"collie/internal/pipeline/audit"
	"collie/internal/pipeline/gate"
	"collie/internal/source"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// world is a face over a real pipeline with a fake source.
type world struct {
	fake   *tooltest.Fake
	server *mcpserver.Server
	stop   func() // closes Options.Stopping
	url    string

	pending string // folder of the calls that wait for a person
}

// newWorld returns a face over a source that has an action, a resource and a prompt for each test.
func newWorld(t *testing.T) *world {
	t.Helper()
	off := tooltest.Action("off")
	off.Off = "because"
	offer := tooltest.Offer("s", tooltest.Action("echo", `"properties":{"n":{"type":"integer"}}`), tooltest.Action("fail"), tooltest.Action("hang"), tooltest.Action("ask"), off)
	offer.Resources = []tool.Resource{tooltest.Resource("s://a"), tooltest.Resource("s://b")}
	offer.Templates = []tool.Template{tooltest.Template("s://item/{id}")}
	offer.Prompts = []tool.Prompt{tooltest.Prompt("greet")}
	offer.Subscribes, offer.Logs, offer.Completes = true, true, true
	fake := tooltest.NewFake("s", offer)
	fake.Hang("hang")
	fake.On("fail", func(context.Context, *tool.Call) (tool.Result, error) { return tooltest.Failed("no"), nil })
	fake.On("s://item/1", func(context.Context, *tool.Call) (tool.Result, error) {
		return tool.Result{}, &tool.ProtocolError{Code: -5, Message: "own", Raw: json.RawMessage(`{"code":-5,"message":"own","x":1.0}`)}
	})
	return serveSource(t, fake, nil)
}

// serveSource returns a face over a real pipeline with this source and these profiles.
func serveSource(t *testing.T, fake *tooltest.Fake, profiles map[string]source.Profile) *world {
	t.Helper()
	w := &world{fake: fake, pending: t.TempDir()}
	log, err := audit.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	catalog := source.New([]tool.Source{w.fake}, source.Options{Quiet: time.Millisecond, Instructions: "Read me.", Profiles: profiles})
	stopping := make(chan struct{})
	w.stop = sync.OnceFunc(func() { close(stopping) })
	w.server = mcpserver.New(pipeline.New(catalog, pipeline.Options{Audit: log, Gate: gate.Options{Dir: w.pending}}), mcpserver.Options{Version: "9", Stopping: stopping})
	handler := w.server.Handler(func(r *http.Request) mcpserver.Client {
		return mcpserver.Client{Principal: "somebody", Origin: tool.MCPRemote, Profile: r.URL.Query().Get("profile")}
	}, mcpserver.Bounds{MaxBody: 1 << 20, MaxSessions: 16})
	web := httptest.NewServer(handler)
	w.url = web.URL
	t.Cleanup(func() {
		w.stop()
		_ = handler.Close()
		web.Close()
		w.server.Close()
		catalog.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// client is an MCP client that records messages and answers requests.
type client struct {
	*mcp.Client
	notifications chan mcp.Message
	answer        func(m mcp.Message) (json.RawMessage, error)
	caps          string // declared capabilities; empty means sampling and elicitation
}

func (c *client) Notification(m mcp.Message, _ any) { c.notifications <- m }

func (c *client) Request(_ context.Context, m mcp.Message, _ any) (json.RawMessage, error) {
	if c.answer == nil {
		return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: m.Method}
	}
	return c.answer(m)
}

// dial opens a session over HTTP.
func (w *world) dial(t *testing.T, protocol string) *client {
	t.Helper()
	return w.dialWith(t, protocol, "")
}

// dialWith is dial with declared capabilities caps.
func (w *world) dialWith(t *testing.T, protocol, caps string) *client {
	t.Helper()
	c := &client{notifications: make(chan mcp.Message, 100), caps: caps}
	return c.connect(t, mcp.DialHTTP(w.url, c, nil), protocol)
}

// dialLines opens a session over lines.
func (w *world) dialLines(t *testing.T, protocol string) *client {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- w.server.ServeLines(t.Context(), toServer, fromServer, toServer.Close, mcpserver.Client{Principal: "me", Origin: tool.MCPLocal})
		_ = fromServer.Close()
	}()
	c := &client{notifications: make(chan mcp.Message, 100)}
	link := mcp.NewConn(mcp.NewLines(toClient, fromClient, 0, sync.OnceValue(func() error {
		_ = fromClient.Close()
		err := <-done
		_ = toClient.Close()
		return err
	})), c, nil)
	return c.connect(t, link, protocol)
}

func (c *client) connect(t *testing.T, link mcp.Link, protocol string) *client {
	t.Helper()
	t.Cleanup(func() {
		if err := link.Close(); err != nil {
			t.Errorf("close the session: %v", err)
		}
	})
	if c.caps == "" {
		c.caps = `{"sampling":{},"elicitation":{}}`
	}
	var err error
	c.Client, err = mcp.Connect(t.Context(), link, mcp.ClientOptions{
		Info: json.RawMessage(`{"name":"test","version":"2"}`), Protocol: protocol,
		Capabilities: json.RawMessage(c.caps),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// request sends a request and returns its result.
func (c *client) request(t *testing.T, method, params string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	raw := c.Own(json.RawMessage(params))
	req := &mcp.Request{Method: method, Params: raw, Name: mcp.GetString(raw, "name")}
	if method == "resources/read" {
		req.Name = mcp.GetString(raw, "uri")
	}
	r, err := c.Call(ctx, req)
	if err != nil {
		return "", err
	}
	if r.Error != nil {
		return "", &mcp.RPCError{Raw: r.Error}
	}
	return string(r.Result), nil
}

// awaitNotification waits for the next notification.
func (c *client) awaitNotification(t *testing.T) string {
	t.Helper()
	select {
	case m := <-c.notifications:
		return m.Method + " " + string(m.Params)
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was told")
		return ""
	}
}
