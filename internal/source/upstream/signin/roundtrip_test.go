package signin_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
	"collie/internal/tool"
)

// refreshDue is the age at which a token that is valid for an hour is refreshed.
const refreshDue = 59*time.Minute + 1*time.Second

// A token is refreshed once, when less than a minute of its lifetime is left.
func TestTokenIsRefreshedBeforeItExpires(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.clock.advance(58 * time.Minute)
	x.wantStatus(x.session, 200)
	if n := x.Seen().Refreshes; n != 0 {
		t.Fatalf("%d refreshes two minutes before the end, want none", n)
	}
	x.clock.advance(61 * time.Second)
	x.wantStatus(x.session, 200)
	x.wantStatus(x.session, 200)
	if n := x.Seen().Refreshes; n != 1 {
		t.Errorf("%d refreshes 59 s before the end, want 1", n)
	}
	if got := x.Seen().Token.Get("resource"); got != x.MCP() {
		t.Errorf("resource of the refresh = %q, want %q", got, x.MCP())
	}
}

// Calls in several processes that need a fresh token cause one refresh.
func TestConcurrentCallsRefreshOnce(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.clock.advance(refreshDue)
	sessions := []*signin.Session{x.session, x.openSession(signin.Server{}), x.openSession(signin.Server{})} // three processes
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if got, err := x.call(sessions[i%3]); got != 200 || err != nil {
				t.Errorf("call = %d, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := x.Seen().Refreshes; n != 1 {
		t.Errorf("%d refreshes of one token, want 1: rotation would have ended the sign-in", n)
	}
}

// New tokens are not used until they are stored. If storing fails they are kept for the next call.
func TestRotatedTokenIsStoredBeforeUse(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.clock.advance(2 * time.Hour)
	x.store.failWrites(errStore)
	calls := x.Seen().Calls
	if _, err := x.call(x.session); !errors.Is(err, errStore) {
		t.Fatalf("error = %v, want that of the store", err)
	}
	if x.Seen().Calls != calls {
		t.Error("a token was used that is not stored")
	}
	x.store.failWrites(nil)
	x.wantStatus(x.session, 200)
	if n := x.Seen().Refreshes; n != 1 {
		t.Errorf("%d refreshes, want 1: the first one's tokens were kept", n)
	}
	x.wantStatus(x.openSession(signin.Server{}), 200)
}

// Tokens that could not be stored do not undo what a person has done meanwhile in another process.
func TestTokensKeptForLaterUndoNothing(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		x := newSigninTest(t, signintest.Behaviour{NoRevocation: true})
		x.login(x.session)
		x.clock.advance(2 * time.Hour)
		x.store.failWrites(errStore)
		if _, err := x.call(x.session); !errors.Is(err, errStore) {
			t.Fatalf("error = %v, want that of the store", err)
		}
		x.store.failWrites(nil)
		elsewhere := x.openSession(signin.Server{})
		if _, err := elsewhere.Logout(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := 401
		if again {
			x.login(elsewhere)
			want = 200
		}
		before := x.store.text()
		x.clock.advance(6 * time.Second)
		x.wantStatus(x.session, want)
		if x.store.text() != before {
			t.Errorf("signed in again: %v: the store has changed to %s", again, x.store.text())
		}
	}
}

// A refresh token that the server rejects is deleted and not tried again. A person must sign in.
func TestInvalidGrantNeedsAuth(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.ForgetTokens(true)
	x.clock.advance(refreshDue)
	x.wantStatus(x.session, 401)
	if !x.session.NeedsAuth() {
		t.Error("NeedsAuth is false after invalid_grant")
	}
	x.wantStatus(x.session, 401)
	if n := x.Seen().Refreshes; n != 1 {
		t.Errorf("%d refreshes with a dead token, want 1", n)
	}
	if strings.Contains(x.store.text(), "canary-refresh") {
		t.Error("the dead token is still stored")
	}
	x.login(x.openSession(signin.Server{})) // in another process
	x.wantStatus(x.session, 200)
	if x.session.NeedsAuth() {
		t.Error("NeedsAuth is true though requests work")
	}
}

// A token that is refused before it expires is refreshed once, and the request is sent once more.
func TestRefusedTokenIsRefreshedOnce(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.ForgetTokens(false)
	x.wantStatus(x.session, 200)
	before := x.Seen()
	if before.Refreshes != 1 {
		t.Errorf("%d refreshes, want 1", before.Refreshes)
	}
	x.Change(func(b *signintest.Behaviour) { b.Resource = "https://another.example" }) // no token is accepted any more
	x.wantStatus(x.session, 401)
	if n := x.Seen().Calls - before.Calls; n > 2 {
		t.Errorf("%d tries of one request, want at most 2", n)
	}
}

// If a request's body cannot be sent twice, the refusal is returned, and the next request has a fresh token.
func TestBodyThatCannotBeReplayed(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.ForgetTokens(false)
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.MCP(), io.MultiReader(strings.NewReader("{}")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := x.session.RoundTripper(base).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 401 || x.session.NeedsAuth() {
		t.Errorf("status %d, NeedsAuth %v, want the refusal and a token for the next request", resp.StatusCode, x.session.NeedsAuth())
	}
	x.wantStatus(x.session, 200)
}

// If the authorization server is down, the old token is used to its end. After that, calls fail without asking a
// person. What a web framework writes as "error" of its own failures is not a verdict on the sign-in.
func TestAuthorizationServerThatFails(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "Service Unavailable"} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			x := newSigninTest(t, signintest.Behaviour{})
			x.login(x.session)
			x.Change(func(b *signintest.Behaviour) { b.TokenStatus, b.TokenError = 503, body })
			x.clock.advance(refreshDue)
			x.wantStatus(x.session, 200) // the old token is valid for another minute
			x.clock.advance(2 * time.Minute)
			_, err := x.call(x.session)
			wantError(t, err, "notes", "refresh")
			if tool.KindOf(err) != tool.Unavailable || x.session.NeedsAuth() {
				t.Errorf("kind %s, NeedsAuth %v: a person cannot help here", tool.KindOf(err), x.session.NeedsAuth())
			}
			x.Change(func(b *signintest.Behaviour) { b.TokenStatus = 0 })
			x.wantStatus(x.session, 200)
		})
	}
}

