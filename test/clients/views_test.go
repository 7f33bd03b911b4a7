//go:build stories

package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/test/await"
	"collie/test/binary"
	"collie/test/gateway"
)

// step is a call, and what its answer has to hold.
type step struct {
	Name string         `json:"name"`
	Args map[string]any `json:"arguments"`

	want   string
	failed bool
}

// viewRecord records what a client saw of a view: the list at the start, the answers to the steps, and the list after the
// notification that it has changed.
type viewRecord struct {
	Version string
	Before  []listedTool
	Answers []struct {
		Text   string
		Failed bool
	}
	Changes int // number of times the last step was made before the client was notified
	After   []listedTool
}

// mostChanges is how often a client makes the last step at most. The step alternately adds and removes a tool. Modern
// clients of both SDKs do not wait for their subscription to be active, so they may miss the first changes.
const mostChanges = 60

type listedTool struct{ Name, Description, Schema string }

// stepsByView are the same steps for each view: flat lists all tools, grouped lists one tool for each server, and search lists
// tools that find, describe and call others. The last step changes the list.
var stepsByView = map[string]struct {
	tools []string // names that the list must contain
	steps []step
}{
	"flat": {[]string{"fake__echo", "fake__fail"}, []step{
		{Name: "fake__echo", Args: map[string]any{"text": "晚饭"}, want: "晚饭"},
		{Name: "fake__fail", Args: map[string]any{"text": "no more"}, want: "no more", failed: true},
		{Name: "fake__nothing", want: "fake__nothing", failed: true},
		{Name: "fake__change", want: "changed"},
	}},
	"grouped": {[]string{"fake"}, []step{
		{Name: "fake", Args: map[string]any{"action": "help", "topic": "echo"}, want: "echo"},
		{Name: "fake", Args: map[string]any{"action": "echo", "text": "晚饭"}, want: "晚饭"},
		{Name: "fake", Args: map[string]any{"action": "fail", "text": "no more"}, want: "no more", failed: true},
		{Name: "fake", Args: map[string]any{"action": "nothing"}, want: "nothing", failed: true},
		{Name: "fake", Args: map[string]any{"action": "change"}, want: "changed"},
	}},
	"search": {[]string{"collie_find", "collie_describe", "collie_call"}, []step{
		{Name: "collie_find", Args: map[string]any{"query": "echo a text"}, want: "fake__echo("},
		{Name: "collie_find", Args: map[string]any{"query": "echo", "server": "nobody"}, want: "nobody", failed: true},
		{Name: "collie_describe", Args: map[string]any{"name": "fake__echo"}, want: `"inputSchema"`},
		{Name: "collie_describe", Args: map[string]any{"name": "fake__nothing"}, want: "fake__nothing", failed: true},
		{Name: "collie_call", Args: map[string]any{"name": "fake__echo", "args": map[string]any{"text": "晚饭"}}, want: "晚饭"},
		{Name: "collie_call", Args: map[string]any{"name": "fake__fail", "args": map[string]any{"text": "no more"}}, want: "no more", failed: true},
		{Name: "collie_call", Args: map[string]any{"name": "fake__nothing"}, want: "fake__nothing", failed: true},
		{Name: "collie_call", Args: map[string]any{"name": "fake__change"}, want: "changed"},
	}},
}

