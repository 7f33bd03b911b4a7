package acceptance_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"collie/test/gateway"
)

// The protocol versions that clients speak, one of each era.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// sdkClient is a client of the official SDK.
type sdkClient struct {
	*mcp.ClientSession
	changed chan struct{} // receives a value for each change of the list of tools
	asked   chan string   // receives the questions for a person
}

// personAnswer is the answer of the person in front of a client.
type personAnswer string

// The answers.
const (
	nobody  personAnswer = "" // the client shows no questions
	agrees  personAnswer = "agrees"
	refuses personAnswer = "refuses"
)

// openSession opens a session with the gateway.
func openSession(t *testing.T, g *gateway.Gateway, version string, who personAnswer) *sdkClient {
	t.Helper()
	v := &sdkClient{changed: make(chan struct{}, 99), asked: make(chan string, 99)}
	opts := &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { v.changed <- struct{}{} },
	}
	if who != nobody {
		opts.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			v.asked <- r.Params.Message
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirm": who == agrees}}, nil
		}
	}
	h := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(h.CloseIdleConnections)
	client := mcp.NewClient(&mcp.Implementation{Name: "acceptance", Version: "1"}, opts)
	wire := &mcp.StreamableClientTransport{Endpoint: g.URL + "/mcp", HTTPClient: h}
	session, err := client.Connect(t.Context(), wire, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // an error means that the gateway has ended already
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("agreed on %s, want %s", got, version)
	}
	v.ClientSession = session
	return v
}

// eachEra runs a test as a subtest, once with a client of each era.
func eachEra(t *testing.T, f func(t *testing.T, version string)) {
	t.Helper()
	for _, version := range []string{legacy, modern} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f(t, version)
		})
	}
}

// answer is the result of a call.
type answer struct {
	gjson.Result        // the payload
	text         string // the text from which the payload was parsed
	failed       bool
}

// kind returns the type of the error in the payload.
func (a answer) kind() string { return a.Get("error.type").String() }

// call calls an action with arguments, a JSON object. It checks what every result must have: a single text, which is
// JSON, and structured content with the same value.
func (v *sdkClient) call(t *testing.T, tool, args string) answer {
	t.Helper()
	r, err := v.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	if len(r.Content) != 1 {
		t.Fatalf("%s %s: %d items of content, want 1", tool, args, len(r.Content))
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("%s %s: content %T, want text", tool, args, r.Content[0])
	}
	got := answer{gjson.Parse(text.Text), text.Text, r.IsError}
	if r.StructuredContent != nil {
		if !gjson.Valid(text.Text) {
			t.Fatalf("%s %s: not JSON: %.400s", tool, args, text.Text)
		}
		want := got.Value()
		if !got.IsObject() {
			want = map[string]any{"value": want}
		}
		if diff := cmp.Diff(want, r.StructuredContent); diff != "" {
			t.Errorf("%s %s: text and structured content differ (-text +structured):\n%s", tool, args, diff)
		}
	}
	return got
}

// mustCall calls an action, and ends the test unless the call succeeds.
func (v *sdkClient) mustCall(t *testing.T, tool, args string) answer {
	t.Helper()
	got := v.call(t, tool, args)
	if got.failed {
		t.Fatalf("%s %s failed: %s", tool, args, got.text)
	}
	return got
}

// wantRefused calls an action, and ends the test unless the call fails with an error of this type.
func (v *sdkClient) wantRefused(t *testing.T, tool, args, kind string) answer {
	t.Helper()
	got := v.call(t, tool, args)
	if !got.failed || got.kind() != kind {
		t.Fatalf("%s %s: want an error of type %s, got %.1000s", tool, args, kind, got.text)
	}
	return got
}

// actionsOf returns the names that the list offers for a tool, without help; nil if the tool is not listed.
func (v *sdkClient) actionsOf(t *testing.T, tool string) []string {
	t.Helper()
	list, err := v.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range list.Tools {
		if def.Name != tool {
			continue
		}
		raw, err := json.Marshal(def.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, name := range gjson.GetBytes(raw, "properties.action.enum").Array() {
			if name.String() != "help" {
				out = append(out, name.String())
			}
		}
		return out
	}
	return nil
}
