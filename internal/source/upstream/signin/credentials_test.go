package signin_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
	"collie/internal/tool"
)

// byItself is a server whose client signs in by itself.
var byItself = signin.Server{ClientID: "robot & Co", ClientSecret: "canary-robot", ClientCredentials: true}

// newMachineClient returns a test whose session signs in by itself.
func newMachineClient(t *testing.T, b signintest.Behaviour) *signinTest {
	t.Helper()
	x := newSigninTest(t, b)
	x.Register(byItself.ClientID, byItself.ClientSecret, "")
	x.session = x.openSession(byItself)
	return x
}

// A client with credentials of its own gets one token for all sessions, without a person and whatever the
// authorization server supports.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]signintest.Behaviour{
		"default":              {},
		"basic":                {AuthMethods: []string{"client_secret_basic"}},
		"post":                 {AuthMethods: []string{"client_secret_post"}},
		"no way for people":    {CredentialsOnly: true},
		"openid location":      {CredentialsOnly: true, OpenIDOnly: true},
		"no resource metadata": {NoResourceMetadata: true, CredentialsOnly: true},
		"refresh offered":      {ASScopes: []string{"offline_access"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newMachineClient(t, b)
			x.wantStatus(x.session, 200)
			x.wantStatus(x.session, 200)
			x.wantStatus(x.openSession(byItself), 200) // another process
			if x.session.NeedsAuth() {
				t.Error("NeedsAuth is true though requests work")
			}
			seen := x.Seen()
			if seen.Credentials != 1 || seen.Authorize != nil || seen.Registrations != 0 {
				t.Errorf("%d tokens for the client, authorization %v, %d registrations; want one, none and none",
					seen.Credentials, seen.Authorize, seen.Registrations)
			}
			if got := seen.Token.Get("resource"); got != x.MCP() {
				t.Errorf("resource = %q, want %q", got, x.MCP())
			}
			if got := seen.Token.Get("scope"); got != "" {
				t.Errorf("scope = %q, want none: nobody named one", got)
			}
			if text := x.store.text(); strings.Contains(text, "canary-robot") || strings.Contains(text, "canary-refresh") {
				t.Error("the configured secret or a refresh token was stored")
			}
		})
	}
}

// A client's own token is renewed before it ends, once for all processes, with the secret: no person and no refresh
// token is needed.
func TestClientCredentialsAreRenewed(t *testing.T) {
	t.Parallel()
	x := newMachineClient(t, signintest.Behaviour{})
	x.wantStatus(x.session, 200)
	before, err := x.session.Principal(t.Context())
	if err != nil || before == "" {
		t.Fatalf("principal = %q, %v", before, err)
	}
	x.clock.advance(refreshDue)
	sessions := []*signin.Session{x.session, x.openSession(byItself), x.openSession(byItself)}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if got, err := x.call(sessions[i%3]); got != 200 || err != nil {
				t.Errorf("call = %d, %v", got, err)
			}
		})
	}
	all.Wait()
	x.ForgetTokens(true) // it ended early
	x.wantStatus(x.session, 200)
	if seen := x.Seen(); seen.Credentials != 3 || seen.Refreshes != 0 {
		t.Errorf("%d tokens for the client and %d refreshes, want 3 and none", seen.Credentials, seen.Refreshes)
	}
	if after, err := x.session.Principal(t.Context()); err != nil || after != before {
		t.Errorf("principal = %q, %v after renewals, want the same %q: it is the same client", after, err, before)
	}
}

// If a new token cannot be had, the old one is used until it ends.
func TestClientCredentialsOutOfOrder(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "Internal Server Error"} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			x := newMachineClient(t, signintest.Behaviour{})
			x.wantStatus(x.session, 200)
			x.Change(func(b *signintest.Behaviour) { b.TokenStatus, b.TokenError = 503, body })
			x.clock.advance(refreshDue)
			x.wantStatus(x.session, 200)
			x.clock.advance(time.Minute)
			if _, err := x.call(x.session); tool.KindOf(err) != tool.Unavailable {
				t.Errorf("error = %v, want one that waiting cures", err)
			}
			x.Change(func(b *signintest.Behaviour) { b.TokenStatus = 0 })
			x.wantStatus(x.session, 200)
		})
	}
}

