package httpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"collie/internal/face/httpserver"
	"collie/internal/tool"
)

const secret = "correct-horse-battery-staple"

// running is a running server with a client whose connections end with the test.
type running struct {
	*httpserver.Server
	client *http.Client
	log    *logBuffer
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startServer opens a server on a free loopback port with the handler h, or with one that answers who called.
func startServer(t *testing.T, opts httpserver.Options, h http.Handler) *running {
	t.Helper()
	log := new(logBuffer)
	opts.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if opts.Addr == "" {
		opts.Addr = "127.0.0.1:0"
	}
	if opts.Keys == nil && !opts.NoAuth {
		opts.Keys = []httpserver.Key{{Name: "token", Secret: secret}}
	}
	if h == nil {
		h = http.HandlerFunc(whoami)
	}
	d, err := httpserver.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- d.Serve(ctx, h) }()
	t.Cleanup(func() {
		cancel()
		transport.CloseIdleConnections()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &running{Server: d, client: &http.Client{Transport: transport}, log: log}
}

func whoami(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
		return
	}
	k, ok := httpserver.KeyFrom(r.Context())
	fmt.Fprintf(w, "%s %s manage=%t secret=%q found=%t", k.Name, k.Origin, k.Manage, k.Secret, ok)
}

type answer struct {
	status int
	header http.Header
	body   string
	fault  struct{ Type, Message, Hint string }
}

// do sends a request with the right token, modified by edit.
func (s *running) do(t *testing.T, method, path string, edit func(*http.Request)) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	if edit != nil {
		edit(r)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, body: string(body)}
	if a.status >= 400 && len(body) > 0 && method != http.MethodHead {
		var e struct {
			Error *struct{ Type, Message, Hint string } `json:"error"`
		}
		if err := json.Unmarshal(body, &e); err != nil || e.Error == nil || e.Error.Type == "" || e.Error.Message == "" {
			if a.status != http.StatusServiceUnavailable {
				t.Errorf("%s %s: body %q is not an error object", method, path, body)
			}
		} else {
			a.fault = *e.Error
		}
		if ct := a.header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("%s %s: Content-Type %q", method, path, ct)
		}
	}
	if strings.Contains(a.body, secret) || strings.Contains(s.log.String(), secret) {
		t.Errorf("%s %s: the secret shows in the answer or the log", method, path)
	}
	return a
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	key := []httpserver.Key{{Name: "token", Secret: secret}}
	for name, tc := range map[string]struct {
		opts httpserver.Options
		want string
	}{
		"no key":             {httpserver.Options{Addr: "127.0.0.1:0"}, "no token"},
		"no-auth everywhere": {httpserver.Options{Addr: "0.0.0.0:0", NoAuth: true}, "--no-auth is for loopback only"},
		"no-auth, no host":   {httpserver.Options{Addr: ":0", NoAuth: true}, "--no-auth is for loopback only"},
		"no-auth, mapped":    {httpserver.Options{Addr: "[::ffff:192.0.2.1]:0", NoAuth: true}, "--no-auth is for loopback only"},
		"no key everywhere":  {httpserver.Options{Addr: "[::]:0"}, "no token"},
		"cert without key":   {httpserver.Options{Addr: "127.0.0.1:0", Keys: key, TLSCert: "c.pem"}, "only one of them"},
		"key without cert":   {httpserver.Options{Addr: "127.0.0.1:0", Keys: key, TLSKey: "k.pem"}, "only one of them"},
		"missing cert":       {httpserver.Options{Addr: "127.0.0.1:0", Keys: key, TLSCert: "c.pem", TLSKey: "k.pem"}, "c.pem"},
		"address":            {httpserver.Options{Addr: "7420", Keys: key}, "not an address"},
		"empty secret":       {httpserver.Options{Addr: "127.0.0.1:0", Keys: []httpserver.Key{{Name: "token"}}}, "keys"},
		"long secret":        {httpserver.Options{Addr: "127.0.0.1:0", Keys: []httpserver.Key{{Name: "token", Secret: strings.Repeat("x", 257)}}}, "keys"},
		"same secret":        {httpserver.Options{Addr: "127.0.0.1:0", Keys: []httpserver.Key{key[0], {Name: "control", Secret: secret}}}, "keys"},
		"same name":          {httpserver.Options{Addr: "127.0.0.1:0", Keys: []httpserver.Key{key[0], {Name: "token", Secret: "other"}}}, "keys"},
		"any host":           {httpserver.Options{Addr: "127.0.0.1:0", Keys: key, AllowedHosts: []string{"*"}}, "allowed hosts"},
		"any origin":         {httpserver.Options{Addr: "127.0.0.1:0", Keys: key, AllowedOrigins: []string{"*"}}, "allowed origins"},
		"origin null":        {httpserver.Options{Addr: "127.0.0.1:0", Keys: key, AllowedOrigins: []string{"https://a.example/path"}}, "allowed origins"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := httpserver.Open(t.Context(), tc.opts)
			if err == nil {
				d.Close()
				t.Fatal("Open let it pass")
			}
			e, ok := errors.AsType[*tool.Error](err)
			if !ok || e.Kind != tool.Invalid || e.Hint == "" {
				t.Errorf("error %#v: want kind invalid and a hint", err)
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(fmt.Sprint(e.Error(), e.Hint), secret) {
				t.Errorf("error %q, want %q in it and no secret", err, tc.want)
			}
		})
	}
}

