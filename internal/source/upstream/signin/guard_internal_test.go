package signin

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// newTestGuard returns the guard of a server at the URL own.
func newTestGuard(t *testing.T, own string) *requestGuard {
	t.Helper()
	u, err := url.Parse(own)
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(u, nil)
	t.Cleanup(g.close)
	return g
}

// The metadata of a public server may name only public https addresses. A server in a private network or on this
// machine may also name private https addresses, and http addresses of this machine. Each may name its own origin.
func TestGuardChecksAddresses(t *testing.T) {
	t.Parallel()
	const public, private, loopback = "https://mcp.example.com/mcp", "https://192.168.1.20/mcp", "http://127.0.0.1:8080/mcp"
	for _, test := range []struct {
		own, url string
		ok       bool
	}{
		{public, "https://as.example.com/token", true},
		{public, "https://mcp.example.com/x", true},
		{public, "http://mcp.example.com/x", false}, // another origin
		{public, "http://as.example.com/token", false},
		{public, "http://127.0.0.1:9000/token", false},
		{public, "https://127.0.0.1/token", false},
		{public, "https://LOCALHOST./token", false},
		{public, "https://x.localhost/token", false},
		{public, "https://[::1]/token", false},
		{public, "https://[::ffff:10.0.0.1]/token", false},
		{public, "https://169.254.169.254/latest/meta-data", false},
		{public, "https://100.64.1.1/", false},
		{public, "https://0.0.0.0/", false},
		{public, "https://user:pw@as.example.com/", false},
		{public, "https:///token", false},
		{public, "javascript:alert(1)", false},
		{public, "file:///etc/passwd", false},
		{public, "", false},
		{private, "https://10.1.2.3/token", true},
		{private, "http://10.1.2.3/token", false},
		{private, "https://as.example.com/token", true},
		{private, "http://127.0.0.1:9000/token", true},
		{loopback, "http://localhost:9000/token", true},
		{loopback, "http://as.example.com/token", false},
		{"http://192.168.1.20/mcp", "http://192.168.1.20/.well-known/x", true}, // the origin that the user configured
	} {
		if err := newTestGuard(t, test.own).checkURL("token_endpoint", test.url); (err == nil) != test.ok {
			t.Errorf("%s names %q: %v, want ok %v", test.own, test.url, err, test.ok)
		}
	}
}

// The dialed address is checked, not the name.
func TestGuardChecksDialedAddress(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1111]:443": true,
		"127.0.0.1:443": false, "10.0.0.1:443": false, "[fd00::1]:443": false, "[fe80::1%eth0]:443": false,
		"[64:ff9b::a00:1]:443": false, "[::ffff:192.168.0.1]:80": false, "198.18.0.1:1": false, "nonsense": false,
	} {
		if err := refusePrivate("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v, want ok %v", address, err, ok)
		}
	}
	// The transport for other hosts uses the check.
	g := newTestGuard(t, "https://mcp.example.com/mcp")
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.public.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
		t.Error("a private address was dialed")
	} else if !strings.Contains(err.Error(), "private network") {
		t.Errorf("error = %v", err)
	}
}

// A server counts as private only if every address that was dialed for it is private.
func TestGuardDetectsPrivateServer(t *testing.T) {
	t.Parallel()
	addr := func(s string) address { return address(s) }
	g := newTestGuard(t, "https://mcp.corp.example/mcp")
	if g.isPrivate() {
		t.Error("a server counts as private before it was reached")
	}
	g.recordAddress(addr("10.0.0.5:443"))
	if !g.isPrivate() {
		t.Error("a server at 10.0.0.5 is not private")
	}
	g.recordAddress(addr("93.184.216.34:443"))
	if g.isPrivate() {
		t.Error("a server that also has a public address counts as private, which DNS rebinding could exploit")
	}
}

