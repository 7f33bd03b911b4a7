package pipeline_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/face/cli"
	"collie/internal/face/cli/gateway"
	"collie/internal/face/mcpserver"
	"collie/internal/face/web"
)

// classByEntry returns the class of every entry point by its name, which begins with "cli", "http" or "mcp".
func classByEntry() map[string]string {
	out := map[string]string{}
	for _, c := range cli.Commands() {
		out["cli "+c.Path] = string(c.Class)
	}
	for _, r := range web.Routes() {
		out["http "+r.Pattern] = string(r.Class)
	}
	for method, class := range mcpserver.Methods() {
		out["mcp "+method] = string(class)
	}
	return out
}

// Every entry point has a class, which says whether it runs calls, only reads, manages, or holds conversations, and every one of class call is driven by TestEachCallLeavesOnePair.
func TestEveryEntryIsClassed(t *testing.T) {
	t.Parallel()
	var calls, driven []string
	for entry, class := range classByEntry() {
		switch class {
		case "call":
			calls = append(calls, entry)
		case "read", "manage", "chat": // collie agent run drives the calls of conversations
		default:
			t.Errorf("%q is of class %q: class it as call, read, manage or chat (a command in internal/face/cli/classes.go), and drive it here if it is a call", entry, class)
		}
	}
	for _, d := range drivers {
		if !slices.Contains(driven, d.entry) {
			driven = append(driven, d.entry)
		}
	}
	slices.Sort(calls)
	slices.Sort(driven)
	if diff := cmp.Diff(calls, driven); diff != "" {
		t.Errorf("entries of class call that are not driven (-) and drivers of entries of another class (+):\n%s", diff)
	}
	if len(classByEntry()) < 20 {
		t.Errorf("only %d entries: the tables are not complete", len(classByEntry()))
	}
}

// The paths that `collie serve` answers are known: the MCP endpoint and the API, whose methods and routes are in
// classByEntry, and /metrics and the pages, which make no calls. A new path needs an entry here.
func TestPaths(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"/mcp", "/metrics", "/api/v1/", "/pages/"}, gateway.Routes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
