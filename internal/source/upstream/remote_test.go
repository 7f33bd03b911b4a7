//go:build unix

package upstream_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"collie/internal/mcp/mcptest"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// tokenStore keeps tokens in memory.
type tokenStore struct {
	mu     sync.Mutex
	values map[string]string
}

func (s *tokenStore) Get(_ context.Context, name string) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[name]
	return v, ok, nil
}

func (s *tokenStore) Has(ctx context.Context, name string) (bool, error) {
	_, ok, err := s.Get(ctx, name)
	return ok, err
}

func (s *tokenStore) Set(_ context.Context, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[name] = value
	return nil
}

func (s *tokenStore) Delete(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, name)
	return nil
}

// serveGuarded returns the URL of a fakemcp behind a server that refuses requests for which guard returns false. metadata
// is the address of its resource metadata, if it has any.
func serveGuarded(t *testing.T, guard func(*http.Request) bool, metadata ...string) string {
	t.Helper()
	behind := mcptest.StartHTTP(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !guard(r) {
			challenge := "Bearer"
			for _, address := range metadata {
				challenge += ` resource_metadata="` + address + `"`
			}
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		relay(w, r, behind)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// relay forwards a request.
func relay(w http.ResponseWriter, r *http.Request, to string) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, to, r.Body)
	if err != nil {
		panic(err)
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	flush, _ := w.(http.Flusher)
	for buf := make([]byte, 4096); ; {
		n, err := resp.Body.Read(buf)
		_, _ = w.Write(buf[:n])
		flush.Flush()
		if err != nil {
			return
		}
	}
}

// newRemoteSet returns a set of one server, not started, whose entry was parsed with env.
func newRemoteSet(t *testing.T, raw string, o upstream.Options, env map[string]string) *upstream.Set {
	t.Helper()
	e, problems := entry.Parse("s0", json.RawMessage(raw), entry.Options{
		Dir: t.TempDir(), Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Cache: &entry.Cache{Enabled: true, MaxAge: 1 << 50, MaxStale: 1 << 51},
	})
	for _, p := range problems {
		if p.Severity == entry.SeverityError {
			t.Fatal(p.Message)
		}
	}
	set := upstream.NewSet([]upstream.Spec{{Entry: e, Problems: problems}}, o)
	t.Cleanup(func() { closeSet(t, set) })
	return set
}

// A server that answers 401 in the middle of a session is in needs_auth until it answers again: with OAuth, with a
// token in the settings, and with neither.
func TestSignedOutInMidSession(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tokens signin.Store
		more   string
		hint   string
	}{
		"oauth":          {tokens: &tokenStore{}, hint: "collie mcp auth s0 signs you in"},
		"no oauth":       {hint: "collie mcp auth s0 signs you in"},
		"own header":     {more: `,"headers":{"Authorization":"Bearer x"}`, hint: "check the token in its settings"},
		"another header": {more: `,"headers":{"X-Team":"x"}`, hint: "collie mcp auth s0 signs you in"},
		"token":          {more: `,"apiKey":"x"`, hint: "check the token in its settings"},
		"nobody":         {more: `,"auth":{"type":"none"}`, hint: `change auth in its settings: "none" tells the server nothing`},
		"credentials": {
			tokens: &tokenStore{}, more: `,"auth":{"grantType":"client_credentials","clientId":"i","clientSecret":"s"}`,
			hint: "check auth.clientId and auth.clientSecret of s0 in the settings, and what the authorization server lets that client do",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shut atomic.Bool
			url := serveGuarded(t, func(*http.Request) bool { return !shut.Load() })
			set := newRemoteSet(t, `{"url":"`+url+`"`+test.more+`}`, upstream.Options{Tokens: test.tokens}, nil)
			s := set.Servers()[0]
			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(t.Context(), newToolCall("echo", `{"text":"a"}`)); err != nil {
				t.Fatal(err)
			}
			shut.Store(true)
			for range 2 {
				_, err := s.Run(t.Context(), newToolCall("echo", `{"text":"a"}`))
				e, ok := err.(*tool.Error) //nolint:errorlint // that is what is wanted
				if !ok || e.Kind != tool.NeedsAuth || e.Hint != test.hint || e.OutcomeUnknown {
					t.Fatalf("a call of one who is signed out: %#v", err)
				}
			}
			if st := s.Status(); st.State != tool.StateNeedsAuth || st.Reason != "auth_required" || st.Detail != test.hint || st.Hint != test.hint {
				t.Errorf("it is %s (%s): %s", st.State, st.Reason, st.Detail)
			}
			shut.Store(false)
			if _, err := s.Run(t.Context(), newToolCall("echo", `{"text":"a"}`)); err != nil {
				t.Fatal(err)
			}
			if st := s.Status(); st.State != tool.StateReady || st.Reason != "" || st.Detail != "" {
				t.Errorf("when it answers again it is %s (%s): %s", st.State, st.Reason, st.Detail)
			}
		})
	}
}