func TestBusyPortNamesOwner(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = httpserver.Open(t.Context(), httpserver.Options{Addr: l.Addr().String(), NoAuth: true})
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.Unavailable || e.Hint == "" {
		t.Fatalf("error %#v", err)
	}
	want := "in use by "
	if runtime.GOOS == "linux" {
		want = fmt.Sprintf("(pid %d)", os.Getpid())
	}
	if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("error %q, want %q and the address in it", err, want)
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{Addr: "localhost:0"}, nil)
	_, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if want := "http://localhost:" + port; s.URL() != want {
		t.Errorf("URL %q, want %q", s.URL(), want)
	}
	if a := s.do(t, "POST", "/mcp", nil); a.status != http.StatusOK {
		t.Errorf("status %d", a.status)
	}
}

func TestKeysHaveIdentities(t *testing.T) {
	t.Parallel()
	s := startServer(t, httpserver.Options{Keys: []httpserver.Key{
		{Name: "token", Secret: secret},
		{Name: "control", Secret: "c-secret", Origin: tool.Direct, Manage: true},
		{Name: "bridge", Secret: "b-secret", Origin: tool.MCPLocal},
	}}, nil)
	open := startServer(t, httpserver.Options{NoAuth: true, Keys: []httpserver.Key{
		{Name: "control", Secret: "c-secret", Origin: tool.Direct, Manage: true},
	}}, nil)
	with := func(header, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(header, value) }
	}
	for name, tc := range map[string]struct {
		at   *running
		edit func(*http.Request)
		want string
	}{
		"token":                {s, nil, `token mcp-local manage=false secret="" found=true`},
		"scheme in any case":   {s, with("Authorization", "bearer  "+secret), `token mcp-local manage=false secret="" found=true`},
		"forwarded":            {s, with("X-Forwarded-For", "192.0.2.1"), `token mcp-remote manage=false secret="" found=true`},
		"control":              {s, with("Authorization", "Bearer c-secret"), `control direct manage=true secret="" found=true`},
		"bridge":               {s, with("Authorization", "Bearer b-secret"), `bridge mcp-local manage=false secret="" found=true`},
		"no-auth":              {open, with("Authorization", ""), `anonymous mcp-local manage=false secret="" found=true`},
		"no-auth, none":        {open, func(r *http.Request) { r.Header.Del("Authorization") }, `anonymous mcp-local manage=false secret="" found=true`},
		"no-auth, stale":       {open, with("Authorization", "Bearer stale"), `anonymous mcp-local manage=false secret="" found=true`},
		"no-auth with a key":   {open, with("Authorization", "Bearer c-secret"), `control direct manage=true secret="" found=true`},
		"no-auth, a forwarder": {open, with("Forwarded", "for=192.0.2.1"), `anonymous mcp-remote manage=false secret="" found=true`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a := tc.at.do(t, "POST", "/mcp", tc.edit); a.status != http.StatusOK || a.body != tc.want {
				t.Errorf("%d %s, want %s", a.status, a.body, tc.want)
			}
		})
	}
}

