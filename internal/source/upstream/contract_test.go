package upstream_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// Servers of each era behind each transport fulfil the contract of a source.
func TestServerIsASource(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stdio legacy", "stdio modern", "http legacy", "http modern"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tooltest.Source(t, func(t *testing.T) tooltest.Fixture {
				transport, era, _ := strings.Cut(name, " ")
				raw := stdioEntry(t, "--era", era)
				if transport == "http" {
					raw = `{"url":"` + mcptest.StartHTTP(t, "--era", era) + `"}`
				}
				return newFixture(t, startServer(t, raw))
			})
		})
	}
}

// stdioEntry returns the entry of a fakemcp with these flags, over stdio.
func stdioEntry(t *testing.T, flags ...string) string {
	t.Helper()
	path, args, env := mcptest.Command(t, flags...)
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	raw, err := json.Marshal(map[string]any{"command": path, "args": args, "env": vars})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// startServer starts the server of an entry and returns it when it is ready. The server is closed with the test.
func startServer(t *testing.T, raw string) *upstream.Server {
	t.Helper()
	set := newSet(t, raw)
	set.Start(nil)
	select {
	case <-set.Started():
	case <-time.After(30 * time.Second):
		t.Fatal("the server did not start")
	}
	if st := set.Servers()[0].Status(); st.State != tool.StateReady {
		t.Fatalf("the server is %s: %s %s", st.State, st.Reason, st.Detail)
	}
	return set.Servers()[0]
}

// newSet returns a set of servers named s0, s1, … The set is closed with the test.
func newSet(t *testing.T, entries ...string) *upstream.Set {
	t.Helper()
	var specs []upstream.Spec
	for i, raw := range entries {
		e, problems := entry.Parse("s"+string(rune('0'+i)), json.RawMessage(raw), entry.Options{Dir: t.TempDir()})
		specs = append(specs, upstream.Spec{Entry: e, Problems: problems})
	}
	set := upstream.NewSet(specs, upstream.Options{})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		set.Close(ctx)
	})
	return set
}

// newFixture describes a fakemcp for the tests that each source must pass.
func newFixture(t *testing.T, s *upstream.Server) tooltest.Fixture {
	t.Helper()
	do := func(name, args string) {
		if _, err := s.Run(t.Context(), newToolCall(name, args)); err != nil && t.Context().Err() == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	const uri = "fake://static/hello"
	return tooltest.Fixture{
		Source: s, URI: uri,
		Touch:  func() { do("touch", `{"uri":"`+uri+`"}`) },
		Change: func() { do("change", `{"kind":"tools"}`) },
		Good: func() []*tool.Call {
			return []*tool.Call{
				newToolCall("echo", `{"text":"hello"}`),
				{Request: tool.Request{Kind: tool.KindRead, Name: uri}, Target: uri, Args: json.RawMessage("{}")},
				{Request: tool.Request{Kind: tool.KindPrompt, Name: "s0__greet"}, Target: "greet", Args: json.RawMessage(`{"name":"Ada"}`)},
				{
					Request: tool.Request{Kind: tool.KindComplete, Name: "s0__greet", Params: json.RawMessage(`{"ref":{"type":"ref/prompt","name":"s0__greet"},"argument":{"name":"style","value":"f"}}`)},
					Target:  "greet",
				},
			}
		},
		Fails: func() *tool.Call { return newToolCall("fail", "{}") },
		Refused: func() []*tool.Call {
			return []*tool.Call{
				newToolCall("no such tool", "{}"), newToolCall("rpcerror", `{"code":7}`),
				{Request: tool.Request{Kind: tool.KindRead, Name: "fake://none"}, Target: "fake://none"},
				{Request: tool.Request{Kind: tool.KindPrompt, Name: "none"}, Target: "none", Args: json.RawMessage("{}")},
			}
		},
		Hangs: func() *tool.Call { return newToolCall("hang", "{}") },
	}
}

// newToolCall is a call of one of the server's tools.
func newToolCall(name, args string) *tool.Call {
	return &tool.Call{Request: tool.Request{ID: tool.NewCallID(), Kind: tool.KindCall, Name: "s0__" + name}, Target: name, Args: json.RawMessage(args)}
}
