package acceptance_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/test/gateway"
)

// The dangerous call of these tests. It changes nothing, so it can be repeated.
const dangerousCall = `"name":"system","arguments":{"action":"workspace_info"}`

// confirmCaller is one kind of caller, which makes the dangerous call over a public interface.
type confirmCaller struct {
	name string
	// who is the identity that the gateway gives the caller. Callers with the same who share their approvals.
	who string
	// call makes the call. asked receives each question that arrives while it runs.
	call func(t *testing.T, asked func(q gjson.Result)) gjson.Result
}

// keyedGateway is a gateway with its keys: the token of MCP clients, the control key of Collie's own commands, and the key that
// collie stdio uses as a bridge.
type keyedGateway struct {
	*gateway.Gateway
	token, control, bridge string
}

func newKeyedGateway(t *testing.T, g *gateway.Gateway) *keyedGateway {
	t.Helper()
	s := &keyedGateway{Gateway: g}
	s.token, s.control, s.bridge = g.Keys(t)
	return s
}

// post sends one request to the gateway and returns the answer with its body still to be read.
func (s *keyedGateway) post(t *testing.T, path, key, body string, head ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// answerOf reads the response to a JSON-RPC request, which is the whole body or the last event of a stream. It passes
// the questions in the stream to asked, which may be nil.
func answerOf(t *testing.T, resp *http.Response, asked func(q gjson.Result)) gjson.Result {
	t.Helper()
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return gjson.ParseBytes(raw)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		m := gjson.Parse(strings.TrimSpace(data))
		switch {
		case !ok || !m.IsObject():
		case m.Get("method").Exists() && m.Get("id").Exists() && asked != nil:
			asked(m)
		case m.Get("result").Exists() || m.Get("error").Exists():
			return m
		}
	}
	t.Fatalf("the stream ended without an answer: %v", lines.Err())
	return gjson.Result{}
}

// senderMeta returns the metadata of a modern request about its sender. The name "-" stands for no name.
func senderMeta(name, capabilities string) string {
	info := fmt.Sprintf(`"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},`, name)
	if name == "-" {
		info = ""
	}
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` + info + `"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// callModern makes a call with params over HTTP, as a modern client with that name and key.
func (s *keyedGateway) callModern(t *testing.T, key, name, capabilities, params string, head ...string) gjson.Result {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `,` + senderMeta(name, capabilities) + `}}`
	head = append([]string{"MCP-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "system"}, head...)
	return answerOf(t, s.post(t, "/mcp", key, body, head...), nil)
}

// legacySession is a legacy session over HTTP.
type legacySession struct {
	*keyedGateway
	key, id string
	last    atomic.Int64 // request
}

// openLegacy opens a legacy session with a key. head are further header fields, name and value by turns.
func (s *keyedGateway) openLegacy(t *testing.T, key, capabilities string, head ...string) *legacySession {
	t.Helper()
	resp := s.post(t, "/mcp", key, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+
		capabilities+`,"clientInfo":{"name":"editor","version":"1"}}}`, head...)
	answerOf(t, resp, nil)
	return &legacySession{keyedGateway: s, key: key, id: resp.Header.Get("Mcp-Session-Id")}
}

func (s *legacySession) call(t *testing.T, asked func(q gjson.Result)) gjson.Result {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s}}`, s.last.Add(1), dangerousCall)
	return answerOf(t, s.post(t, "/mcp", s.key, body, "Mcp-Session-Id", s.id), asked)
}

// reply answers the question with that id, even one asked in another session, and returns the HTTP status.
func (s *legacySession) reply(t *testing.T, id gjson.Result, result string) int {
	t.Helper()
	resp := s.post(t, "/mcp", s.key, `{"jsonrpc":"2.0","id":`+id.Raw+`,"result":`+result+`}`, "Mcp-Session-Id", s.id)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// stdioClient is a client that has started collie stdio.
type stdioClient struct {
	*gateway.Process
	era, capabilities string
	lines             chan gjson.Result

	mu sync.Mutex
	id int
}

// connectStdio connects to a running collie stdio. In the legacy era it opens a session.
func connectStdio(t *testing.T, p *gateway.Process, era, capabilities string) *stdioClient {
	t.Helper()
	out := &stdioClient{Process: p, era: era, capabilities: capabilities, lines: make(chan gjson.Result, 64)}
	go func() { // ends with the process
		defer close(out.lines)
		lines := bufio.NewScanner(p.Stdout)
		lines.Buffer(nil, 4<<20)
		for lines.Scan() {
			out.lines <- gjson.ParseBytes(bytes.Clone(lines.Bytes()))
		}
	}()
	if era == legacy {
		out.writeLine(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+
			`,"clientInfo":{"name":"editor","version":"1"}}}`)
		out.awaitAnswer(t, "0", nil)
		out.writeLine(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return out
}

func (p *stdioClient) writeLine(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.Stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// awaitAnswer waits for the answer to the request with that id, and passes questions that come before it to asked.
func (p *stdioClient) awaitAnswer(t *testing.T, id string, asked func(q gjson.Result)) gjson.Result {
	t.Helper()
	late := time.After(waitLimit)
	for {
		select {
		case m, ok := <-p.lines:
			switch {
			case !ok:
				t.Fatalf("the pipe has ended: %s", p.Stderr())
			case m.Get("method").Exists():
				if m.Get("id").Exists() && asked != nil {
					asked(m)
				}
			case m.Get("id").Raw == id:
				return m
			}
		case <-late:
			t.Fatalf("no answer to request %s", id)
		}
	}
}

func (p *stdioClient) call(t *testing.T, asked func(q gjson.Result)) gjson.Result {
	t.Helper()
	return p.send(t, dangerousCall, asked)
}

func (p *stdioClient) send(t *testing.T, params string, asked func(q gjson.Result)) gjson.Result {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id++
	if p.era == modern {
		params += "," + senderMeta("editor", p.capabilities)
	}
	p.writeLine(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s}}`, p.id, params))
	return p.awaitAnswer(t, fmt.Sprint(p.id), asked)
}

