package living_test

import (
	"net/http"
	"strings"
	"testing"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream/signin/signintest"
	"collie/internal/tool"
	"collie/test/gateway"
)

// guarded is an MCP server that answers nobody who is not signed in.
type guarded struct {
	http.Handler
	p *signintest.Provider
}

// ServeHTTP implements [http.Handler].
func (s guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !s.p.Valid(token) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.p.URL+`/.well-known/oauth-protected-resource/mcp"`)
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	}
	s.Handler.ServeHTTP(w, r)
}

// newGuarded serves such a server.
func newGuarded(t *testing.T, flags ...string) (*signintest.Provider, *remote) {
	t.Helper()
	inner, err := mcptest.Handler(flags...)
	if err != nil {
		t.Fatal(err)
	}
	p := signintest.New(t, signintest.Behaviour{})
	far := serveRemote(t, guarded{inner, p})
	p.Change(func(b *signintest.Behaviour) { b.Resource = "http://" + far.addr + "/mcp" })
	return p, far
}

// signIn signs somebody in at a server of the house, as collie mcp auth does.
func (h *house) signIn(t *testing.T, p *signintest.Provider, server string) {
	t.Helper()
	cfg, err := config.Load(config.Options{Files: []string{h.settings}, Home: h.dir})
	if err == nil {
		err = app.SignIn(t.Context(), cfg, config.Env{}, server, app.SignInOptions{OpenBrowser: p.Browser(nil)})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// keptInFiles keeps secrets in the home: the system's keyring is nobody's to test with.
const keptInFiles = `"secrets":{"store":"file"}`

// What one user was offered is not shown to another.
func TestSituation34AnotherUser(t *testing.T) {
	t.Parallel()
	p, far := newGuarded(t, "--offer", "echo")
	h := newHouse(t, []gateway.Server{{Name: "r", Entry: far.entry()}, two[1]}, keptInFiles)
	g := h.settled(t)
	c := legacy(t, g)
	wantNames(t, c, "b__echo")
	if st := g.Servers(t)["r"]; st.State != tool.StateNeedsAuth || !strings.Contains(st.Detail, "collie mcp auth r") {
		t.Errorf("before anybody has signed in: %+v", st)
	}
	stop(t, g)

	h.signIn(t, p, "r")
	h.warm(t)
	if e := entry(t, h.cache(), "r"); e.Get("principal").Str == "" {
		t.Fatalf("the entry does not say whose it is: %s", e.Raw)
	}
	g = h.serve(t)
	wantNames(t, legacy(t, g), "r__echo", "b__echo")
	if st := g.Servers(t)["r"]; st.Freshness != tool.FreshHit {
		t.Errorf("for the same user: %+v", st)
	}
	stop(t, g)

	if out, stderr, code := h.run(t, "mcp", "logout", "r"); code != 0 {
		t.Fatalf("logout: exit code %d: %s%s", code, out, stderr)
	}
	h.signIn(t, p, "r")
	far.stop() // so that nothing but the cache could tell
	g = h.settled(t)
	wantNames(t, legacy(t, g), "b__echo")
	far.start()
	c = legacy(t, g)
	g.Act(t, "r", "restart")
	awaitNames(t, c, "r__echo", "b__echo")
}
