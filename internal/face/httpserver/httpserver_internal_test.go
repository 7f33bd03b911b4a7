package httpserver

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"collie/test/await"
)

func TestGuessesRefill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g wrongTokens
		a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff:1")
		for i := range guessBurst {
			if w := g.fail(a); w != 0 {
				t.Fatalf("guess %d waits %v", i, w)
			}
		}
		for _, addr := range []netip.Addr{a, b} { // both are in one /64 and count as one
			if w := g.waitFor(addr); w <= 0 || w > guessEvery {
				t.Errorf("%v waits %v", addr, w)
			}
		}
		if w := g.waitFor(netip.MustParseAddr("2001:db8:0:1::1")); w != 0 {
			t.Errorf("a stranger waits %v", w)
		}
		await.Sleep(guessEvery)
		if w := g.waitFor(a); w != 0 {
			t.Errorf("after the wait: %v", w)
		}
		if g.fail(a) != 0 || g.fail(a) == 0 {
			t.Error("want one guess after one wait")
		}
	})
}

func TestGuessesAreBounded(t *testing.T) {
	t.Parallel()
	var g wrongTokens
	addr := netip.MustParseAddr("10.0.0.0")
	for range 3 * maxGuesser {
		addr = addr.Next()
		g.fail(addr)
	}
	if n := len(g.byAddr); n > maxGuesser {
		t.Errorf("%d addresses are remembered, want %d at most", n, maxGuesser)
	}
	if g.byAddr[addr] == nil {
		t.Error("the last one is forgotten")
	}
}

func newTestChecks(tb testing.TB, opts Options, addr string) *checks {
	tb.Helper()
	at, err := resolve(tb.Context(), addr)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := newChecks(opts.withDefaults(), at)
	if err != nil {
		tb.Fatal(err)
	}
	a.hosts.port = at.port
	a.afterStop = func(f func()) func() bool { return context.AfterFunc(tb.Context(), f) }
	return a
}

func TestGuesserFromElsewhereWaitsWithAnyToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newTestChecks(t, Options{Keys: []Key{{Name: "token", Secret: "right"}}}, "0.0.0.0:1")
		try := func(remote, token string) (string, int) {
			r := &http.Request{RemoteAddr: remote, Header: http.Header{"Authorization": {"Bearer " + token}}, URL: &url.URL{}}
			id, local, f := a.identify(r)
			if f != nil {
				return "", f.Status
			}
			return string(id.key(local).Origin), 200
		}
		for range guessBurst {
			if _, status := try("192.0.2.7:1", "wrong"); status != 401 {
				t.Fatalf("status %d", status)
			}
		}
		if _, status := try("192.0.2.7:2", "right"); status != 429 {
			t.Errorf("the right token while it waits: status %d", status)
		}
		if origin, status := try("192.0.2.8:1", "right"); status != 200 || origin != "mcp-remote" {
			t.Errorf("a neighbour: %d %s", status, origin)
		}
		await.Sleep(guessEvery)
		if _, status := try("192.0.2.7:3", "right"); status != 200 {
			t.Errorf("after the wait: status %d", status)
		}
	})
}

func TestHostOffLoopback(t *testing.T) {
	t.Parallel()
	open := newTestChecks(t, Options{}, "0.0.0.0:7420")
	if !open.hosts.allow("whatever.example:80") {
		t.Error("without a list any Host passes off loopback: the token guards")
	}
	if got := open.origins.status("http://evil.example:7420", "evil.example:7420", false); got != foreignOrigin {
		t.Error("a Host that was not checked makes no Origin ours")
	}
	closed := newTestChecks(t, Options{AllowedHosts: []string{"notes.example"}}, "192.0.2.1:7420")
	for value, want := range map[string]bool{
		"notes.example": true, "192.0.2.1:7420": true, "localhost:7420": true, "evil.example": false, "192.0.2.2:7420": false,
	} {
		if got := closed.hosts.allow(value); got != want {
			t.Errorf("%s: %t, want %t", value, got, want)
		}
	}
	if closed.origins.status("http://192.0.2.1:99", "192.0.2.1:7420", false) != knownOrigin {
		t.Error("the host in the address is an origin of ours")
	}
}