// callAPI makes the dangerous call at /api/v1/calls: in one request, or as a dialogue that answers every question with a
// yes. It returns the method of the last question, and the answer.
func (s *keyedGateway) callAPI(t *testing.T, key string, dialogue bool, more string) (asked string, last gjson.Result) {
	t.Helper()
	first := `{"name":"system","args":{"action":"workspace_info"}` + more + `}`
	if !dialogue {
		return "", answerOf(t, s.post(t, "/api/v1/calls", key, first), nil)
	}
	body, say := io.Pipe()
	defer say.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/v1/calls", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/x-ndjson")
	go func() { _, _ = io.WriteString(say, first+"\n") }() // ends when it is read, or with the pipe
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		last = gjson.ParseBytes(bytes.Clone(lines.Bytes()))
		q := last.Get("ask")
		if !q.Exists() {
			return asked, last
		}
		asked = q.Get("method").String()
		_, _ = io.WriteString(say, `{"id":`+q.Get("id").Raw+`,"result":{"confirm":true,"action":"accept","content":{"confirm":true}}}`+"\n")
	}
	t.Fatalf("no answer: %v", lines.Err())
	return "", last
}

// outcomeOf returns the outcome of a call: "ran", "asked", "code CODE", the type of one of Collie's errors, or "refused
// CODE" for a JSON-RPC error.
func outcomeOf(m gjson.Result) string {
	if e := m.Get("error"); e.Get("code").Type == gjson.Number {
		return "refused " + e.Get("code").Raw
	}
	if m.Get("result.resultType").String() == "input_required" {
		return "asked"
	}
	payload := m // of the API
	if text := m.Get("result.content.0.text"); m.Get("result.isError").Bool() {
		payload = gjson.Parse(text.String())
	}
	switch e := payload.Get("error"); {
	case e.Get("confirmationCode").Exists():
		return "code " + e.Get("confirmationCode").String()
	case e.Exists():
		return e.Get("type").String()
	case m.Get("result").Exists() && json.Valid([]byte(m.Raw)):
		return "ran"
	}
	return "nothing: " + m.Raw
}
