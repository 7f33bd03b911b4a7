// Package signin signs a person, or a client by itself, in at one remote MCP server with OAuth,
// and keeps requests to it signed in (MCP authorization, 2025-11-25 and 2026-07-28).
//
// A [Session] is one server. Its [Session.RoundTripper] stands between the MCP client and the
// network: it adds the access token, refreshes it in time, and notes what the server wants when
// it refuses. [Session.Login] is the flow with a browser, [Session.Complete] its second half in
// another process, [Session.Logout] the way back.
//
//	401 → challenge → resource metadata → authorization server metadata → client id
//	    → browser (code, PKCE, state, resource) → callback (state, iss) → tokens → Store
//
// With [Server.ClientCredentials] the client id and its secret are traded for a token at once,
// with no browser between, and again when the token ends.
//
// Tokens lie in a [Store], which several processes share; in this package alone they are in
// the clear, and it logs none. What a server's settings say is its caller's business, and so is
// telling people which command to run.
//
// Discovery, registration and PKCE are those of the official SDK (oauthex) and of x/oauth2.
// Every address that a document names is checked before it is used, and again when it is
// dialed: see guard.
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

// Server is what the settings say of a server. Only Name and URL are needed.
type Server struct {
	Name string
	URL  string // http or https
	// ClientID and ClientSecret are those of a client that was registered by hand.
	ClientID, ClientSecret string
	// ClientMetadataURL is the https address of a document that describes the client. It is the
	// client id at authorization servers that read such documents, unless ClientID is set (MCP
	// 2025-11-25, Authorization, Client ID Metadata Documents).
	ClientMetadataURL string
	// ClientCredentials says that the client signs in for itself with ClientID and ClientSecret,
	// which are needed then (RFC 6749, section 4.4). No person takes part: a token is got when a
	// request needs one, and [Session.Login] only does so at once.
	ClientCredentials bool
	// Scopes are asked for instead of those that the server names.
	Scopes []string
	// RedirectPort is the port of the callback on 127.0.0.1; 0 means any.
	RedirectPort int
}

// Store keeps what must survive: tokens and registered clients. It is safe for concurrent use.
type Store interface {
	Get(ctx context.Context, name string) (value string, ok bool, err error)
	// Has tells whether there is a value without asking a person for anything.
	Has(ctx context.Context, name string) (bool, error)
	Set(ctx context.Context, name, value string) error
	// Delete is not an error where there is no such value.
	Delete(ctx context.Context, name string) error
}

// Prefix begins the names of everything that this package puts into a [Store].
const Prefix = "oauth:"

// Options are the optional parts of [New].
type Options struct {
	// Transport reaches the server itself; requests to other hosts go through copies of it
	// that keep its proxy and its certificate authorities, and nothing else. Nil means a
	// plain one.
	Transport *http.Transport
	// LockDir is a folder for lock files, so that of several processes only one refreshes; empty
	// leaves it to luck.
	LockDir string
	// ClientName is what people see when they are asked to agree; empty means "Collie".
	ClientName string
	// Now is the clock; nil means the real one.
	Now func() time.Time
	// Logger; nil discards. No token, code or secret is logged.
	Logger *slog.Logger
}

const (
	// early is how long before its end an access token is refreshed.
	early = 60 * time.Second
	// requestTime bounds one request to an authorization server.
	requestTime = 30 * time.Second
	// lookAgain is how often a request looks whether somebody has signed out elsewhere.
	lookAgain = 5 * time.Second
)

// Session is one server's sign-in. It is safe for concurrent use.
type Session struct {
	server Server
	origin *url.URL // nil for a URL that OAuth is not for
	store  Store
	opts   Options
	log    *slog.Logger
	guard  *guard

	mu        sync.Mutex
	looked    time.Time // when the store was asked last; zero is never
	current   *record   // nil: not signed in, as far as we know
	unsaved   *record   // newer than current, and not stored yet
	challenge challenge // what the server said last
	needs     bool
	renewing  *renewal
	closed    bool
	wg        sync.WaitGroup
}

// New returns the session of a server. It asks neither the store nor the network.
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

// Close waits for a refresh that is under way, whose tokens would be lost otherwise, and
// releases connections. It may be called twice.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wg.Wait()
	s.guard.close()
	return nil
}

// NeedsAuth reports whether the server refused the last request because nobody is signed in,
// or not any more (state needs_auth).
func (s *Session) NeedsAuth() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.needs
}

// Principal returns a digest that differs for whoever is signed in: of issuer, client and
// subject, where the subject is known, else of the sign-in itself. It is empty while nobody is.
// What was listed for one principal is not to be shown to another.
func (s *Session) Principal(ctx context.Context) (string, error) {
	rec, err := s.known(ctx)
	if err != nil || !rec.signedIn() {
		return "", err
	}
	who := rec.Subject
	if who == "" {
		who = "login " + rec.Login
	}
	return digest(rec.Issuer, rec.ClientID, who), nil
}

// digest is a short name for a list of texts.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write([]byte(t))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// sameOrigin reports whether two URLs lead to the same scheme, host and port.
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
