package signin_test

import (
	"context"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
	"collie/internal/tool"
)

// A sign-in works with each of these servers, asks with PKCE, and is shared by all processes.
func TestLogin(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]signintest.Behaviour{
		"challenge":               {},
		"well-known":              {SilentChallenge: true},
		"openid location":         {OpenIDOnly: true},
		"no resource metadata":    {NoResourceMetadata: true},
		"no metadata at all":      {Undocumented: true},
		"issuer announced":        {AnnounceIss: true},
		"second issuer":           {Issuers: []string{"http://127.0.0.1:1/none", ""}},
		"client secret, basic":    {ClientSecret: true, AuthMethods: []string{"client_secret_basic"}},
		"client secret, in form":  {ClientSecret: true, AuthMethods: []string{"private_key_jwt", "client_secret_post"}},
		"resource is the root":    {Resource: "/"},
		"resource without slash":  {Resource: "root"},
		"no refresh token at all": {NoRefresh: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSigninTest(t, b)
			x.Change(func(b *signintest.Behaviour) {
				switch b.Resource {
				case "/":
					b.Resource = x.URL + "/"
				case "root":
					b.Resource = x.URL
				}
				if b.Issuers != nil {
					b.Issuers[1] = x.TrueIssuer()
				}
			})
			pages := make(chan string, 1)
			x.wantStatus(x.session, 401)
			if !x.session.NeedsAuth() {
				t.Error("NeedsAuth is false after a refusal")
			}
			err := x.session.Login(t.Context(), signin.LoginOptions{OpenBrowser: x.Browser(pages)})
			if err != nil {
				t.Fatal(err)
			}
			if page := <-pages; !strings.Contains(page, "Signed in") || !strings.Contains(page, "已登录") {
				t.Errorf("the callback shows %q", page)
			}
			if x.session.NeedsAuth() {
				t.Error("NeedsAuth is true after a sign-in")
			}
			x.wantStatus(x.session, 200)
			x.wantStatus(x.openSession(signin.Server{}), 200) // another process
			q := x.Seen().Authorize
			for _, p := range []string{"state", "code_challenge", "resource", "redirect_uri"} {
				if q.Get(p) == "" {
					t.Errorf("the request has no %s: %v", p, q)
				}
			}
			if got := x.Seen().Registration["application_type"]; got != "native" {
				t.Errorf("application_type = %v, want native", got)
			}
			for name := range x.store.all() {
				if strings.Contains(name, "pending") {
					t.Errorf("%s is left in the store", name)
				}
			}
		})
	}
}

// A token that was given for one server's URL is not used for another URL, nor for a server of another name.
func TestTokensAreKeyedByIssuerResourceAndClient(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.wantStatus(x.openSession(signin.Server{Name: "second"}), 401)
	x.wantStatus(x.openSession(signin.Server{URL: x.MCP() + "?account=2"}), 401)
	second := x.openSession(signin.Server{Name: "second"})
	x.login(second)
	x.wantStatus(second, 200)
	x.wantStatus(x.session, 200)
	var keys []string
	for name, v := range x.store.all() {
		if strings.HasPrefix(name, signin.Prefix+"token:") {
			keys = append(keys, name)
		}
		if !strings.HasPrefix(name, signin.Prefix) || strings.Contains(name, "canary") {
			t.Errorf("name %q in the store", name)
		}
		if strings.Contains(v, "127.0.0.1") && !strings.Contains(v, x.TrueIssuer()) {
			t.Errorf("%s does not name its issuer", name)
		}
	}
	if len(keys) != 2 { // two registered clients
		t.Errorf("tokens are kept under %q, want two keys", keys)
	}
}

