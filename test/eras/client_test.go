package eras_test

import (
	"context"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/test/await"
)

// sdkClient is a client of the official SDK. It answers questions with its name and records what it is told.
type sdkClient struct {
	*mcp.ClientSession
	t      *testing.T
	name   string
	modern bool

	asked                                    chan string
	progress                                 chan float64
	logs, tools, resources, prompts, updated chan string
}

// dial connects a client with that name to the gateway: over HTTP, over stdio with a Collie of its own, or over stdio
// through the gateway ("bridge").
func (g *gateway) dial(t *testing.T, transport, version, name string) *sdkClient {
	t.Helper()
	v := &sdkClient{
		t: t, name: name, modern: version >= "2026-07-28", asked: make(chan string, 999), progress: make(chan float64, 999),
		logs: make(chan string, 999), tools: make(chan string, 999), resources: make(chan string, 999),
		prompts: make(chan string, 999), updated: make(chan string, 999),
	}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, v.options())
	client.AddRoots(&mcp.Root{URI: "file:///" + name, Name: name})
	var wire mcp.Transport
	if transport != "http" {
		home := t.TempDir()
		if transport == "bridge" { // stdio through the gateway of its home
			home = g.home
		}
		cmd := exec.CommandContext(t.Context(), g.program, "stdio", "--home", home, "--config", g.config)
		wire = &mcp.CommandTransport{Command: cmd}
	} else {
		h := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(h.CloseIdleConnections)
		wire = &mcp.StreamableClientTransport{Endpoint: g.url, HTTPClient: h}
	}
	session, err := client.Connect(t.Context(), wire, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	v.ClientSession = session
	t.Cleanup(func() {
		begun := time.Now()
		_ = session.Close() // an error means that the context has ended the process before
		await.Within(t, name+" to close", time.Since(begun), limit)
	})
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("agreed on %s, want %s", got, version)
	}
	return v
}

func (v *sdkClient) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			v.asked <- "sampling"
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: v.name}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			v.asked <- "elicitation"
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": v.name}}, nil
		},
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { v.tools <- "" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { v.resources <- "" },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { v.prompts <- "" },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			v.updated <- r.Params.URI
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			if text, ok := r.Params.Data.(string); ok {
				v.logs <- text
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			v.progress <- r.Params.Progress
		},
	}
}

// call returns the text of a tool's answer, and whether the tool failed.
func (v *sdkClient) call(tool string, args map[string]any) (text string, failed bool) {
	v.t.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	if args == nil {
		params.Arguments = map[string]any{}
	}
	if v.modern {
		params.Meta = mcp.Meta{"io.modelcontextprotocol/logLevel": "info"}
	}
	params.SetProgressToken("token")
	r, err := v.CallTool(v.t.Context(), params)
	if err != nil {
		return err.Error(), true
	}
	if len(r.Content) != 1 {
		v.t.Fatalf("%s: %+v", tool, r)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// mustCall is call for a call that should succeed.
func (v *sdkClient) mustCall(tool string, args map[string]any) string {
	v.t.Helper()
	text, failed := v.call(tool, args)
	if failed {
		v.t.Fatalf("%s %v failed: %s", tool, args, text)
	}
	return text
}

// awaitNext waits for the next value.
func awaitNext[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(limit):
		t.Fatalf("no %s came within %v", what, limit)
	}
	return v
}

// drain discards the values received so far.
func drain[T any](from <-chan T) {
	for len(from) > 0 {
		<-from
	}
}