func TestKeyHidesItsSecret(t *testing.T) {
	t.Parallel()
	k := httpserver.Key{Name: "token", Secret: secret}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("key", "key", k)
	if s := fmt.Sprintf("%v %+v %#v %s %s", k, k, k, k, b.String()); strings.Contains(s, secret) {
		t.Errorf("shown: %s", s)
	}
	if _, ok := httpserver.KeyFrom(t.Context()); ok {
		t.Error("a key came from nowhere")
	}
}

// Pages need no token, but are served only to the right Host and Origin. A signed-in browser needs no token for the API, and a
// request with a token counts as that token's, even from such a browser.
func TestPeopleAtPages(t *testing.T) {
	t.Parallel()
	signedOut, signOut := context.WithCancel(t.Context())
	s := startServer(t, httpserver.Options{
		Routes: []string{"/api/", "/pages/"}, Public: []string{"/pages/"}, Framed: []string{"/pages/frame/"},
		Browser: func(r *http.Request) (context.Context, bool) { return signedOut, r.Header.Get("Who") == "me" },
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/wait" {
			<-r.Context().Done()
			return
		}
		whoami(w, r)
	}))
	bare := func(r *http.Request) { r.Header.Del("Authorization") }
	page := func(r *http.Request) { bare(r); r.Header.Set("Who", "me") }
	for _, tt := range []struct {
		name, path string
		edit       func(*http.Request)
		status     int
		body       string
	}{
		{"a page", "/pages/x", bare, 200, "found=false"},
		{"a page, of another host", "/pages/x", func(r *http.Request) { bare(r); r.Host = "evil.example" }, 403, ""},
		{"a page, from another site", "/pages/x", func(r *http.Request) { bare(r); r.Header.Set("Origin", "https://evil.example") }, 403, ""},
		{"a page, from a frame without an origin", "/pages/x", func(r *http.Request) { bare(r); r.Header.Set("Origin", "null") }, 403, ""},
		{"a file of such a frame", "/pages/frame/x", func(r *http.Request) { bare(r); r.Header.Set("Origin", "null") }, 200, "found=false"},
		{"a file of such a frame, of another host", "/pages/frame/x", func(r *http.Request) { bare(r); r.Header.Set("Origin", "null"); r.Host = "evil.example" }, 403, ""},
		{"a file of such a frame, from another site", "/pages/frame/x", func(r *http.Request) { bare(r); r.Header.Set("Origin", "https://evil.example") }, 403, ""},
		{"the API, from such a frame", "/api/x", func(r *http.Request) { page(r); r.Header.Set("Origin", "null") }, 403, ""},
		{"beside the pages", "/pages", bare, 404, ""},
		{"no browser", "/api/x", bare, 401, ""},
		{"a person", "/api/x", page, 200, "browser direct manage=true"},
		{"a person with a token too", "/api/x", func(r *http.Request) { r.Header.Set("Who", "me") }, 200, "token mcp-local manage=false"},
		{"a person with a wrong token", "/api/x", func(r *http.Request) { page(r); r.Header.Set("Authorization", "Bearer x") }, 401, ""},
	} {
		if a := s.do(t, http.MethodGet, tt.path, tt.edit); a.status != tt.status || !strings.Contains(a.body, tt.body) {
			t.Errorf("%s: %d %s", tt.name, a.status, a.body)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.do(t, http.MethodGet, "/api/wait", page)
	}()
	signOut()
	<-ended
}
