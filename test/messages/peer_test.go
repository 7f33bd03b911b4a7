package messages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/mcp"
	"collie/internal/mcp/mcptest"
	"collie/test/await"
	"collie/test/binary"
)

// limit is how long a test waits for something that should happen at once, because the machine may be busy.
const limit = await.Limit

func TestMain(m *testing.M) {
	mcptest.RunIfChild()
	os.Exit(m.Run())
}

// server is a fakemcp behind Collie, which records in a file what it receives.
type server struct {
	name, entry, record string
}

// tool returns the name by which clients of Collie see a tool of the server.
func (s *server) tool(name string) string { return s.name + "__" + name }

// newServer describes a server of an era, over stdio or HTTP. more are members of its entry.
func newServer(t *testing.T, name, era string, http bool, more string, flags ...string) *server {
	t.Helper()
	s := &server{name: name, record: filepath.Join(t.TempDir(), "heard")}
	flags = append(flags, "--era="+era, "--scheme="+name, "--record="+s.record)
	if http {
		s.entry = `{"url":` + strconv.Quote(mcptest.StartHTTP(t, append(flags, "--sse")...)) + more + `}`
		return s
	}
	s.entry = `{"command":` + strconv.Quote(mcptest.Build(t)) + `,"args":["` + strings.Join(flags, `","`) + `"]` + more + `}`
	return s
}

