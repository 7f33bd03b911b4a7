package mcptest_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/internal/mcp/mcptest"
)

// The client of the official SDK serves as an independent check of this server.
var sdkCases = []struct {
	name  string
	flags []string
	asks  string // version that the client starts with
	want  string // version that should be agreed on
}{
	{"legacy", []string{"--era", "legacy"}, "2025-11-25", "2025-11-25"},
	{"oldest", []string{"--era", "legacy"}, "2024-11-05", "2024-11-05"},
	{"fallback", []string{"--era", "legacy"}, "2026-07-28", "2025-11-25"},
	{"modern", []string{"--era", "modern"}, "2026-07-28", "2026-07-28"},
	{"both_old_client", []string{"--era", "both"}, "2025-06-18", "2025-06-18"},
	{"both_new_client", []string{"--era", "both"}, "2026-07-28", "2026-07-28"},
}

func TestSDKStdio(t *testing.T) {
	t.Parallel()
	for _, c := range sdkCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, args, env := mcptest.Command(t, c.flags...)
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(os.Environ(), env...)
			useEveryFeature(t, &mcp.CommandTransport{Command: cmd}, c.asks, c.want)
		})
	}
}

func TestSDKHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range sdkCases {
		for _, mode := range []string{"json", "sse"} {
			t.Run(c.name+"_"+mode, func(t *testing.T) {
				t.Parallel()
				flags := c.flags
				if mode == "sse" {
					flags = append(slices.Clip(flags), "--sse")
				}
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				useEveryFeature(t, &mcp.StreamableClientTransport{Endpoint: mcptest.StartHTTP(t, flags...), HTTPClient: client}, c.asks, c.want)
			})
		}
	}
}

// receivedNotices collects notifications of the server.
type receivedNotices struct {
	progress, logs, changed, updated chan string
}

// useEveryFeature uses every feature once, as an SDK client.
func useEveryFeature(t *testing.T, transport mcp.Transport, asks, want string) {
	t.Helper()
	n := &receivedNotices{make(chan string, 9), make(chan string, 9), make(chan string, 9), make(chan string, 9)}
	client := mcp.NewClient(&mcp.Implementation{Name: "judge", Version: "1"}, n.clientOptions())
	client.AddRoots(&mcp.Root{URI: "file:///root", Name: "root"})
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: asks})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != want {
		t.Fatalf("agreed on %s, want %s", got, want)
	}
	modern := want >= "2026-07-28"
	checkTools(t, session)
	checkAsking(t, session)
	checkNotices(t, session, n, modern)
	checkResources(t, session, n)
	checkPrompts(t, session)
}

func (n *receivedNotices) clientOptions() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: "Paris"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { n.changed <- "tools" },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { n.updated <- r.Params.URI },
		LoggingMessageHandler:  func(_ context.Context, r *mcp.LoggingMessageRequest) { n.logs <- r.Params.Data.(string) },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			n.progress <- r.Params.Message
		},
	}
}

func checkTools(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) < 20 {
		t.Errorf("%d tools listed, want all", len(list.Tools))
	}
	if got := callTool(t, session, "echo", map[string]any{"text": "é新 <b>"}); got != "é新 <b>" {
		t.Errorf("echo = %q", got)
	}
	if got := callTool(t, session, "echo", map[string]any{"q": 1}); got != `{"q":1}` {
		t.Errorf("echo without text = %q", got)
	}
	if got := callTool(t, session, "big", map[string]any{"bytes": 300_000}); len(got) != 300_000 {
		t.Errorf("big has %d bytes", len(got))
	}
	if got := callTool(t, session, "header", map[string]any{"region": "zürich", "priority": 7}); !strings.Contains(got, "zürich") {
		t.Errorf("header = %q", got)
	}
}

func checkAsking(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	for what, want := range map[string]string{"sampling": "Paris", "elicitation": "Ada", "roots": "file:///root"} {
		if got := callTool(t, session, "ask", map[string]any{"what": what}); !strings.Contains(got, want) {
			t.Errorf("ask %s = %q, want it to contain %q", what, got, want)
		}
	}
	if got := callTool(t, session, "ask2", nil); strings.Count(got, "Ada") != 2 || got[0] != '[' {
		t.Errorf("ask2 = %q, want both answers", got)
	}
}

func checkNotices(t *testing.T, session *mcp.ClientSession, n *receivedNotices, modern bool) {
	t.Helper()
	params := &mcp.CallToolParams{Name: "slow", Arguments: map[string]any{"ms": 3, "steps": 3}}
	params.SetProgressToken("token")
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"step 1 of 3", "step 2 of 3", "step 3 of 3"} {
		if got := receive(t, n.progress); got != want {
			t.Errorf("progress %q, want %q", got, want)
		}
	}
	if !modern { // the SDK cannot ask a modern server for logs
		callTool(t, session, "log", map[string]any{"text": "logged"})
		if got := receive(t, n.logs); got != "logged" {
			t.Errorf("log message %q", got)
		}
	}
	callTool(t, session, "change", nil)
	receive(t, n.changed)
	if got := callTool(t, session, "extra", map[string]any{"text": "new"}); got != "new" {
		t.Errorf("extra = %q", got)
	}
}

func checkResources(t *testing.T, session *mcp.ClientSession, n *receivedNotices) {
	t.Helper()
	list, err := session.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 2 {
		t.Fatalf("resources: %v, %v", list, err)
	}
	templates, err := session.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Fatalf("templates: %v, %v", templates, err)
	}
	const uri = "fake://item/7"
	if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	callTool(t, session, "touch", map[string]any{"uri": uri})
	if got := receive(t, n.updated); got != uri {
		t.Errorf("updated %q", got)
	}
	for uri, want := range map[string]string{uri: "Item 7. Revision 1.", "fake://hidden": "Not listed."} {
		res, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Contents[0].Text; got != want {
			t.Errorf("%s reads %q, want %q", uri, got, want)
		}
	}
	if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "fake://nothing"}); err == nil {
		t.Error("an unknown resource was read")
	}
}

func checkPrompts(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 2 {
		t.Fatalf("prompts: %v, %v", list, err)
	}
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"name": "Ada"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := prompt.Messages[0].Content.(*mcp.TextContent).Text; got != "Greet Ada in a plain style." {
		t.Errorf("greet = %q", got)
	}
	completion, err := session.Complete(t.Context(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"},
		Argument: mcp.CompleteParamsArgument{Name: "name", Value: "A"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Ada", "Alan"}, completion.Completion.Values); diff != "" {
		t.Errorf("completion (-want +got):\n%s", diff)
	}
}

// callTool returns the text that a tool answers with.
func callTool(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if res.IsError || len(res.Content) != 1 {
		t.Fatalf("%s: unexpected result %+v", name, res)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// receive returns the next value, and fails the test if none comes.
func receive(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came within 10 s")
		return ""
	}
}