// After a restart a new sign-in is used, which another process has stored, though the old token is still good.
func TestRestartUsesANewSignIn(t *testing.T) {
	t.Parallel()
	p := signintest.New(t, signintest.Behaviour{})
	var got atomic.Value
	url := serveGuarded(t, func(r *http.Request) bool {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got.Store(token)
		return p.Valid(token)
	}, p.URL+"/.well-known/oauth-protected-resource/mcp")
	p.Change(func(b *signintest.Behaviour) { b.Resource = url })
	o := upstream.Options{Tokens: &tokenStore{}}
	raw := `{"url":"` + url + `"}`
	e, _ := entry.Parse("s0", json.RawMessage(raw), entry.Options{Dir: t.TempDir()})
	signIn := func() {
		t.Helper()
		session, err := upstream.SignIn(&e, o.Tokens, upstream.SignInOptions{})
		if err == nil {
			defer session.Close()
			err = session.Login(t.Context(), signin.LoginOptions{OpenBrowser: p.Browser(nil)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	signIn()
	s := newRemoteSet(t, raw, o, nil).Servers()[0]
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := got.Load()
	signIn()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.Load() == first {
		t.Error("after the restart it is the old sign-in that is used")
	}
}

// Lists fetched for one signed-in user are not shown to another, nor without a sign-in.
func TestAnotherPrincipalDoesNotSeeTheList(t *testing.T) {
	t.Parallel()
	o := upstream.Options{Tokens: &tokenStore{}, Key: make([]byte, 32)}
	o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key})
	t.Cleanup(func() { _ = o.Cache.Close() })
	const raw = `{"url":"http://127.0.0.1:1/mcp"}`
	e, _ := entry.Parse("s0", json.RawMessage(raw), entry.Options{Dir: t.TempDir()})
	for principal, want := range map[string]int{"": 1, "somebody": 0} {
		o.Cache.Store("s0", &toolcache.Entry{
			Tools: []json.RawMessage{json.RawMessage(`{"name":"a"}`)}, ConfigHash: e.ConfigHash(o.Key), ServerConfig: json.RawMessage(`{}`),
			Principal: principal, Era: "legacy", ProtocolVersion: "2025-11-25", Transport: "http",
		})
		set := newRemoteSet(t, raw, o, nil)
		set.Peek()
		if st := set.Servers()[0].Status(); st.Tools != want {
			t.Errorf("nobody sees %d tools that %q was shown, want %d", st.Tools, principal, want)
		}
	}
}

// A server without a sign-in is in needs_auth after its first start, and is not retried.
func TestNobodyIsSignedIn(t *testing.T) {
	t.Parallel()
	url := serveGuarded(t, func(*http.Request) bool { return false })
	set := newRemoteSet(t, `{"url":"`+url+`","auth":{"type":"oauth"}}`, upstream.Options{Tokens: &tokenStore{}}, nil)
	s := set.Servers()[0]
	if err := s.Start(t.Context()); tool.KindOf(err) != tool.NeedsAuth {
		t.Errorf("a start: %v", err)
	}
	if st := s.Status(); st.State != tool.StateNeedsAuth || st.NextRetry != nil || st.Reason != "auth_required" {
		t.Errorf("it is %s (%s), next retry %v", st.State, st.Reason, st.NextRetry)
	}
}

// headersCommand supplies headers for each connection. Its output appears in no error and no log.
func TestHeadersCommand(t *testing.T) {
	t.Parallel()
	const secret = "t0p-s3cret-value"
	url := serveGuarded(t, func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+secret })
	for name, test := range map[string]struct {
		print string // the shell script that the command runs
		state tool.State
		want  string // a part of the status detail
	}{
		"right":        {`printf '{"Authorization":"Bearer ` + secret + `"}'`, tool.StateReady, ""},
		"wrong token":  {`printf '{"Authorization":"Bearer other"}'`, tool.StateNeedsAuth, "401"},
		"no JSON":      {`echo ` + secret, tool.StateBackoff, "not a JSON object of texts"},
		"bad name":     {`printf '{"A b":"` + secret + `"}'`, tool.StateBackoff, `the header "A b"`},
		"bad value":    {`printf '{"A":"` + secret + `\\n"}'`, tool.StateBackoff, `the header "A"`},
		"fails":        {`echo ` + secret + `; exit 3`, tool.StateBackoff, "headersCommand"},
		"prints a lot": {`printf '%70000s' ` + secret, tool.StateBackoff, "65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := json.Marshal(test.print)
			if err != nil {
				t.Fatal(err)
			}
			set := newRemoteSet(t, `{"url":"`+url+`","headersCommand":{"command":"/bin/sh","args":["-c",`+string(script)+`]}}`, upstream.Options{}, nil)
			s := set.Servers()[0]
			err = s.Start(t.Context())
			st := s.Status()
			if st.State != test.state || (err == nil) != (test.state == tool.StateReady) || !strings.Contains(st.Detail, test.want) {
				t.Errorf("it is %s: %s; %v", st.State, st.Detail, err)
			}
			if strings.Contains(st.Detail, secret) || err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("what the command printed is told: %s; %v", st.Detail, err)
			}
		})
	}
}