// TestViews lets clients of the official SDKs, in both eras, use each view: list, find, describe, call, fail, and be
// notified of changes.
func TestViews(t *testing.T) {
	t.Parallel()
	binary.Packages(t, ".")
	node := binary.Node(t, binary.Packages(t, filepath.Join("..", "conformance")))
	w := gateway.LinkPrograms(t)
	clients := map[string]func(*testing.T, string, string, []step) viewRecord{
		"go": walkGo,
		"typescript": func(t *testing.T, url, version string, steps []step) viewRecord {
			return walkTypeScript(t, node, url, version, steps)
		},
	}
	all := maps.Clone(stepsByView)
	all["auto"] = stepsByView["flat"] // the server fits in the budget
	for n, view := range slices.Sorted(maps.Keys(all)) {
		for client, run := range clients {
			for era, version := range []string{"2025-11-25", "2026-07-28"} {
				if typescript := client == "typescript"; !*allCombinations && typescript != ((n+era)%2 == 0) {
					continue // each view is walked by both clients, and each client speaks both versions
				}
				way := all[view]
				t.Run(view+"/"+client+"/"+version, func(t *testing.T) {
					t.Parallel()
					query, more := "?profile=@"+view, []string{}
					if view == "auto" {
						query, more = "", []string{`"context":{"view":"auto"}`}
					}
					g := w.Serve(t, w.Settings(t, []gateway.Server{{Name: "fake"}}, more...), "--no-auth")
					g.AwaitReady(t)
					saw := run(t, g.URL+"/mcp"+query, version, way.steps)
					if saw.Version != version {
						t.Errorf("agreed on %s", saw.Version)
					}
					for _, name := range way.tools {
						if !slices.ContainsFunc(saw.Before, func(l listedTool) bool { return l.Name == name }) {
							t.Errorf("%s is not listed", name)
						}
					}
					if len(saw.Answers) < len(way.steps) {
						t.Fatalf("%d answers to %d calls", len(saw.Answers), len(way.steps))
					}
					for i, s := range way.steps {
						if a := saw.Answers[i]; a.Failed != s.failed || !strings.Contains(a.Text, s.want) {
							t.Errorf("%s %v answers %q, failed: %t; want %q, %t", s.Name, s.Args, a.Text, a.Failed, s.want, s.failed)
						}
					}
					if saw.Changes > mostChanges || saw.Changes == 1 && slices.Equal(saw.Before, saw.After) {
						t.Errorf("heard of change %d, and listed before %v, after %v", saw.Changes, saw.Before, saw.After)
					}
				})
			}
		}
	}
}

// walkTypeScript makes the steps with the TypeScript SDK, in the program walk.mjs.
func walkTypeScript(t *testing.T, node, url, version string, steps []step) (saw viewRecord) {
	t.Helper()
	given, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), node, "walk.mjs", url, version, string(given))
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &saw)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &stderr)
	}
	return saw
}

// walkGo makes the steps with the Go SDK.
func walkGo(t *testing.T, url, version string, steps []step) (saw viewRecord) {
	t.Helper()
	changed := make(chan struct{}, 99)
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	h := &http.Client{Transport: &http.Transport{}}
	defer h.CloseIdleConnections()
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: h}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	list := func() (tools []listedTool) {
		for l, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			schema, err := json.Marshal(l.InputSchema)
			if err != nil {
				t.Fatal(err)
			}
			tools = append(tools, listedTool{l.Name, l.Description, string(schema)})
		}
		return tools
	}
	saw.Version, saw.Before = session.InitializeResult().ProtocolVersion, list()
	call := func(s step) {
		var answer struct {
			Text   string
			Failed bool
		}
		args := s.Args
		if args == nil {
			args = map[string]any{}
		}
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: s.Name, Arguments: args})
		if err != nil {
			answer.Text, answer.Failed = err.Error(), true
		} else {
			for _, c := range r.Content {
				if text, ok := c.(*mcp.TextContent); ok {
					answer.Text += text.Text
				}
			}
			answer.Failed = r.IsError
		}
		saw.Answers = append(saw.Answers, answer)
	}
	for _, s := range steps {
		call(s)
	}
	for saw.Changes = 1; saw.Changes <= mostChanges; saw.Changes++ {
		select {
		case <-changed: // a notification may concern changes from before its first list, so the list may need another check
			for range mostChanges {
				if saw.After = list(); saw.Changes > 1 || !slices.Equal(saw.Before, saw.After) {
					break
				}
				await.Moment(time.Second)
			}
			return saw
		case <-time.After(time.Second):
			call(steps[len(steps)-1])
		}
	}
	return saw
}