// If a client's credentials cannot be used, the error says why, and its hint names the settings to check.
func TestClientCredentialsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		b      signintest.Behaviour
		server signin.Server
		says   []string
	}{
		"wrong secret": {
			server: signin.Server{ClientID: byItself.ClientID, ClientSecret: "canary-wrong", ClientCredentials: true},
			says:   []string{"invalid_client", "notes"},
		},
		"grant": {
			server: signin.Server{ClientID: "public", ClientSecret: "", ClientCredentials: true},
			says:   []string{"unauthorized_client"},
		},
		"no way to show the secret": {
			b: signintest.Behaviour{AuthMethods: []string{"private_key_jwt"}}, server: byItself,
			says: []string{"token_endpoint_auth_methods_supported", "private_key_jwt", "client_secret_basic"},
		},
		"another issuer": {b: signintest.Behaviour{Issuer: "https://evil.example"}, server: byItself, says: []string{"https://evil.example", "/as"}},
		"no token endpoint": {
			b: signintest.Behaviour{TokenEndpoint: "ftp://x/token"}, server: byItself, says: []string{"token_endpoint"},
		},
		"private token endpoint": {
			b: signintest.Behaviour{TokenEndpoint: "http://192.168.7.7/token"}, server: byItself, says: []string{"token_endpoint", "https"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newMachineClient(t, test.b)
			x.Register("public", "", "")
			s := x.openSession(test.server)
			for what, do := range map[string]func() error{
				"call":  func() error { _, err := x.call(s); return err },
				"login": func() error { return s.Login(t.Context(), signin.LoginOptions{}) },
			} {
				err := do()
				wantError(t, err, test.says...)
				needs, ok := errors.AsType[*signin.NeedsAuthError](err)
				if !ok || !s.NeedsAuth() {
					t.Fatalf("%s: error = %#v, NeedsAuth %v: want one that says so", what, err, s.NeedsAuth())
				}
				if n := strings.Count(err.Error(), "sign in notes"); n != 1 {
					t.Errorf("error = %v: it says %d times what was done", err, n)
				}
				if e, _ := errors.AsType[*tool.Error](needs); e == nil || e.Kind != tool.NeedsAuth || !strings.Contains(e.Hint, "auth.clientSecret of notes") {
					t.Errorf("%s: error = %#v, want one that names the settings", what, e)
				}
			}
		})
	}
}

// A client that signs in by itself asks for missing scopes without a person, once.
func TestClientCredentialsStepUp(t *testing.T) {
	t.Parallel()
	x := newMachineClient(t, signintest.Behaviour{ChallengeScope: "read", NeedScope: "write"})
	x.wantStatus(x.session, 200)
	if got := x.Seen().Token.Get("scope"); got != "read write" {
		t.Errorf("scope = %q, want what was granted and what is missing", got)
	}
	if n := x.Seen().Credentials; n != 2 {
		t.Errorf("%d tokens, want 2", n)
	}

	x = newMachineClient(t, signintest.Behaviour{ChallengeScope: "read", NeedScope: "write", Grants: "read"})
	for range 3 {
		_, err := x.call(x.session)
		needs, ok := errors.AsType[*signin.NeedsAuthError](err)
		if !ok || strings.Join(needs.Scopes, " ") != "read write" {
			t.Fatalf("error = %v, want that the token does not cover it", err)
		}
		if e, _ := errors.AsType[*tool.Error](needs); !strings.Contains(e.Hint, "lets that client do") {
			t.Errorf("hint = %q", e.Hint)
		}
	}
	if n := x.Seen().Credentials; n != 2 {
		t.Errorf("%d tokens for a scope that is never granted, want 2", n)
	}
}

// mcp auth gets a token at once, with more scopes on request, and sends nobody to a browser.
func TestClientCredentialsLogin(t *testing.T) {
	t.Parallel()
	x := newMachineClient(t, signintest.Behaviour{})
	err := x.session.Login(t.Context(), signin.LoginOptions{
		OpenBrowser: func(context.Context, string) error { t.Error("a browser was opened"); return nil },
		ShowURL:     func(string, bool) { t.Error("an address was shown") },
		Scopes:      []string{"admin"},
	})
	if err != nil {
		t.Fatal(err)
	}
	x.wantStatus(x.session, 200)
	if seen := x.Seen(); seen.Credentials != 1 || seen.Token.Get("scope") != "admin" {
		t.Errorf("%d tokens, scope %q", seen.Credentials, seen.Token.Get("scope"))
	}
	if revoked, err := x.session.Logout(t.Context()); !revoked || err != nil {
		t.Errorf("logout = %v, %v", revoked, err)
	}
	if left := x.store.all(); len(left) != 0 {
		t.Errorf("%q is left after signing out", left)
	}
}

// A person's token is not used for the client, nor the client's for a person, even with the same client id.
func TestClientCredentialsAreNotAPersons(t *testing.T) {
	t.Parallel()
	x := newMachineClient(t, signintest.Behaviour{})
	person := signin.Server{ClientID: byItself.ClientID, ClientSecret: byItself.ClientSecret}
	s := x.openSession(person)
	o := signin.LoginOptions{OpenBrowser: func(ctx context.Context, address string) error {
		u, _ := url.Parse(address)
		x.Register(person.ClientID, person.ClientSecret, u.Query().Get("redirect_uri"))
		return x.Browser(nil)(ctx, address)
	}}
	if err := s.Login(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	x.wantStatus(s, 200)
	x.wantStatus(x.session, 200)
	if n := x.Seen().Credentials; n != 1 {
		t.Errorf("%d tokens for the client, want one: the person's is not its own", n)
	}
	x.wantStatus(x.openSession(person), 401)
	if text := x.store.text(); strings.Contains(text, "canary-refresh") {
		t.Error("the person's tokens are still stored")
	}
}