// A server that repeats the token that headersCommand printed does not bring it into its status, its log or an error.
func TestPrintedSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const secret = "t0p-s3cret-value"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no good: "+r.Header.Get("Authorization"), http.StatusBadRequest)
	}))
	defer server.Close()
	set := newRemoteSet(t, `{"url":"`+server.URL+`","headersCommand":{"command":"/bin/sh","args":["-c","printf '{\"Authorization\":\"Bearer `+secret+`\"}'"]}}`, upstream.Options{}, nil)
	s := set.Servers()[0]
	err := s.Start(t.Context())
	st := s.Status()
	if err == nil || !strings.Contains(st.Detail, "no good: Bearer ***") {
		t.Errorf("it is %s: %s; %v", st.State, st.Detail, err)
	}
	if strings.Contains(st.Detail+err.Error(), secret) {
		t.Errorf("what the command printed is told: %s; %v", st.Detail, err)
	}
}

// When a server no longer accepts the token that headersCommand printed, the call gets a connection with a new one. If
// the new one is refused too, a person has to act.
func TestHeadersCommandPrintsANewToken(t *testing.T) {
	t.Parallel()
	var accepted atomic.Value
	url := serveGuarded(t, func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+accepted.Load().(string) })
	file := filepath.Join(t.TempDir(), "headers.json")
	printFrom := func(token string) {
		if err := os.WriteFile(file, []byte(`{"Authorization":"Bearer `+token+`"}`), 0o600); err != nil {
			t.Error(err)
		}
	}
	accepted.Store("one")
	printFrom("one")
	s := newRemoteSet(t, `{"url":"`+url+`","headersCommand":{"command":"/bin/cat","args":["`+file+`"]}}`, upstream.Options{}, nil).Servers()[0]
	for _, token := range []string{"one", "two", "three"} {
		accepted.Store(token)
		printFrom(token)
		if _, err := s.Run(t.Context(), newToolCall("echo", `{"text":"a"}`)); err != nil {
			t.Fatalf("with token %s: %v", token, err)
		}
	}
	accepted.Store("four")
	if _, err := s.Run(t.Context(), newToolCall("echo", `{"text":"a"}`)); tool.KindOf(err) != tool.NeedsAuth {
		t.Errorf("with a token that stays refused: %v", err)
	}
	if st := s.Status(); st.State != tool.StateNeedsAuth || st.Hint != "check what its headersCommand prints" {
		t.Errorf("it is %s: %s", st.State, st.Hint)
	}
}
