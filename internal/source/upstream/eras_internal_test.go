//go:build unix

package upstream

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"collie/internal/mcp"
	"collie/internal/mcp/mcptest"
	"collie/internal/tool"
)

// newServerOfBothEras returns a server that speaks both eras, each connection in a process of its own.
func newServerOfBothEras(t *testing.T) *Server {
	t.Helper()
	path, args, env := mcptest.Command(t, "--era", "both")
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	raw, err := json.Marshal(map[string]any{"command": path, "args": args, "env": vars})
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet([]Spec{newSpec(t, "m", string(raw))}, Options{})
	t.Cleanup(func() { set.Close(context.Background()) })
	return set.servers[0]
}

// callEcho makes a call as the pipeline does: Current, then Run.
func callEcho(t *testing.T, s *Server, era mcp.Era) {
	t.Helper()
	call := &tool.Call{
		Request: tool.Request{Kind: tool.KindCall, Name: "m__echo", Caller: callerOfEra{era: era}, Origin: tool.MCPLocal},
		Target:  "echo", Args: json.RawMessage(`{"text":"a"}`), Action: &tool.Action{Name: "echo"},
	}
	a, err := s.Current(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	call.Action = a
	if _, err := s.Run(t.Context(), call); err != nil {
		t.Fatal(err)
	}
}

// A server of both eras that only clients of one era use is one process, shared by all of them.
func TestOneEraOneProcess(t *testing.T) {
	t.Parallel()
	for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern} {
		t.Run(era.String(), func(t *testing.T) {
			t.Parallel()
			s := newServerOfBothEras(t)
			for range 3 {
				callEcho(t, s, era)
			}
			if st := s.Status(); s.countConnections() != 1 || st.Era != era.String() || st.State != tool.StateReady || st.PID == 0 {
				t.Errorf("%d connections, it speaks %s and is %s with pid %d", s.countConnections(), st.Era, st.State, st.PID)
			}
		})
	}
}

// A process that was started without a call is replaced by one of the first caller's era.
func TestAnUnusedProcessMakesRoom(t *testing.T) {
	t.Parallel()
	s := newServerOfBothEras(t)
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	callEcho(t, s, mcp.Modern)
	if st := s.Status(); s.countConnections() != 1 || st.Era != "modern" || st.Tools == 0 || !s.listing.Live() {
		t.Errorf("%d connections, it speaks %s and has %d tools", s.countConnections(), st.Era, st.Tools)
	}
}

// A modern client gets a modern connection even if legacy clients came first and nobody knew that the server speaks
// both eras.
func TestAModernClientBesideLegacyOnes(t *testing.T) {
	t.Parallel()
	s := newServerOfBothEras(t)
	callEcho(t, s, mcp.Legacy)
	callEcho(t, s, mcp.Modern)
	callEcho(t, s, mcp.Legacy)
	p := s.pool.lock()
	c := p.extra[slot{era: mcp.Modern}]
	s.pool.unlock()
	if s.countConnections() != 2 || c == nil || c.Client.Era != mcp.Modern {
		t.Errorf("%d connections", s.countConnections())
	}
}

// After a stop, the first connection has the era of the first caller, and the server becomes ready as before.
func TestTheFirstConnectionAfterAStop(t *testing.T) {
	t.Parallel()
	s := newServerOfBothEras(t)
	callEcho(t, s, mcp.Modern)
	callEcho(t, s, mcp.Legacy)
	if n := s.countConnections(); n != 2 {
		t.Fatalf("%d connections for clients of two eras", n)
	}
	for _, era := range []mcp.Era{mcp.Legacy, mcp.Modern, mcp.Legacy} {
		s.Stop(t.Context())
		callEcho(t, s, era)
		if st := s.Status(); st.State != tool.StateReady || st.PID == 0 || st.Era != era.String() || !s.listing.Live() || s.countConnections() != 1 {
			t.Errorf("called in the %s era it is %s, pid %d, speaks %s, lists live %v, %d connections",
				era, st.State, st.PID, st.Era, s.listing.Live(), s.countConnections())
		}
	}
}

// If a server exits while it is asked for its lists, the error says so and quotes its last output.
func TestAnEndWhileListing(t *testing.T) {
	t.Parallel()
	script := `read x; printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}}\n'
read x; read x; echo "out of luck" >&2; exit 9`
	raw, err := json.Marshal(map[string]any{"command": "/bin/sh", "args": []string{"-c", script}, "protocol": "legacy"})
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet([]Spec{newSpec(t, "m", string(raw))}, Options{})
	defer set.Close(context.Background())
	if err := set.servers[0].Start(t.Context()); err == nil {
		t.Fatal("it started")
	}
	if st := set.servers[0].Status(); st.Reason != "exited_early" || !strings.Contains(st.Detail, "out of luck") || !strings.Contains(st.Detail, "9") {
		t.Errorf("it is %s (%s): %s", st.State, st.Reason, st.Detail)
	}
}

// A modern server that keeps asking for input without a question is given up, with an error that says so.
func TestInputWithoutQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{flags: []string{"--era", "modern"}, list: map[string]string{"tools/call": `{"resultType":"input_required","requestState":"a"}`}}
		s, _, done := newScriptedServer(t, m, "", Options{})
		defer done()
		_, err := s.Run(t.Context(), &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Name: "m__echo", Caller: nobody{}},
			Target:  "echo", Args: json.RawMessage(`{}`), Action: &tool.Action{Name: "echo"},
		})
		asked := 0
		for _, method := range slices.Concat(m.methodsByStart()...) {
			if method == "tools/call" {
				asked++
			}
		}
		if err == nil || asked != 3 || !strings.Contains(err.Error(), "asked for input 3 times without a question") {
			t.Errorf("asked %d times: %v", asked, err)
		}
	})
}