// Without a browser the person opens the address elsewhere and types what comes back. A wrong answer is asked for
// again.
func TestSignInWithoutBrowser(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(callback string) string{
		"whole address": func(s string) string { return " " + s + "\n" },
		"query":         func(s string) string { return s[strings.Index(s, "?"):] },
		"code":          func(s string) string { u, _ := url.Parse(s); return u.Query().Get("code") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSigninTest(t, signintest.Behaviour{})
			shown := make(chan string, 1)
			asked := 0
			err := x.session.Login(t.Context(), signin.LoginOptions{
				OpenBrowser: func(context.Context, string) error { return errors.New("no display") },
				ShowURL: func(address string, opened bool) {
					if opened {
						t.Error("told that a browser was opened")
					}
					shown <- address
				},
				Answer: func(ctx context.Context, problem string) (string, error) {
					asked++
					if asked == 1 {
						return "http://127.0.0.1:1/callback?code=x&state=wrong", nil
					}
					if !strings.Contains(problem, "state") {
						t.Errorf("the second question says %q, want what was wrong", problem)
					}
					callback, err := x.Visit(ctx, <-shown)
					return answer(callback), err
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			x.wantStatus(x.session, 200)
		})
	}
}

// With collie mcp auth NAME --code … the answer is given to another process, and the process that waits ends too.
func TestCodeIsEnteredInAnotherProcess(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{AnnounceIss: true})
	shown, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- x.session.Login(t.Context(), signin.LoginOptions{ShowURL: func(address string, _ bool) { shown <- address }})
	}()
	callback, err := x.Visit(t.Context(), <-shown)
	if err != nil {
		t.Fatal(err)
	}
	other := x.openSession(signin.Server{})
	wantError(t, other.Complete(t.Context(), "http://127.0.0.1/callback?error=x&state=other"), "state")
	u, _ := url.Parse(callback)
	wantError(t, other.Complete(t.Context(), u.Query().Get("state")), "whole address") // a code alone names no issuer
	if err := other.Complete(t.Context(), callback); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
	x.wantStatus(x.session, 200)
	wantError(t, other.Complete(t.Context(), callback), "no sign-in waits")
}

// An answer from another issuer, or one that refuses, ends the sign-in without using a code. Forged callbacks are
// ignored.
func TestAnswersThatAreDiscarded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		b    signintest.Behaviour
		want string
	}{
		"another issuer":           {signintest.Behaviour{Iss: "https://evil.example"}, "evil.example"},
		"issuer with a slash more": {signintest.Behaviour{Iss: "slash"}, "issuer"},
		"denied":                   {signintest.Behaviour{Deny: true}, "access_denied (the person said no)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSigninTest(t, test.b)
			x.Change(func(b *signintest.Behaviour) {
				if b.Iss == "slash" {
					b.Iss = x.TrueIssuer() + "/"
				}
			})
			wantError(t, x.session.Login(t.Context(), x.loginOptions()), test.want)
			if n := x.Seen().Codes; n != 0 {
				t.Errorf("the code was sent %d times", n)
			}
			x.wantStatus(x.session, 401)
		})
	}
	t.Run("announced issuer is missing", func(t *testing.T) {
		t.Parallel()
		x := newSigninTest(t, signintest.Behaviour{AnnounceIss: true})
		o := signin.LoginOptions{OpenBrowser: func(ctx context.Context, address string) error {
			callback, err := x.Visit(ctx, address)
			if err != nil {
				return err
			}
			u, _ := url.Parse(callback)
			q := u.Query()
			q.Del("iss")
			u.RawQuery = q.Encode()
			go x.Follow(context.WithoutCancel(ctx), u.String()) //nolint:errcheck // the login tells
			return nil
		}}
		wantError(t, x.session.Login(t.Context(), o), "does not name its issuer")
	})
	t.Run("forged callbacks do not end the wait", func(t *testing.T) {
		t.Parallel()
		x := newSigninTest(t, signintest.Behaviour{})
		o := signin.LoginOptions{OpenBrowser: func(ctx context.Context, address string) error {
			callback, err := x.Visit(ctx, address)
			if err != nil {
				return err
			}
			go func() {
				ctx := context.WithoutCancel(ctx)
				base, _, _ := strings.Cut(callback, "?")
				for _, forged := range []string{"?code=x", "?code=x&state=y", "?error=access_denied&state=y", "?", "?code=a&code=b"} {
					if page, err := x.Follow(ctx, base+forged); err != nil || !strings.Contains(page, "not the answer") {
						t.Errorf("%s: %q, %v", forged, page, err)
					}
				}
				_, _ = x.Follow(ctx, callback)
			}()
			return nil
		}}
		if err := x.session.Login(t.Context(), o); err != nil {
			t.Error(err)
		}
	})
}