// received returns the messages that the server has received and that contain all texts.
func (s *server) received(texts ...string) (out []string) {
	heard, err := os.ReadFile(s.record)
	if err != nil {
		return nil
	}
next:
	for line := range strings.Lines(string(heard)) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// awaitReceived waits until the server has received n messages with all texts, and returns them.
func (s *server) awaitReceived(t *testing.T, n int, texts ...string) []string {
	t.Helper()
	var lines []string
	await.Until(t, fmt.Sprintf("%s hears %d × %q", s.name, n, texts), func() bool {
		lines = s.received(texts...)
		return len(lines) >= n
	}, func() string { return strings.Join(s.received(), "\n") })
	return lines
}

// params returns the parameters of a recorded message.
func params(line string) string { return string(mcp.Get(json.RawMessage(line), "params")) }

// gateway is a running `collie serve` in front of servers.
type gateway struct{ program, config, home, url string }

// startGateway starts a gateway in front of these servers. Each server also has a profile of its own name that shows it
// alone.
func startGateway(t *testing.T, servers ...*server) *gateway {
	t.Helper()
	var entries, profiles []string
	for _, s := range servers {
		entries = append(entries, strconv.Quote(s.name)+":"+s.entry)
		profiles = append(profiles, `"`+s.name+`":{"tools":["`+s.name+`"]}`) // each server in a view of its own
	}
	g := &gateway{program: binary.Build(t, binary.Collie), config: filepath.Join(t.TempDir(), "collie.json"), home: t.TempDir()}
	settings := `{"siyuan":{"enabled":false},"cache":{"firstListWait":"20s"},"profiles":{` + strings.Join(profiles, ",") + `},"mcpServers":{` + strings.Join(entries, ",") + `}}`
	if err := os.WriteFile(g.config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	g.url = binary.Serve(t, g.program, g.config, "--home", g.home)
	return g
}

// client is an MCP client of the gateway. It records what it receives, and answers questions with answer.
type client struct {
	*mcp.Client
	t      *testing.T
	told   chan mcp.Message
	asked  chan mcp.Message
	answer atomic.Pointer[answer]
}

// answer answers a question that a client is asked.
type answer func(ctx context.Context, m mcp.Message) (json.RawMessage, error)

// setAnswer sets how c answers all further questions.
func (c *client) setAnswer(a answer) { c.answer.Store(&a) }

func (c *client) Notification(m mcp.Message, _ any) { c.told <- m }

func (c *client) Request(ctx context.Context, m mcp.Message, _ any) (json.RawMessage, error) {
	c.asked <- m
	a := c.answer.Load()
	if a == nil {
		return nil, &mcp.Error{Code: mcp.CodeMethodNotFound, Message: m.Method}
	}
	return (*a)(ctx, m)
}

// allCapabilities are the capabilities of a client that can be asked everything.
const allCapabilities = `{"sampling":{},"elicitation":{"form":{}},"roots":{"listChanged":true}}`

// client opens a session over the transport http, stdio or bridge, with a profile; "" means the default profile.
func (g *gateway) client(t *testing.T, transport, version, caps, profile string) *client {
	t.Helper()
	c := &client{t: t, told: make(chan mcp.Message, 999), asked: make(chan mcp.Message, 999)}
	var link mcp.Link
	if transport == "http" {
		url := g.url
		if profile != "" {
			url += "?profile=" + profile
		}
		link = mcp.DialHTTP(url, c, &mcp.HTTPOptions{Transport: &http.Transport{}})
	} else {
		home := t.TempDir()
		if transport == "bridge" { // in the home of the gateway, `collie stdio` becomes a bridge to it
			home = g.home
		}
		cmd := exec.CommandContext(t.Context(), g.program, "stdio", "--home", home, "--config", g.config, "--profile", profile)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Cancel, cmd.WaitDelay = in.Close, 15*time.Second
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait()
			if t.Failed() {
				t.Logf("%s: stderr:\n%s", transport, stderr.String())
			}
		})
		link = mcp.NewConn(mcp.NewLines(out, in, 0, in.Close), c, nil)
	}
	t.Cleanup(func() { _ = link.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var err error
	c.Client, err = mcp.Connect(ctx, link, mcp.ClientOptions{
		Info: json.RawMessage(`{"name":"raw","version":"1"}`), Protocol: version, Capabilities: json.RawMessage(caps),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// request sends a request and returns its result or the error object.
func (c *client) request(ctx context.Context, method, params string) (result string, failure *mcp.RPCError, err error) {
	raw := json.RawMessage(params)
	if params == "" {
		raw = nil
	}
	if c.Era == mcp.Modern {
		raw = c.Own(raw)
	}
	r, err := c.Call(ctx, &mcp.Request{Method: method, Params: raw, Name: mcp.GetString(raw, "name")})
	if err != nil {
		return "", nil, err
	}
	if r.Error != nil {
		return "", &mcp.RPCError{Raw: r.Error}, nil
	}
	return string(r.Result), nil, nil
}

// mustRequest is request for a request that should succeed.
func (c *client) mustRequest(method, params string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	result, failure, err := c.request(ctx, method, params)
	if failure != nil || err != nil {
		c.t.Fatalf("%s %s: %v %v", method, params, failure, err)
	}
	return result
}

// callTool calls a tool and returns the text of its result. meta are members of _meta.
func (c *client) callTool(ctx context.Context, tool, args, meta string) (string, error) {
	result, failure, err := c.request(ctx, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{%s}}`, tool, args, meta))
	if err != nil {
		return "", err
	}
	if failure != nil {
		return "", failure
	}
	var body struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(result), &body); err != nil || len(body.Content) != 1 {
		return "", fmt.Errorf("%s: %w", result, err)
	}
	if body.IsError {
		return "", errors.New(body.Content[0].Text)
	}
	return body.Content[0].Text, nil
}

// mustCallTool is callTool for a call that must succeed.
func (c *client) mustCallTool(tool, args, meta string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), limit)
	defer cancel()
	text, err := c.callTool(ctx, tool, args, meta)
	if err != nil {
		c.t.Fatalf("%s %s: %v", tool, args, err)
	}
	return text
}

// awaitNotification waits for a notification of a method.
func (c *client) awaitNotification(method string) mcp.Message {
	c.t.Helper()
	end := time.After(limit)
	for {
		select {
		case m := <-c.told:
			if m.Method == method {
				return m
			}
		case <-end:
			c.t.Fatalf("%s did not come", method)
		}
	}
}

// awaitQuestion waits for the next question to the client and returns it.
func (c *client) awaitQuestion() mcp.Message {
	c.t.Helper()
	select {
	case m := <-c.asked:
		return m
	case <-time.After(limit):
		c.t.Fatal("nobody asked")
		return mcp.Message{}
	}
}

// notify sends a notification.
func (c *client) notify(method, params string) {
	c.t.Helper()
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	if err := c.Link.Notify(c.t.Context(), method, raw); err != nil {
		c.t.Fatal(err)
	}
}
