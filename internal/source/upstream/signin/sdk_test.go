package signin_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"collie/internal/mcp"
	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
)

// serveProtected returns the URL of the official SDK's MCP server behind the SDK's token check, with x as the issuer.
func serveProtected(t *testing.T, x *signinTest, scopes ...string) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	type none struct{}
	sdk.AddTool(s, &sdk.Tool{Name: "whoami"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "signed in"}}}, nil, nil
	})
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	const place = "/.well-known/oauth-protected-resource/mcp"
	mux.Handle(place, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: server.URL + "/mcp", AuthorizationServers: []string{x.TrueIssuer()}, ScopesSupported: scopes,
	}))
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		if !x.Valid(token) {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Scopes: strings.Fields(x.Scope(token)), Expiration: time.Now().Add(time.Hour)}, nil
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	mux.Handle("/mcp", auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{
		ResourceMetadataURL: server.URL + place, Scopes: scopes,
	})(handler))
	x.Change(func(b *signintest.Behaviour) { b.Resource = server.URL + "/mcp" })
	return server.URL + "/mcp"
}

// silent handles the server's messages: it ignores notifications and refuses requests.
type silent struct{}

func (silent) Notification(mcp.Message, any) {}

func (silent) Request(context.Context, mcp.Message, any) (json.RawMessage, error) {
	return nil, errors.New("nothing is answered")
}

// connectClient opens an MCP session through a sign-in, as for a server of the settings.
func connectClient(t *testing.T, url string, s *signin.Session) (*mcp.Client, error) {
	t.Helper()
	base := mcp.NewHTTPTransport(nil)
	t.Cleanup(base.CloseIdleConnections)
	link := mcp.DialHTTP(url, silent{}, &mcp.HTTPOptions{Transport: s.RoundTripper(base)})
	t.Cleanup(func() { _ = link.Close() })
	return mcp.Connect(t.Context(), link, mcp.ClientOptions{Info: json.RawMessage(`{"name":"t","version":"1"}`), Protocol: "legacy"})
}

// With the official SDK as the resource server, its metadata suffices to sign in, and its check accepts our tokens
// through a whole MCP session.
func TestOfficialServer(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	url := serveProtected(t, x, "mcp:tools")
	s := x.openSession(signin.Server{URL: url})
	_, err := connectClient(t, url, s)
	if e, ok := errors.AsType[*mcp.LinkError](err); !ok || e.Status != http.StatusUnauthorized || !s.NeedsAuth() {
		t.Fatalf("connect = %v, NeedsAuth %v, want a refusal", err, s.NeedsAuth())
	}
	if err := s.Login(t.Context(), x.loginOptions()); err != nil {
		t.Fatal(err)
	}
	if got := x.Seen().Authorize.Get("scope"); got != "mcp:tools" {
		t.Errorf("scope = %q, want that of the challenge", got)
	}
	client, err := connectClient(t, url, s)
	if err != nil {
		t.Fatal(err)
	}
	call := func() {
		t.Helper()
		got, err := client.Link.Call(t.Context(), &mcp.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"whoami","arguments":{}}`), Name: "whoami"})
		if err != nil || !strings.Contains(string(got.Result), "signed in") {
			t.Fatalf("call = %s, %v", got.Result, err)
		}
	}
	call()
	x.ForgetTokens(false) // the token is refreshed in the middle of a session
	call()
	if n := x.Seen().Refreshes; n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
}