// A sign-in fails if the server's metadata is inconsistent, unsafe or too large, and says why.
func TestMetadataThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		b    signintest.Behaviour
		want string
	}{
		"other resource":    {signintest.Behaviour{Resource: "https://other.example/mcp"}, "other.example"},
		"issuer mismatch":   {signintest.Behaviour{Issuer: "https://other.example"}, "issuer"},
		"no PKCE":           {signintest.Behaviour{NoPKCE: true}, "PKCE"},
		"no issuers":        {signintest.Behaviour{Issuers: []string{}}, "names no authorization server"},
		"javascript issuer": {signintest.Behaviour{Issuers: []string{"javascript:alert(1)"}}, "expected an https URL"},
		"http issuer":       {signintest.Behaviour{Issuers: []string{"http://as.example"}}, "expected an https URL"},
		"http token URL":    {signintest.Behaviour{TokenEndpoint: "http://as.example/token"}, "token_endpoint"},
		"no client":         {signintest.Behaviour{NoRegistration: true}, "register Collie there by hand"},
		"endless":           {signintest.Behaviour{Pad: 2 << 20}, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSigninTest(t, test.b)
			wantError(t, x.session.Login(t.Context(), x.loginOptions()), test.want)
		})
	}
}

// For a server without OAuth, the hint says how to configure a key instead.
func TestNoOAuthAtAll(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{NoResourceMetadata: true, Issuer: "https://unrelated.example"})
	wantError(t, x.session.Login(t.Context(), x.loginOptions()), "issuer")
	s := x.openSession(signin.Server{URL: x.URL + "/elsewhere"})
	x.Change(func(b *signintest.Behaviour) { b.NoResourceMetadata, b.OpenIDOnly = true, true })
	err := s.Login(t.Context(), x.loginOptions())
	wantError(t, err, "the server offers no OAuth")
	if e, ok := errors.AsType[*tool.Error](err); !ok || !strings.Contains(e.Hint, "Authorization") {
		t.Errorf("hint of %v does not say how a key is configured", err)
	}
	wantError(t, x.openSession(signin.Server{URL: "unix:///x.sock#/mcp"}).Login(t.Context(), x.loginOptions()), "http or https")
}

// A client that the settings name is used with its secret, also for a refresh. The secret is not stored.
func TestConfiguredClient(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{NoRegistration: true, AuthMethods: []string{"client_secret_basic"}})
	s := x.openSession(signin.Server{ClientID: "by hand & Co", ClientSecret: "canary-configured", Scopes: []string{"read", "write"}})
	o := signin.LoginOptions{OpenBrowser: func(ctx context.Context, address string) error {
		u, _ := url.Parse(address)
		x.Register("by hand & Co", "canary-configured", u.Query().Get("redirect_uri"))
		return x.Browser(nil)(ctx, address)
	}}
	if err := s.Login(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	x.wantStatus(s, 200)
	if got := x.Seen().Authorize.Get("scope"); got != "read write" {
		t.Errorf("scope = %q, want the configured ones", got)
	}
	if strings.Contains(x.store.text(), "canary-configured") {
		t.Error("the configured secret was stored")
	}
	x.clock.advance(refreshDue)
	x.wantStatus(s, 200)
	if x.Seen().Refreshes != 1 {
		t.Error("no refresh with the configured secret")
	}
}

// Where the server takes client metadata documents, the document's URL is the client, and nothing is registered.
func TestClientMetadataDocument(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{ClientDocuments: true})
	s := signin.New(signin.Server{Name: "notes", URL: x.MCP(), ClientMetadataURL: "https://collie.example/client.json"}, x.store, signin.Options{})
	t.Cleanup(func() { _ = s.Close() })
	x.login(s)
	x.wantStatus(s, 200)
	if n := x.Seen().Registrations; n != 0 {
		t.Errorf("%d registrations, want none where the server takes documents", n)
	}
}

