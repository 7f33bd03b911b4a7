package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/pipeline/gate"
	"collie/test/await"
	"collie/test/fakellm/provider"
	"collie/test/gateway"
)

// countingServer is an MCP server with a tool that runs commands. It counts its calls.
type countingServer struct {
	*httptest.Server
	calls atomic.Int32
}

func newCountingServer(t *testing.T) *countingServer {
	t.Helper()
	s := &countingServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		m := gjson.ParseBytes(raw)
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Get("method").String() {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"run","description":"Runs a command.","inputSchema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`
		case "tools/call":
			s.calls.Add(1)
			answer = `"result":{"content":[{"type":"text","text":"done"}]}`
		}
		if !m.Get("id").Exists() {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.Get("id").Raw, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// strictGateway is a gateway that enforces the firewall's rules for every origin. Its guardian, a second model that reviews calls,
// finds nothing wrong with any call.
type strictGateway struct {
	*gateway.Gateway
	gateway.Programs
	settings        string
	token, bridge   string
	control         string
	server          *countingServer
	model, guardian *provider.Server
}

// startStrictGateway starts the gateway. Its model calls the tool that runs commands with this command.
func startStrictGateway(t *testing.T, command string) *strictGateway {
	t.Helper()
	s := &strictGateway{Programs: gateway.LinkPrograms(t), server: newCountingServer(t)}
	start := func(script provider.Script) (*provider.Server, string) {
		fake, err := provider.New(script, provider.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := httptest.NewServer(fake)
		t.Cleanup(at.Close)
		return fake, fmt.Sprintf(`{"kind":"openai","baseURL":%q,"keys":[{"label":"a","secret":"x"}]}`, at.URL+"/v1")
	}
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	model, first := start(scriptOf(callTurn("shell__run", string(args)), provider.Turn{Say: "got $RESULTS"}))
	second, other := start(scriptOf(provider.Turn{Say: `{"risk":"none","categories":["fine"],"reason":"fine","confidence":1}`}))
	s.model, s.guardian = model, second
	s.settings = s.Settings(t, []gateway.Server{{Name: "shell", Entry: fmt.Sprintf(`{"url":%q}`, s.server.URL)}},
		`"providers":{"fake":`+first+`,"second":`+other+`}`, `"agent":{"model":"fake/m"}`,
		`"guard":{"clients":"enforce","guardian":{"mode":"enforce","model":"second/m"}}`)
	s.Gateway = s.Serve(t, s.settings)
	s.AwaitReady(t)
	s.token, s.control, s.bridge = s.Keys(t)
	writeFakeAgent(t, s.Home)
	return s
}

// wayToCall is a way to make a call without a person who could be asked. Its name begins with the origin of the call.
type wayToCall struct {
	name string
	call func(t *testing.T, s *strictGateway, command string) string // the outcome
}

// waysToCall returns the ways to make a call, at least one for each origin.
func waysToCall() []wayToCall {
	postCall := func(path, body string, token func(*strictGateway) string, head ...string) func(*testing.T, *strictGateway, string) string {
		return func(t *testing.T, s *strictGateway, command string) string {
			t.Helper()
			quoted, err := json.Marshal(command)
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(strings.ReplaceAll(body, "COMMAND", string(quoted))))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token(s))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for i := 0; i < len(head); i += 2 {
				r.Header.Set(head[i], head[i+1])
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			raw, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
	}
	runCommand := func(args ...string) func(*testing.T, *strictGateway, string) string {
		return func(t *testing.T, s *strictGateway, command string) string {
			t.Helper()
			line := slices.Clone(args)
			for i := range line {
				line[i] = strings.ReplaceAll(line[i], "COMMAND", command)
			}
			out, errs, _ := s.Run(t, s.Home, append(line, "--config", s.settings)...)
			return out + errs
		}
	}
	const arguments = `{"command":"COMMAND"}`
	const api = `{"name":"shell__run","args":{"command":COMMAND}}`
	const mcp = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shell__run","arguments":{"command":COMMAND},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"e","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	modern := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "shell__run"}
	token := func(s *strictGateway) string { return s.token }
	return []wayToCall{
		{"direct, a command", runCommand("call", "shell__run", "--command", "COMMAND", "--json")},
		{"direct, control key", postCall("/api/v1/calls", api, func(s *strictGateway) string { return s.control })},
		{"chat", runCommand("agent", "run", "go on")},
		{"chat, alone", runCommand("agent", "run", "go on", "--local")},
		{"mcp-local, token", postCall("/api/v1/calls", api, token)},
		{"mcp-local, bridge", postCall("/api/v1/calls", api, func(s *strictGateway) string { return s.bridge })},
		{"mcp-local", postCall("/mcp", mcp, token, modern...)},
		{"mcp-remote", postCall("/mcp", mcp, token, append(modern, "X-Forwarded-For", "192.0.2.1")...)},
		{"cli-agent", runCommand("agent", "run", "mcp shell__run "+arguments, "--agent", "fake")},
		{"cli-agent, alone", runCommand("agent", "run", "mcp shell__run "+arguments, "--agent", "fake", "--local")},
	}
}

// TestNobodyThere makes a call that needs a confirmation in all ways in which no person can be asked. Each is refused at
// once with the same form of error. The error tells clients of MCP how a person can confirm the call, and others how it
// can be allowed beforehand.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	const command = "make deploy"
	s := startStrictGateway(t, command)
	for _, e := range waysToCall() {
		if e.name == "direct, a command" || e.name == "direct, control key" {
			continue // a typed command needs no confirmation
		}
		done := make(chan string, 1)
		go func() { done <- e.call(t, s, command) }()
		select {
		case got := <-done:
			got = strings.ReplaceAll(got, `\`, "")
			help := "they can allow it beforehand as shell.run" // what to do about it
			if strings.HasPrefix(e.name, "mcp") {
				help = "ask the person to run: collie confirm "
			}
			for _, word := range []string{`"type":"confirmation_needed"`, `"stage":"firewall"`, `"rule":"command.unknown"`, `"risk":"high"`, `"retryable":false`, help} {
				if !strings.Contains(got, word) {
					t.Errorf("%s lacks %s: %s", e.name, word, got)
				}
			}
		case <-time.After(2 * time.Minute): // a person has five
			t.Fatalf("%s: it waits", e.name)
		}
	}
	if n := s.server.calls.Load(); n > 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

// TestDeniedCallsGoNowhere makes a call that the rules deny, in every way: the server is not called, the guardian is not
// asked, and the audit log has the decision about each call. A harmless call afterwards does reach the server.
func TestDeniedCallsGoNowhere(t *testing.T) {
	t.Parallel()
	const command = "rm -rf /"
	s := startStrictGateway(t, command)
	for _, e := range waysToCall() {
		got := strings.ReplaceAll(e.call(t, s, command), `\`, "")
		want := []string{`"type":"permission_denied"`, `"stage":"firewall"`, `"rule":"command.everything"`, `"risk":"critical"`, `"retryable":false`}
		if strings.HasPrefix(e.name, "direct") { // here a person would be asked
			want[0] = `"type":"confirmation_needed"`
			want = append(want, "repeat it with --yes if you mean it")
		}
		for _, word := range want {
			if !strings.Contains(got, word) {
				t.Errorf("%s lacks %s: %s", e.name, word, got)
			}
		}
	}
	if n, asked := s.server.calls.Load(), len(s.guardian.Requests()); n > 0 || asked > 0 {
		t.Errorf("%d calls reached the server, and %d the guardian", n, asked)
	}
	await.Until(t, "a decision on record for each", func() bool {
		decided := 0
		for _, r := range gateway.Records(t, s.Home) {
			if r.Kind == "decision" {
				decided++
			}
		}
		return decided == len(waysToCall())
	})
	for _, e := range waysToCall() {
		if strings.HasPrefix(e.name, "mcp-local") {
			_ = e.call(t, s, "ls")
		}
	}
	if s.server.calls.Load() == 0 {
		t.Error("no harmless call reached the server")
	}
}

// TestKilledWhileAPersonIsAsked kills the gateway while a call waits for a person, and again after the person has agreed.
// Until then the call has not run. When the client repeats it at the next gateway, it runs once.
func TestKilledWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	const command = "make deploy"
	s := startStrictGateway(t, command)
	ways := waysToCall()
	client := ways[slices.IndexFunc(ways, func(w wayToCall) bool { return w.name == "mcp-local" })]
	ask := func() (code string) {
		got := strings.ReplaceAll(client.call(t, s, command), `\`, "")
		_, rest, found := strings.Cut(got, `"confirmationCode":"`)
		if !found {
			return ""
		}
		code, _, _ = strings.Cut(rest, `"`)
		return code
	}
	code := ask()
	if code == "" {
		t.Fatal("no code")
	}
	killAndServe := func() {
		s.Signal(os.Kill)
		s.ExitCode()
		s.Gateway = s.ServeIn(t, s.Home, s.settings)
		s.AwaitReady(t)
		s.token, s.control, s.bridge = s.Keys(t)
	}
	killAndServe()
	if next := ask(); next != code {
		t.Errorf("after the kill the call waits under %s, it was %s", next, code)
	}
	pending := filepath.Join(s.Home, "state", "pending")
	approveCall(t, pending, code)
	killAndServe()
	if n := s.server.calls.Load(); n > 0 {
		t.Errorf("%d calls ran before the client came back", n)
	}
	if left := ask(); left != "" || s.server.calls.Load() != 1 {
		t.Errorf("after the yes: code %q, %d calls ran", left, s.server.calls.Load())
	}
	if next := ask(); next == "" || next == code || s.server.calls.Load() != 1 {
		t.Errorf("a second time: code %q, %d calls ran", next, s.server.calls.Load())
	}
}

// approveCall approves a waiting call, as `collie confirm` does.
func approveCall(t *testing.T, dir, code string) {
	t.Helper()
	if _, err := gate.OpenPending(dir).Answer(context.Background(), code, true); err != nil {
		t.Fatal(err)
	}
}