func TestWarnsWithoutTLS(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tc := range []struct {
		at   boundAddr
		cert *certificate
		want bool
	}{
		{boundAddr{}, nil, true},
		{boundAddr{loopback: true}, nil, false},
		{boundAddr{}, new(certificate), false},
	} {
		var b bytes.Buffer
		d := &Server{listener: newPort(l.(*net.TCPListener), nil), log: slog.New(slog.NewTextHandler(&b, nil)), cert: tc.cert}
		d.warnWithoutTLS(tc.at)
		if got := strings.Contains(b.String(), "level=WARN"); got != tc.want {
			t.Errorf("%+v: log %q", tc, b.String())
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for addr, loopback := range map[string]bool{
		"127.0.0.1:1": true, "127.8.9.1:1": true, "[::1]:1": true, "localhost:1": true, "[::ffff:127.0.0.1]:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "192.0.2.1:1": false,
	} {
		at, err := resolve(t.Context(), addr)
		if err != nil || at.loopback != loopback {
			t.Errorf("%s: loopback %t, want %t (%v)", addr, at.loopback, loopback, err)
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{
		"localhost", "127.0.0.1:7420", "[::1]:7420", "[::1%25lo]", "localhost.", "evil.example:7420", "[", "[]:", ":", "localhoſt",
		"localhost:07420", "a@localhost", "localhost\x00", "[::ffff:7f00:1]", "xn--localhost", "[::1]7420", "notes.example:443",
	} {
		f.Add(s)
	}
	a := newTestChecks(f, Options{NoAuth: true, AllowedHosts: []string{"notes.example:443"}}, "127.0.0.1:7420")
	names := []string{"localhost", "127.0.0.1", "::1", "notes.example"}
	f.Fuzz(func(t *testing.T, s string) {
		if !a.hosts.allow(s) {
			return
		}
		u, err := url.Parse("http://" + s + "/")
		if err != nil || u.Host != s || u.User != nil {
			t.Fatalf("%q is allowed, and is not a host: %v", s, err)
		}
		name := strings.ToLower(u.Hostname())
		if ip, err := netip.ParseAddr(name); err == nil {
			name = ip.String()
		}
		if !slices.Contains(names, name) || !slices.Contains([]string{"", "7420", "443"}, u.Port()) {
			t.Errorf("%q is allowed", s)
		}
	})
}

func FuzzOrigin(f *testing.F) {
	for _, s := range []string{
		"null", "", "http://localhost", "https://127.0.0.1:1", "http://[::1]:65535", "http://localhost@evil.example", "http://localhost/",
		"http://localhost#evil", "http://localhoſt", "chrome-extension://abc", "https://app.example:443", "http://evil.example\\@localhost",
		"http://localhost:80:80", "://localhost", "HTTP://localhost", "http://app.example",
	} {
		f.Add(s)
	}
	a := newTestChecks(f, Options{NoAuth: true, AllowedOrigins: []string{"https://app.example", "tool.example"}}, "127.0.0.1:7420")
	f.Fuzz(func(t *testing.T, s string) {
		got := a.origins.status(s, "127.0.0.1:7420", false)
		if got == foreignOrigin {
			return
		}
		u, err := url.Parse(s)
		if err != nil || u.Path != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("%q has standing %d, and is not an origin: %v", s, got, err)
		}
		name := strings.ToLower(u.Hostname())
		if ip, err := netip.ParseAddr(name); err == nil {
			name = ip.String()
		}
		own := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, name)
		app := name == "app.example" && u.Scheme == "https" && (u.Port() == "" || u.Port() == "443")
		if want := app || name == "tool.example"; want != (got == listedOrigin) || !want && !own {
			t.Errorf("%q has standing %d", s, got)
		}
		if u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("scheme of %q passes", s)
		}
	})
}

// discard is a ResponseWriter that does nothing.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func hotRequest(tb testing.TB) (*checks, *http.Request) {
	tb.Helper()
	const token = "Zk3bq0vXw5oY1yqWJx2l8c7Jm4n6p9r0sTuVwXyZ012"
	a := newTestChecks(tb, Options{
		Routes:       []string{"/mcp", "/api/v1/", "/metrics"},
		AllowedHosts: []string{"notes.example"},
		Keys: []Key{
			{Name: "token", Secret: token}, {Name: "control", Secret: "c" + token}, {Name: "bridge", Secret: "b" + token},
		},
	}, "127.0.0.1:7420")
	a.next = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "http://127.0.0.1:7420/mcp", strings.NewReader("{}"))
	if err != nil {
		tb.Fatal(err)
	}
	r.RemoteAddr = "127.0.0.1:54321"
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return a, r
}

// Not parallel, because it counts allocations.
func TestHotPathAllocations(t *testing.T) {
	a, r := hotRequest(t)
	w := discard{http.Header{}}
	passed := false
	a.next = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true })
	// The two allocations are the context with the key, and the copy of the request that net/http makes for
	// it.
	if n := testing.AllocsPerRun(1000, func() { a.ServeHTTP(w, r) }); n > 2 || !passed {
		t.Errorf("%v allocations a request, want 2 (passed: %t)", n, passed)
	}
	if n := testing.AllocsPerRun(1000, func() { _, _, _ = a.identify(r) }); n != 0 {
		t.Errorf("%v allocations to check a token, want none", n)
	}
}

func BenchmarkAdmit(b *testing.B) {
	a, r := hotRequest(b)
	w := discard{http.Header{}}
	run := func(h http.Handler) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, r)
			}
		}
	}
	b.Run("bare", run(a.next))
	b.Run("checked", run(a))
}