// A refresh token is dead if the authorization server says so, whatever the status.
func TestRefreshTokenRefusedWithAServerError(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.Change(func(b *signintest.Behaviour) { b.TokenStatus, b.TokenError = 500, "invalid_grant" })
	x.clock.advance(2 * time.Hour)
	x.wantStatus(x.session, 401)
	if !x.session.NeedsAuth() {
		t.Error("NeedsAuth is false though only a person can help")
	}
}

// If a request needs more scopes, the error names the granted and the missing ones, and the next sign-in asks for
// both.
func TestStepUpAddsScopes(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{ChallengeScope: "read"})
	x.login(x.session)
	x.wantStatus(x.session, 200)
	x.Change(func(b *signintest.Behaviour) { b.NeedScope = "admin" })
	calls := x.Seen().Calls
	_, err := x.call(x.session)
	needs, ok := errors.AsType[*signin.NeedsAuthError](err)
	if !ok || !slices.Equal(needs.Scopes, []string{"read", "admin"}) || tool.KindOf(err) != tool.NeedsAuth {
		t.Fatalf("error = %v, want one that wants read and admin", err)
	}
	wantError(t, err, "read admin")
	if n := x.Seen().Calls - calls; n != 1 {
		t.Errorf("%d tries of a request that a person has to allow, want 1", n)
	}
	x.login(x.openSession(signin.Server{})) // in another process, which has not seen the refusal
	if got := x.Seen().Authorize.Get("scope"); got != "read admin" {
		t.Errorf("scope of the step-up = %q, want the old ones kept", got)
	}
	x.wantStatus(x.session, 200) // at once, though the old token lives on
	x.clock.advance(time.Hour)
	x.wantStatus(x.session, 200)
}