// Where no client can be registered, the person is asked for one.
func TestAskedClient(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{NoRegistration: true})
	o := x.loginOptions()
	o.AskClient = func(_ context.Context, redirect string) (string, string, error) {
		x.Register("typed", "", redirect)
		return "typed", "", nil
	}
	if err := x.session.Login(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	x.wantStatus(x.session, 200)
}

// A client is registered once, and used for as long as the server knows it.
func TestRegistrationIsUsedAgain(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.login(x.openSession(signin.Server{}))
	if n := x.Seen().Registrations; n != 1 {
		t.Errorf("%d registrations for two sign-ins, want 1", n)
	}
	x.ForgetClients()
	x.clock.advance(refreshDue)
	x.wantStatus(x.session, 401) // the refresh says invalid_client
	x.login(x.session)
	x.wantStatus(x.session, 200)
	if n := x.Seen().Registrations; n != 2 {
		t.Errorf("%d registrations, want a new one for a server that forgot us", n)
	}
}

// The requested scopes come from the challenge, else from the metadata, with offline_access if it is offered.
func TestScopes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		b    signintest.Behaviour
		want string
	}{
		"challenge":      {signintest.Behaviour{ChallengeScope: "a b", ScopesSupported: []string{"x"}}, "a b"},
		"supported":      {signintest.Behaviour{ScopesSupported: []string{"x", "y"}}, "x y"},
		"none":           {signintest.Behaviour{}, ""},
		"offline access": {signintest.Behaviour{ChallengeScope: "a", ASScopes: []string{"a", "offline_access"}}, "a offline_access"},
		"nonsense":       {signintest.Behaviour{ScopesSupported: []string{"x y", "", "ok", "ok"}}, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSigninTest(t, test.b)
			x.login(x.session)
			if got := x.Seen().Authorize.Get("scope"); got != test.want {
				t.Errorf("scope = %q, want %q", got, test.want)
			}
		})
	}
}

// A sign-in that waits for an answer ends with its context.
func TestLoginEndsWithItsContext(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	ctx, cancel := context.WithCancel(t.Context())
	o := signin.LoginOptions{
		ShowURL: func(string, bool) { cancel() },
		Answer: func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", io.EOF
		},
	}
	if err := x.session.Login(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

// A callback port that cannot be used is an error.
func TestRedirectPort(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	s := x.openSession(signin.Server{RedirectPort: 1}) // needs rights that tests do not have, or is taken
	err := s.Login(t.Context(), x.loginOptions())
	if err == nil {
		t.Skip("this user may listen on port 1")
	}
	wantError(t, err, "callback")
}

// Principal tells signed-in users apart. Without a known subject, each sign-in counts as another user.
func TestPrincipal(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	who := func(s *signin.Session) string {
		t.Helper()
		p, err := s.Principal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := who(x.session); p != "" {
		t.Errorf("principal of nobody = %q", p)
	}
	x.login(x.session)
	first := who(x.session)
	if first == "" || first != who(x.openSession(signin.Server{})) {
		t.Errorf("principal = %q, and %q in another process", first, who(x.openSession(signin.Server{})))
	}
	x.login(x.session)
	if who(x.session) == first {
		t.Error("the principal stays though somebody else may have signed in")
	}
	x.Change(func(b *signintest.Behaviour) { b.IDToken = `{"sub":"ann"}` })
	x.login(x.session)
	ann := who(x.session)
	x.login(x.session)
	if who(x.session) != ann {
		t.Error("the principal of a known subject changes with the sign-in")
	}
	x.Change(func(b *signintest.Behaviour) { b.IDToken = `{"sub":"bob"}` })
	x.login(x.session)
	if got := []string{first, ann, who(x.session)}; len(slices.Compact(slices.Sorted(slices.Values(got)))) != 3 {
		t.Errorf("principals %q, want three", got)
	}
}
