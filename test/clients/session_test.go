//go:build stories

package clients_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/test/binary"
	"collie/test/fakellm/provider"
)

// finalAnswer is the model's final answer.
const finalAnswer = "There is " + note + "."

// firstTurns are the turns that write a note, call a server, and read the note.
var firstTurns = []provider.Turn{
	{Say: "I make a notebook.", Call: []provider.Call{call("notebook", "action", "create", "name", "Shop")}},
	{Call: []provider.Call{call("fs", "action", "write", "path", "/Shop/List", "markdown", note)}},
	{Call: []provider.Call{call("everything__get-sum", "a", 20, "b", 22)}},
	{Call: []provider.Call{call("fs", "action", "read", "path", "/Shop/List")}},
	{Say: finalAnswer},
}

// secondTurns are the turns that read the note of the previous session, and use two servers at once.
var secondTurns = []provider.Turn{
	{Call: []provider.Call{call("fs", "action", "read", "path", "/Shop/List"), call("filesystem__write_file", "path", "list.txt", "content", note)}},
	{Call: []provider.Call{call("filesystem__list_directory", "path", ".")}},
	{Say: finalAnswer},
}

// call returns a call of a tool with arguments given as pairs of name and value.
func call(tool string, pairs ...any) provider.Call {
	args := map[string]any{}
	for pair := range slices.Chunk(pairs, 2) {
		args[pair[0].(string)] = pair[1]
	}
	data, _ := json.Marshal(args)
	return provider.Call{Tool: tool, Args: data}
}

// withSearch inserts a search for the tools before the turns that call them, if the client needs that.
func (c client) withSearch(turns []provider.Turn) []provider.Turn {
	if c.search == "" {
		return turns
	}
	var names []string
	for _, turn := range turns {
		for _, call := range turn.Call {
			names = append(names, c.prefix+call.Tool)
		}
	}
	search := call(c.search, "query", "select:"+strings.Join(names, ","), "max_results", len(names))
	return append([]provider.Turn{{Call: []provider.Call{search}}}, turns...)
}

// checkSession runs the client once. It checks that the model is shown all tools, known ones from the start, and
// that the results of its calls contain what is wanted.
func (h *home) checkSession(t *testing.T, known bool, names []string, turns []provider.Turn, wanted ...string) {
	t.Helper()
	script := provider.Script{Models: []string{model}, Conversations: []provider.Conversation{{Turns: turns, Wait: h.client.wait}}}
	fake, err := provider.New(script, provider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	out := h.mustRunWith(t, h.client.env(server.URL), h.argv[0], append(h.argv[1:], h.client.args(server.URL)...)...)
	if !strings.Contains(out, finalAnswer) {
		t.Errorf("the client wrote %q, want what the model said last", out)
	}
	for _, fault := range fake.Faults() {
		t.Error(fault)
	}
	requests := slices.DeleteFunc(fake.Requests(), func(r provider.Request) bool { return r.Turn < 0 })
	for _, r := range requests {
		if r.API != h.client.api {
			t.Errorf("%s speaks %s, not %s", h.client.name, r.API, h.client.api)
		}
	}
	if len(requests) != len(turns) {
		t.Fatalf("the model was asked %d times for %d answers", len(requests), len(turns))
	}
	showing := requests[0]
	if !known && h.client.late {
		showing = requests[len(requests)-1]
	}
	for _, name := range names {
		if !isShown(showing, h.client.prefix+name) {
			t.Errorf("the session has no tool %s%s; known: %t", h.client.prefix, name, known)
		}
	}
	results := ""
	for _, r := range requests[len(requests)-1].Results() {
		if r.Error {
			t.Errorf("a call failed: %s", r.Text)
		}
		results += r.Text + "\n"
	}
	for _, want := range wanted {
		if !strings.Contains(results, want) {
			t.Errorf("no result holds %q:\n%s", want, results)
		}
	}
	if strings.Contains(results, `"error"`) {
		t.Errorf("a call failed:\n%s", results)
	}
}

// isShown reports whether r offers a tool, or names it as one that can be searched for.
func isShown(r provider.Request, name string) bool {
	if r.Offers(name) {
		return true
	}
	return slices.ContainsFunc(r.Messages, func(m provider.Message) bool {
		return slices.Contains(strings.Split(m.Text, "\n"), name)
	})
}

// listTools returns the tools that Collie shows to an ordinary client once each server is known.
func listTools(t *testing.T, settings map[string]any) (names []string) {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "servers.json")
	writeSettings(t, config, settings)
	cmd := exec.Command(binary.Build(t, binary.Collie), "stdio", "--home", home, "--config", config)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "lister", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	servers := map[string]bool{}
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		server, _, _ := strings.Cut(tool.Name, "__")
		servers[server] = true
	}
	if len(servers) != 11+2 {
		t.Fatalf("Collie shows tools of %d kinds: %s", len(servers), fmt.Sprint(names))
	}
	return names
}