// address is a network address, for recordAddress.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// Reads follow redirects within limits; posts follow none.
func TestGuardRedirects(t *testing.T) {
	t.Parallel()
	var posted []string
	var server *httptest.Server
	mux := http.NewServeMux()
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/once", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/end", http.StatusFound) })
	mux.HandleFunc("/out", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://as.example.com/", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/post", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted = append(posted, string(body))
		_, _ = w.Write([]byte("end"))
	})
	server = httptest.NewServer(mux)
	defer server.Close()
	g := newTestGuard(t, server.URL)
	do := func(method, path string) (int, error) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader("code=canary"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := g.client().Do(req)
		if err != nil {
			return 0, err
		}
		resp.Body.Close()
		return resp.StatusCode, nil
	}
	if got, err := do(http.MethodGet, "/once"); got != 200 || err != nil {
		t.Errorf("one redirect = %d, %v", got, err)
	}
	if _, err := do(http.MethodGet, "/loop"); err == nil || !strings.Contains(err.Error(), "more than 5 redirects") {
		t.Errorf("a loop: %v", err)
	}
	if _, err := do(http.MethodGet, "/out"); err == nil || !strings.Contains(err.Error(), "expected an https URL") {
		t.Errorf("a redirect to where we may not go: %v", err)
	}
	posted = nil
	if got, err := do(http.MethodPost, "/post"); got != http.StatusTemporaryRedirect || err != nil || posted != nil {
		t.Errorf("a redirected post = %d, %v, and %q arrived elsewhere", got, err, posted)
	}
}

// Of a server's TLS settings, only the root certificates apply to other hosts.
func TestGuardSharesOnlyRootCAsWithOtherHosts(t *testing.T) {
	t.Parallel()
	pool := x509.NewCertPool()
	base := &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: pool, ServerName: "inner", InsecureSkipVerify: true,
		Certificates: []tls.Certificate{{}}, MinVersion: tls.VersionTLS12,
	}}
	u, _ := url.Parse("https://10.0.0.1/mcp")
	g := newGuard(u, base)
	defer g.close()
	for _, c := range []*tls.Config{g.unrestricted.TLSClientConfig, g.public.TLSClientConfig} {
		if c.RootCAs != pool || c.ServerName != "" || c.InsecureSkipVerify || len(c.Certificates) > 0 {
			t.Errorf("other hosts get %+v", c)
		}
	}
	if c := g.direct.TLSClientConfig; c.ServerName != "inner" || !c.InsecureSkipVerify {
		t.Error("the server itself does not get its own settings")
	}
}

// A body of more than maxBody bytes is an error.
func TestBodySizeIsLimited(t *testing.T) {
	t.Parallel()
	for size, ok := range map[int]bool{0: true, maxBody: true, maxBody + 1: false, 2 * maxBody: false} {
		b := &limitedBody{io.NopCloser(strings.NewReader(strings.Repeat("x", size))), maxBody + 1}
		got, err := io.ReadAll(b)
		if (err == nil) != ok || len(got) > maxBody+1 {
			t.Errorf("%d bytes: read %d, %v, want ok %v", size, len(got), err, ok)
		}
	}
}

// Scopes read from any WWW-Authenticate header hold no characters that could end them.
func FuzzReadChallenge(f *testing.F) {
	for _, s := range []string{
		"", "Bearer", `Bearer realm="x", scope="a b", error="insufficient_scope", resource_metadata="https://x/y"`,
		`Basic realm="a\"b", Bearer scope=a`, `"`, `Bearer a="`, `Bearer =`, "Bearer a=b c", `Bearer scope="\` + "\x00" + `"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := readChallenge(http.Header{"Www-Authenticate": {s}})
		for _, scope := range c.scopes {
			if strings.ContainsAny(scope, " \"\\\x00\r\n") {
				t.Errorf("scope %q of %q", scope, s)
			}
		}
	})
}

