// Package signin signs a person, or a client by itself, in at one remote MCP server with OAuth, and authenticates
// requests to it (MCP authorization, 2025-11-25 and 2026-07-28).
//
// A [Session] is the sign-in at one server. Its [Session.RoundTripper] is between the MCP client and the network: it
// adds the access token, refreshes it in time, and records what a refusal asks for. [Session.Login] runs the flow
// with a browser, [Session.Complete] finishes it in another process, and [Session.Logout] ends it.
//
//	401 → challenge → resource metadata → authorization server metadata → client id
//	    → browser (code, PKCE, state, resource) → callback (state, iss) → tokens → Store
//
// With [Server.ClientCredentials] the client id and secret are exchanged for a token without a browser, and again
// when the token expires.
//
// Tokens are kept in a [Store], which several processes share. This package handles them unencrypted and logs none.
// The caller reads the settings, and tells people which command to run.
//
// Discovery, registration and PKCE use the official SDK (oauthex) and x/oauth2. Every address in a document is
// checked before it is used, and again when it is dialed: see requestGuard.
package signin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Server holds the settings of a server. Only Name and URL are required.
type Server struct {
	Name string
	URL  string // http or https
	// ClientID and ClientSecret belong to a client that was registered by hand.
	ClientID, ClientSecret string
	// ClientMetadataURL is the https address of a document that describes the client. Authorization servers that read
	// such documents take the address as client id, unless ClientID is set (MCP 2025-11-25, Authorization, Client ID
	// Metadata Documents).
	ClientMetadataURL string
	// ClientCredentials makes the client sign in by itself with ClientID and ClientSecret, both of which are required
	// then (RFC 6749, section 4.4). No person takes part: a token is requested when a request needs one, or at once
	// by [Session.Login].
	ClientCredentials bool
	// Scopes are asked for instead of those that the server names.
	Scopes []string
	// RedirectPort is the port of the callback on 127.0.0.1; 0 means any.
	RedirectPort int
}

// Store keeps tokens and registered clients across restarts. It is safe for concurrent use.
type Store interface {
	Get(ctx context.Context, name string) (value string, ok bool, err error)
	// Has reports whether there is a value, without asking a person for anything.
	Has(ctx context.Context, name string) (bool, error)
	Set(ctx context.Context, name, value string) error
	// Delete succeeds if there is no such value.
	Delete(ctx context.Context, name string) error
}

// Prefix begins the names of all values that this package stores.
const Prefix = "oauth:"

// Options are the optional parts of [New].
type Options struct {
	// Transport connects to the server itself. Requests to other hosts use copies that keep only its proxy and its
	// certificate authorities. Nil means a default transport.
	Transport *http.Transport
	// LockDir is a folder for lock files that keep processes from refreshing at the same time; empty means no such
	// protection.
	LockDir string
	// ClientName is the name that people see when they are asked to agree; empty means "Collie".
	ClientName string
	// Now is the clock; nil means the real one.
	Now func() time.Time
	// Logger; nil discards. No token, code or secret is logged.
	Logger *slog.Logger
}

const (
	// refreshBefore is how long before its end an access token is refreshed.
	refreshBefore = 60 * time.Second
	// requestTime bounds one request to an authorization server.
	requestTime = 30 * time.Second
	// recheckInterval is how often requests check whether another process has signed out.
	recheckInterval = 5 * time.Second
)

// Session is the sign-in at one server. It is safe for concurrent use.
type Session struct {
	server Server
	origin *url.URL // nil for a URL that cannot use OAuth
	store  Store
	opts   Options
	log    *slog.Logger
	guard  *requestGuard

	mu           sync.Mutex
	storeChecked time.Time // last check of the store; zero means never
	current      *record   // nil: not signed in, as far as is known
	unsaved      *record   // newer than current, and not stored yet
	challenge    challenge // of the server's last refusal
	needsSignIn  bool
	renewing     *renewal
	closed       bool
	wg           sync.WaitGroup
}

// New returns the session of a server. It uses neither the store nor the network.
func New(server Server, store Store, o Options) *Session {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.ClientName == "" {
		o.ClientName = "Collie"
	}
	s := &Session{server: server, store: store, opts: o, log: o.Logger.With("server", server.Name)}
	if u, err := url.Parse(server.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		u.User, u.Fragment, u.RawFragment = nil, "", ""
		s.origin = u
	}
	s.guard = newGuard(s.origin, o.Transport)
	return s
}

// Close waits for a refresh in progress, whose tokens would otherwise be lost, and closes connections. It may be
// called twice.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wg.Wait()
	s.guard.close()
	return nil
}

// Forget makes the next request read the store, where another process may have put a new sign-in. Without it, requests use
// the access token that they know as long as it is good.
func (s *Session) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.storeChecked = nil, time.Time{}
}

// NeedsAuth reports whether the server refused the last request because nobody is signed in, or no longer is (state
// needs_auth).
func (s *Session) NeedsAuth() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.needsSignIn
}

// Principal returns a digest that identifies who is signed in: of issuer, client and subject, or of the sign-in
// itself if the subject is unknown. It is empty while nobody is signed in. Lists fetched for one principal must not
// be shown to another.
func (s *Session) Principal(ctx context.Context) (string, error) {
	rec, err := s.cachedRecord(ctx)
	if err != nil || !rec.signedIn() {
		return "", err
	}
	subject := rec.Subject
	if subject == "" {
		subject = "login " + rec.Login
	}
	return digest(rec.Issuer, rec.ClientID, subject), nil
}

// digest returns a short name for a list of texts.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write([]byte(t))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a != nil && b != nil && a.Scheme == b.Scheme &&
		strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
