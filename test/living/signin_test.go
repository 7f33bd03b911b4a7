package living_test

import (
	"net/http"
	"strings"
	"testing"

	"collie/internal/config"
	"collie/internal/mcp/mcptest"
	secretadmin "collie/internal/secret/admin"
	serveradmin "collie/internal/source/upstream/admin"
	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
	"collie/internal/tool"
	"collie/test/gateway"
)

// tokenGuard is an MCP server that refuses requests without a valid token.
type tokenGuard struct {
	http.Handler
	p *signintest.Provider
}

// ServeHTTP implements [http.Handler].
func (s tokenGuard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !s.p.Valid(token) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.p.URL+`/.well-known/oauth-protected-resource/mcp"`)
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	}
	s.Handler.ServeHTTP(w, r)
}

// serveGuarded serves an MCP server that requires an OAuth sign-in, and returns it with the provider that issues its
// tokens.
func serveGuarded(t *testing.T, flags ...string) (*signintest.Provider, *remote) {
	t.Helper()
	inner, err := mcptest.Handler(flags...)
	if err != nil {
		t.Fatal(err)
	}
	p := signintest.New(t, signintest.Behaviour{})
	far := serveRemote(t, tokenGuard{inner, p})
	p.Change(func(b *signintest.Behaviour) { b.Resource = "http://" + far.addr + "/mcp" })
	return p, far
}

// signIn signs in at a server of the home, as `collie mcp auth` does.
func (h *home) signIn(t *testing.T, p *signintest.Provider, server string) {
	t.Helper()
	cfg, err := config.Load(config.Options{Files: []string{h.settings}, Home: h.dir})
	if err == nil {
		err = serveradmin.SignIn(t.Context(), cfg, config.Env{}, server, serveradmin.SignInOptions{LoginOptions: signin.LoginOptions{OpenBrowser: p.Browser(nil)}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// secretsInFile is a section of the settings that keeps secrets in a file, because tests must not use the keyring of
// the system.
const secretsInFile = `"secrets":{"store":"file"}`

// The cached list of one user is not shown to another.
func TestListsOfAnotherUser(t *testing.T) {
	t.Parallel()
	p, far := serveGuarded(t, "--offer", "echo")
	h := newHome(t, []gateway.Server{{Name: "r", Entry: far.entry()}, twoServers[1]}, secretsInFile)
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "b__echo")
	if st := g.Servers(t)["r"]; st.State != tool.StateNeedsAuth || !strings.Contains(st.Detail, "collie mcp auth r") {
		t.Errorf("before anybody has signed in: %+v", st)
	}
	stopGateway(t, g)

	h.signIn(t, p, "r")
	h.fillCache(t)
	if e := cacheEntry(t, h.cachePath(), "r"); e.Get("principal").Str == "" {
		t.Fatalf("the entry does not say whose it is: %s", e.Raw)
	}
	g = h.serve(t)
	wantNames(t, dialLegacy(t, g), "r__echo", "b__echo")
	if st := g.Servers(t)["r"]; st.Freshness != tool.FreshHit {
		t.Errorf("for the same user: %+v", st)
	}
	stopGateway(t, g)

	if out, stderr, code := h.run(t, "mcp", "logout", "r"); code != 0 {
		t.Fatalf("logout: exit code %d: %s%s", code, out, stderr)
	}
	h.signIn(t, p, "r")
	far.stop() // so that a list can only come from the cache
	g = h.serveReady(t)
	wantNames(t, dialLegacy(t, g), "b__echo")
	far.start()
	c = dialLegacy(t, g)
	g.Act(t, "r", "restart")
	awaitNames(t, c, "r__echo", "b__echo")
}

// With the grant client_credentials a server is signed in to from the start, without a person or a command.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	p, far := serveGuarded(t, "--offer", "echo")
	p.Register("robot", "canary-robot", "")
	server := `{"url":"http://` + far.addr + `/mcp","auth":{"grantType":"client_credentials","clientId":"robot","clientSecret":"${secret:ROBOT}"}}`
	h := newHome(t, []gateway.Server{{Name: "r", Entry: server}}, secretsInFile)
	cfg, err := config.Load(config.Options{Files: []string{h.settings}, Home: h.dir})
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := secretadmin.Open(cfg, nil)
	if err == nil {
		err = secrets.Set(t.Context(), "ROBOT", "canary-robot")
	}
	if err != nil {
		t.Fatal(err)
	}
	g := h.serve(t)
	c := dialLegacy(t, g)
	awaitNames(t, c, "r__echo")
	wantEcho(t, c, "r")
	if n := p.Seen().Credentials; n != 1 {
		t.Errorf("%d tokens for the client, want one", n)
	}
	p.ForgetTokens(true)
	wantEcho(t, c, "r")

	out, stderr, code := h.run(t, "mcp", "auth", "r")
	if code != 0 || !strings.Contains(out, "signed in to r") || p.Seen().Authorize != nil {
		t.Errorf("mcp auth: exit code %d, authorization %v: %s%s", code, p.Seen().Authorize, out, stderr)
	}
}

// If the settings have a wrong token, the error says to check it there, and does not suggest `collie mcp auth`, which
// refuses such a server.
func TestWrongTokenInTheSettings(t *testing.T) {
	t.Parallel()
	_, far := serveGuarded(t, "--offer", "echo")
	server := `{"url":"http://` + far.addr + `/mcp","headers":{"Authorization":"Bearer wrong"}}`
	h := newHome(t, []gateway.Server{{Name: "r", Entry: server}}, secretsInFile)
	for _, running := range []bool{false, true} {
		if running {
			h.serveReady(t)
		}
		for _, args := range [][]string{{"tools", "r"}, {"call", "r", "echo", "text=a"}, {"mcp", "auth", "r"}, {"mcp", "doctor", "r"}} {
			out, stderr, code := h.run(t, args...)
			said := out + stderr
			if code == 0 || !strings.Contains(said, "check the token in its settings") || strings.Contains(said, "mcp auth r") {
				t.Errorf("%q, gateway running %v: exit code %d: %s", args, running, code, said)
			}
		}
	}
}