// An answer of an authorization server gives either a code or an error. One with parameters is accepted only with the
// pending state.
func FuzzParseAnswer(f *testing.F) {
	p := &pending{State: "state", Record: record{Issuer: "https://as.example"}}
	for _, s := range []string{"", "code", "http://127.0.0.1/callback?code=a&state=state", "?code=a&state=b", "code=%zz", "code=a&code=b&state=state", "a b", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := parseAnswer(s)
		code, err := p.codeOf(a)
		if (err == nil) != (code != "") {
			t.Errorf("%q: code %q, error %v", s, code, err)
		}
		if err == nil && a.bare == "" && a.values.Get("state") != "state" {
			t.Errorf("%q was accepted without the state", s)
		}
	})
}

// No token makes tokenSubject panic.
func FuzzTokenSubject(f *testing.F) {
	f.Add("a.eyJzdWIiOiJhbm4ifQ.b")
	f.Add("..")
	f.Add("a.e30.c")
	f.Fuzz(func(_ *testing.T, s string) { tokenSubject(s) })
}

// A URL on another host never counts as a parent of the server's URL.
func FuzzIsParentURL(f *testing.F) {
	f.Add("https://mcp.example.com/team")
	f.Add("https://mcp.example.com/team/mcp/..")
	f.Add("https://mcp.example.com@evil.example/")
	f.Fuzz(func(t *testing.T, s string) {
		own, _ := url.Parse("https://mcp.example.com/team/mcp")
		if !isParentURL(s, own) {
			return
		}
		u, err := url.Parse(s)
		if err != nil || u.Hostname() != "" && !strings.EqualFold(u.Hostname(), "mcp.example.com") {
			t.Errorf("%q counts as a parent of %s", s, own)
		}
	})
}

// A parent has the same origin, and its path is the server's or a whole-segment prefix of that.
func TestIsParentURL(t *testing.T) {
	t.Parallel()
	own, _ := url.Parse("https://mcp.example.com/team/mcp")
	for resource, want := range map[string]bool{
		"https://mcp.example.com/team/mcp": true, "https://mcp.example.com/team/mcp/": true,
		"https://mcp.example.com/team": true, "https://mcp.example.com/": true, "https://MCP.example.com:443": true,
		"https://mcp.example.com/tea": false, "https://mcp.example.com/team/mcp/x": false, "https://mcp.example.com/other": false,
		"http://mcp.example.com/team/mcp": false, "https://example.com": false, "https://mcp.example.com:8443/": false, "": false,
		"https://mcp.example.com/team/mcp#x": false,
	} {
		if got := isParentURL(resource, own); got != want {
			t.Errorf("%q is a parent of %s: %v, want %v", resource, own, got, want)
		}
	}
}

// The metadata of an authorization server is looked for at these URLs, in this order.
func TestAuthorityPlaces(t *testing.T) {
	t.Parallel()
	const oauth, openID = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	for issuer, want := range map[string]string{
		"https://a.example":          "https://a.example" + oauth + " https://a.example" + openID,
		"https://a.example/":         "https://a.example" + oauth + " https://a.example" + openID,
		"https://a.example/tenant/1": "https://a.example" + oauth + "/tenant/1 https://a.example" + openID + "/tenant/1 https://a.example/tenant/1" + openID,
	} {
		if got := strings.Join(authorityPlaces(issuer), " "); got != want {
			t.Errorf("%s: %s, want %s", issuer, got, want)
		}
	}
}

// Texts of others are shown without control characters, in one line and cut.
func TestQuoted(t *testing.T) {
	t.Parallel()
	if got := quoted("a\x1b[31m\r\nb\t中文"); got != "a [31m b 中文" {
		t.Errorf("quoted = %q", got)
	}
	if got := quoted(strings.Repeat("文", 500)); len([]rune(got)) != 201 {
		t.Errorf("%d characters of a long text", len([]rune(got)))
	}
}

func TestIsPublic(t *testing.T) {
	t.Parallel()
	if !isPublic(netip.MustParseAddr("1.1.1.1")) || isPublic(netip.MustParseAddr("172.20.0.1")) || isPublic(netip.Addr{}) {
		t.Error("public and private addresses are not told apart")
	}
}
