package mcp_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"collie/internal/mcp"
)

// sdkClient is a client of the official SDK that records what it receives.
type sdkClient struct {
	*sdk.ClientSession
	progress chan float64
	changed  chan struct{}
}

// connectSDK connects a client of the official SDK, and fails the test if another protocol version is agreed on.
func connectSDK(t *testing.T, transport sdk.Transport, version string) *sdkClient {
	t.Helper()
	v := &sdkClient{progress: make(chan float64, 99), changed: make(chan struct{}, 99)}
	client := sdk.NewClient(&sdk.Implementation{Name: "judge", Version: "1"}, &sdk.ClientOptions{
		CreateMessageHandler: func(context.Context, *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
			return &sdk.CreateMessageResult{Role: "assistant", Model: "none", Content: &sdk.TextContent{Text: "Paris"}}, nil
		},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { v.changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			v.progress <- r.Params.Progress
		},
	})
	client.AddRoots(&sdk.Root{URI: "file:///root", Name: "root"})
	session, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	v.ClientSession = session
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("agreed on %s, want %s", got, version)
	}
	return v
}

// callTool calls a tool with a progress token and returns the text of the result.
func (v *sdkClient) callTool(t *testing.T, name string, args map[string]any) string {
	t.Helper()
	params := &sdk.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken("p")
	r, err := v.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r.Content[0].(*sdk.TextContent).Text
}

// useEveryFeature uses every feature once and checks what comes back; d is the service that the client is connected
// to.
func (v *sdkClient) useEveryFeature(t *testing.T, d *scriptedService, version string) {
	t.Helper()
	list, err := v.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 6 {
		t.Errorf("%d tools listed", len(list.Tools))
	}
	if got := v.callTool(t, "echo", map[string]any{"é": "新"}); got != `{"é":"新"}` {
		t.Errorf("echo %s", got)
	}
	if got := v.callTool(t, "note", map[string]any{"n": 3}); got != "noted" {
		t.Errorf("note %s", got)
	}
	for n := 1; n <= 3; n++ {
		if got := <-v.progress; got != float64(n) {
			t.Errorf("progress %v, want %d", got, n)
		}
	}
	if _, err := v.CallTool(t.Context(), &sdk.CallToolParams{Name: "fail"}); err == nil {
		t.Error("fail did not")
	}
	for method, want := range map[string]string{
		"roots/list":             `{"roots":[{"name":"root","uri":"file:///root"}]}`,
		"sampling/createMessage": `{"content":{"type":"text","text":"Paris"},"model":"none","role":"assistant"}`,
		"elicitation/create":     `{"action":"accept","content":{"name":"Ada"}}`,
	} {
		params := map[string]any{
			"messages": []any{}, "maxTokens": 1,
			"message": "?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
		}
		got := v.callTool(t, "ask", map[string]any{"ask": method, "params": params, "times": 2})
		if got != want+";"+want {
			t.Errorf("%s answers %s", method, got)
		}
	}
	if version < mcp.Version20260728 {
		d.newestPeer(t).Notify("notifications/tools/list_changed", []byte(`{}`))
		<-v.changed
	}
}

func TestServeSDKClients(t *testing.T) {
	t.Parallel()
	for _, version := range append([]string{mcp.Version20260728}, mcp.LegacyVersions...) {
		t.Run(version+"_http", func(t *testing.T) {
			t.Parallel()
			s := newHTTPFixture(t, mcp.HTTPServerOptions{})
			var all []*sdkClient
			for range 3 { // in parallel, so that mixed-up answers would show
				all = append(all, connectSDK(t, &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: s.client}, version))
			}
			done := make(chan struct{})
			for n, v := range all {
				go func() {
					defer func() { done <- struct{}{} }()
					for i := range 20 {
						if got, want := v.callTool(t, "echo", map[string]any{"n": n*100 + i}), fmt.Sprintf(`{"n":%d}`, n*100+i); got != want {
							t.Errorf("client %d: %s, want %s", n, got, want)
						}
					}
				}()
			}
			for range all {
				<-done
			}
			all[2].useEveryFeature(t, s.service, version)
			for _, v := range all {
				if err := v.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := s.server.Sessions(); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
		t.Run(version+"_stream", func(t *testing.T) {
			t.Parallel()
			toServer, fromClient := io.Pipe()
			toClient, fromServer := io.Pipe()
			d, served := newScriptedService(), make(chan error, 1)
			go func() {
				served <- mcp.ServeStream(t.Context(), mcp.NewLines(toServer, fromServer, 0, toServer.Close), d, nil)
				_ = fromServer.Close()
			}()
			v := connectSDK(t, &sdk.IOTransport{Reader: toClient, Writer: fromClient}, version)
			v.useEveryFeature(t, d, version)
			if err := v.Close(); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			for _, line := range d.recordedEvents() {
				if diff := cmp.Diff("notified", line[:min(8, len(line))]); diff == "" {
					t.Errorf("the service was told: %s", line)
				}
			}
		})
	}
}
