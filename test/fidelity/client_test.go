package fidelity_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The versions that stand for the eras.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// client is one MCP client of a test. It makes one request at a time.
type client struct {
	t       *testing.T
	version string
	wire    wire
	lastID  int
}

// wire sends a message and returns the response to the request with that id; nil if id is empty, for a notification.
type wire interface {
	exchange(t *testing.T, frame, id, method, name string) []byte
}

const clientInfo = `{"name":"fidelity","version":"1"}`

// newClient returns a client on a wire. In the legacy era it opens a session.
func newClient(t *testing.T, version string, w wire) *client {
	t.Helper()
	c := &client{t: t, version: version, wire: w}
	if version == legacy {
		frame := c.frame("initialize", `{"protocolVersion":"`+legacy+`","capabilities":{},"clientInfo":`+clientInfo+`}`)
		answer := w.exchange(t, frame, "1", "initialize", "")
		if got := string(get(t, answer, "result", "protocolVersion")); got != `"`+legacy+`"` {
			t.Fatalf("initialize answered %s", answer)
		}
		w.exchange(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", "notifications/initialized", "")
	}
	return c
}

// frame returns the next request.
func (c *client) frame(method, params string) string {
	c.lastID++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`, c.lastID, method, params)
}

// request makes a request and returns the bytes of its result or of its error. params are the members
// of an object; the members that the era requires are added unless they are there.
func (c *client) request(method, name, params string) (result, failure []byte) {
	c.t.Helper()
	if c.version == modern && !strings.Contains(params, modernMeta) {
		params += strings.Repeat(",", min(len(params), 1)) + `"_meta":{` + modernMeta + `}`
	}
	frame := c.frame(method, "{"+params+"}")
	answer := c.wire.exchange(c.t, frame, fmt.Sprint(c.lastID), method, name)
	var seen []string
	for _, m := range members(c.t, answer) {
		seen = append(seen, m.name)
	}
	result, failure = get(c.t, answer, "result"), get(c.t, answer, "error")
	if len(seen) != 3 || string(get(c.t, answer, "id")) != fmt.Sprint(c.lastID) || string(get(c.t, answer, "jsonrpc")) != `"2.0"` || (result == nil) == (failure == nil) {
		c.t.Fatalf("no response to request %d but %.300s", c.lastID, answer)
	}
	return result, failure
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientInfo":` + clientInfo +
	`,"io.modelcontextprotocol/clientCapabilities":{}`

// mustResult is request for requests that should succeed.
func (c *client) mustResult(method, name, params string) []byte {
	c.t.Helper()
	result, failure := c.request(method, name, params)
	if failure != nil {
		c.t.Fatalf("%s %s: %s", method, name, failure)
	}
	return result
}

// call calls a tool with arguments that are a JSON text.
func (c *client) call(tool, args string) []byte {
	c.t.Helper()
	return c.mustResult("tools/call", tool, `"name":`+quote(c.t, tool)+`,"arguments":`+args)
}

// pipes is the wire to a process.
type pipes struct {
	in  io.Writer
	out *bufio.Reader
}

// startProcess starts a program that speaks MCP on stdio, until the test ends.
func startProcess(t *testing.T, program string, args ...string) wire {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Cancel = func() error { return in.Close() } // the end of its input is how to stop it
	cmd.WaitDelay = 15 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); errors.Is(err, exec.ErrWaitDelay) {
			t.Errorf("%s did not end with its input", program)
		}
		if t.Failed() {
			t.Logf("stderr of %s:\n%s", program, stderr.String())
		}
	})
	return &pipes{in: in, out: bufio.NewReaderSize(out, 1<<20)}
}

func (p *pipes) exchange(t *testing.T, frame, id, _, _ string) []byte {
	t.Helper()
	if _, err := io.WriteString(p.in, frame+"\n"); err != nil {
		t.Fatal(err)
	}
	for id != "" {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the answer to %.200s: %v", frame, err)
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if string(get(t, line, "id")) == id {
			return line
		}
	}
	return nil
}

// web is the wire to an HTTP endpoint.
type web struct {
	url, version, session string
	client                *http.Client
}

// newWeb returns the wire to a Collie, or a server, at url.
func newWeb(t *testing.T, url, version string) wire {
	t.Helper()
	w := &web{url: url, version: version, client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(w.client.CloseIdleConnections)
	return w
}

func (w *web) exchange(t *testing.T, frame, id, method, name string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, strings.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	switch {
	case w.version == modern:
		r.Header.Set("MCP-Protocol-Version", modern)
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	case w.session != "":
		r.Header.Set("MCP-Protocol-Version", legacy)
		r.Header.Set("Mcp-Session-Id", w.session)
	}
	resp, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		w.session = s
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("the answer to %.200s: %v", frame, err)
	}
	if id == "" {
		return nil
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return eventOf(t, body, id)
	}
	return body
}

// eventOf finds the event that answers request id.
func eventOf(t *testing.T, body []byte, id string) []byte {
	t.Helper()
	for event := range bytes.SplitSeq(body, []byte("\n\n")) {
		var data []byte
		for line := range bytes.SplitSeq(event, []byte("\n")) {
			if rest, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				data = append(data, rest...)
			}
		}
		if len(data) > 0 && string(get(t, data, "id")) == id {
			return data
		}
	}
	t.Fatalf("the stream has no answer: %.300s", body)
	return nil
}
