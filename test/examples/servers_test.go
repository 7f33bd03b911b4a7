//go:build stories

package examples_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/test/binary"
)

// calls has one call for each server of mcp-servers.json, and a part of the expected answer.
var calls = []struct {
	server, tool string
	arguments    map[string]any
	answer       string
}{
	{server: "everything", tool: "echo", arguments: map[string]any{"message": "good dog"}, answer: "good dog"},
	{server: "filesystem", tool: "list_directory", arguments: map[string]any{"path": "."}, answer: "mcp-servers.json"},
	{server: "memory", tool: "read_graph", arguments: map[string]any{}, answer: "entities"},
	{server: "sequential-thinking", tool: "sequentialthinking", arguments: map[string]any{
		"thought": "fetch", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
	}, answer: "thoughtNumber"},
}

// taskOnly are tools that can only run as tasks. Collie does not support tasks and does not offer these tools.
var taskOnly = []string{"everything__simulate-research-query"}

// TestServers starts Collie with examples/mcp-servers.json, whose servers npx installs. Clients of the official SDK, one
// of each era, must see the servers' tools and call one of each server.
func TestServers(t *testing.T) {
	if _, err := exec.LookPath("npx"); err != nil {
		t.Fatalf("this story needs npx, which comes with Node: %v", err)
	}
	config := filepath.Join(binary.Root(t), "examples", "mcp-servers.json")
	started := time.Now()
	url := binary.Serve(t, binary.Build(t, binary.Collie), config)
	t.Logf("all servers started after %v", time.Since(started).Round(time.Millisecond))
	direct := listDirectly(t, config)

	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			transport := &mcp.StreamableClientTransport{Endpoint: url}
			session := connect(t, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("the session speaks %s, want %s", got, version)
			}
			listed := listTools(t, session)
			for name := range direct {
				if offered := !slices.Contains(taskOnly, name); listed[name] != offered {
					t.Errorf("%s, which its server offers: offered by Collie %t, want %t", name, listed[name], offered)
				}
			}
			t.Logf("%d tools", len(listed))
			for _, c := range calls {
				mustAnswer(t, session, c.server+"__"+c.tool, c.arguments, c.answer)
			}
		})
	}
}

func mustAnswer(t *testing.T, session *mcp.ClientSession, name string, arguments any, answer string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Errorf("call %s: %v", name, err)
		return
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if result.IsError || !strings.Contains(string(raw), answer) {
		t.Errorf("call %s: want %q in the answer, got %s", name, answer, raw)
	}
}

// listDirectly asks every server of the file without Collie and returns the names under which Collie must offer their
// tools. A server may offer Collie more tools, because Collie announces more capabilities than this client.
func listDirectly(t *testing.T, config string) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for server, entry := range file.MCPServers {
		cmd := exec.CommandContext(t.Context(), entry.Command, entry.Args...)
		cmd.Dir = filepath.Dir(config)
		session := connect(t, &mcp.CommandTransport{Command: cmd}, nil)
		tools := listTools(t, session)
		if len(tools) == 0 {
			t.Errorf("%s offers no tools", server)
		}
		for tool := range tools {
			names[server+"__"+tool] = true
		}
	}
	return names
}

func connect(t *testing.T, transport mcp.Transport, opts *mcp.ClientSessionOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "story", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, opts)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func listTools(t *testing.T, session *mcp.ClientSession) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatalf("list tools: %v", err)
		}
		names[tool.Name] = true
	}
	return names
}