// A 403 that does not ask for scopes is returned as it is.
func TestPlain403IsPassedOn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer server.Close()
	x := newSigninTest(t, signintest.Behaviour{})
	s := x.openSession(signin.Server{URL: server.URL})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	resp, err := s.RoundTripper(server.Client().Transport).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 403 || s.NeedsAuth() {
		t.Errorf("status %d, NeedsAuth %v", resp.StatusCode, s.NeedsAuth())
	}
}

// The token is only sent to the server's origin, and a header of the user's own takes precedence.
func TestTokenIsSentToServerOnly(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	got := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get("Authorization") }))
	defer other.Close()
	send := func(url, header string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		resp, err := x.session.RoundTripper(other.Client().Transport).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if req.Header.Get("Authorization") != header {
			t.Error("the caller's request was changed")
		}
	}
	send(other.URL, "")
	if h := <-got; h != "" {
		t.Errorf("another origin got %q", h)
	}
	send(other.URL, "Bearer mine")
	if h := <-got; h != "Bearer mine" {
		t.Errorf("the user's header became %q", h)
	}
	asked := x.Seen().Refreshes
	x.ForgetTokens(false)
	send(x.MCP(), "Bearer mine") // refused, and that is the user's business
	if x.Seen().Refreshes != asked || x.session.NeedsAuth() {
		t.Error("OAuth began though the user configured a header")
	}
}

// Requests to a server that nobody signed in to do not read the keyring.
func TestNobodySignedInReadsNoSecret(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.wantStatus(x.session, 401)
	x.wantStatus(x.session, 401)
	if x.store.asked != 0 {
		t.Errorf("the store was asked %d times for what it does not have", x.store.asked)
	}
}

// Logout revokes both tokens, deletes all that is stored, and ends the sign-in for all processes.
func TestLogout(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	other := x.openSession(signin.Server{})
	x.wantStatus(other, 200)
	revoked, err := x.session.Logout(t.Context())
	if err != nil || !revoked {
		t.Fatalf("logout = %v, %v", revoked, err)
	}
	if got := x.Seen().Revoked; !slices.Equal(got, []string{"refresh_token", "access_token"}) {
		t.Errorf("revoked %q, want both tokens", got)
	}
	if left := x.store.all(); len(left) != 0 {
		t.Errorf("%d values are left in the store", len(left))
	}
	x.wantStatus(x.session, 401)
	x.wantStatus(other, 401)
	_, err = x.session.Logout(t.Context())
	wantError(t, err, "nobody is signed in")
}

// Without revocation, another process must notice the logout by itself.
func TestLogoutWithoutRevocation(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{NoRevocation: true})
	x.login(x.session)
	other := x.openSession(signin.Server{})
	x.wantStatus(other, 200)
	if revoked, err := x.session.Logout(t.Context()); revoked || err != nil {
		t.Fatalf("logout = %v, %v, want nothing revoked", revoked, err)
	}
	x.clock.advance(10 * time.Second)
	x.wantStatus(other, 401)
}

// A stored record that cannot be parsed counts as no sign-in.
func TestDamagedRecordNeedsNewSignIn(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.store.mu.Lock()
	for name := range x.store.values {
		if strings.Contains(name, "token:") {
			x.store.values[name] = `{"accessToken":"canary"`
		}
	}
	x.store.mu.Unlock()
	s := x.openSession(signin.Server{})
	x.wantStatus(s, 401)
	x.login(s)
	x.wantStatus(s, 200)
}

// A caller that gives up does not lose the tokens for the others.
func TestRefreshOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	x := newSigninTest(t, signintest.Behaviour{})
	x.login(x.session)
	x.clock.advance(2 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, x.MCP(), nil)
	if _, err := x.session.RoundTripper(http.DefaultTransport).RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
	if err := x.session.Close(); err != nil {
		t.Fatal(err)
	}
	x.wantStatus(x.openSession(signin.Server{}), 200)
	if n := x.Seen().Refreshes; n != 1 {
		t.Errorf("%d refreshes, want the one whose caller went away", n)
	}
}
