package upstream

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/session"
	"collie/internal/source/upstream/signin"
	"collie/internal/tool"
)

// This file adds OAuth to connections of servers that use it.

// SignInOptions are the optional parts of [SignIn].
type SignInOptions struct {
	// LockDir is a folder for lock files that all processes of this home share.
	LockDir string
	Logger  *slog.Logger // nil discards
}

// SignIn returns the OAuth session of a server; the caller closes it. It reads no files but those of the entry's TLS
// settings. The error is a [*tool.Error] of kind [tool.Invalid] for a server that does not use OAuth: see [noSignIn].
func SignIn(e *entry.Entry, store signin.Store, o SignInOptions) (*signin.Session, error) {
	if why := noSignIn(e); why != "" {
		return nil, &tool.Error{Op: "sign in", Kind: tool.Invalid, Subject: e.Name, Message: why, Hint: authHint(e)}
	}
	config, err := session.TLSConfig(&e.TLS)
	if err != nil {
		return nil, &tool.Error{Op: "sign in", Kind: tool.Invalid, Subject: e.Name, Err: err}
	}
	return signin.New(signin.Server{
		Name: e.Name, URL: e.URL.Reveal(), ClientID: e.Auth.ClientID.Reveal(), ClientSecret: e.Auth.ClientSecret.Reveal(),
		ClientMetadataURL: e.Auth.ClientMetadataURL.Reveal(), ClientCredentials: e.Auth.GrantType == entry.ClientCredentials,
		Scopes: e.Auth.Scopes, RedirectPort: e.Auth.RedirectPort,
	}, store, signin.Options{Transport: mcp.NewHTTPTransport(config), LockDir: o.LockDir, Logger: o.Logger}), nil
}

// noSignIn returns why a server does not use OAuth, such as a configured Authorization header; empty if it does.
func noSignIn(e *entry.Entry) string {
	hasToken := slices.ContainsFunc(e.Headers, func(h entry.Header) bool { return strings.EqualFold(h.Name, "Authorization") })
	switch {
	case e.Transport == entry.Stdio:
		return "it is started here and gets what it needs from its env; there is nothing to sign in at"
	case e.Auth.Type != "" && e.Auth.Type != "oauth":
		return "its settings have auth of type " + e.Auth.Type + ", so that OAuth is not used"
	case hasToken:
		return "its settings have an Authorization header, so that OAuth is not used"
	case strings.HasPrefix(e.URL.Reveal(), "unix:"):
		return "it is reached over a socket of this machine; there is nothing to sign in at"
	}
	return ""
}

// authHint returns what a user can do if the server requires authentication. It never names a command that [SignIn]
// would refuse.
func (s *Server) authHint() string { return authHint(s.settings()) }

func authHint(e *entry.Entry) string {
	switch {
	case e.Transport == entry.Stdio:
		return ""
	case e.Auth.Type == "none":
		return `change auth in its settings: "none" tells the server nothing`
	case noSignIn(e) != "":
		return "check the token in its settings"
	case e.HeadersCommand != nil:
		return "check what its headersCommand prints"
	case e.Auth.GrantType == entry.ClientCredentials:
		return signin.CredentialsHint(e.Name)
	}
	return "collie mcp auth " + e.Name + " signs you in"
}

// openSignIn opens the OAuth session of a server; nil for one that does not use OAuth.
func (s *Server) openSignIn() (*signin.Session, error) {
	conf := s.settings()
	if s.set.opts.Tokens == nil || conf.Transport == entry.Stdio || noSignIn(conf) != "" {
		return nil, nil //nolint:nilnil // nobody signs in is an answer
	}
	return SignIn(conf, s.set.opts.Tokens, SignInOptions{LockDir: s.set.opts.LockDir, Logger: s.log})
}

// principal returns a digest of who is signed in at the server, empty if nobody is.
func (s *Server) principal() string {
	principal, err := s.login.principal(s.life.ctx)
	if err != nil {
		s.log.Warn("not known who is signed in", "error", err)
	}
	return principal
}

// login is the OAuth session of one server, opened at its first use. If that fails, for example because a file is
// missing, the next use tries again. It is safe for concurrent use.
type login struct {
	open func() (*signin.Session, error) // returns nil for a server without OAuth

	mu      sync.Mutex
	opened  bool
	session *signin.Session
}

func (l *login) get() (*signin.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened {
		return l.session, nil
	}
	var err error
	l.session, err = l.open()
	l.opened = err == nil
	return l.session, err
}

// principalTime bounds the look-up of who is signed in: a keyring may be slow.
const principalTime = 2 * time.Second

// principal returns a digest of who is signed in, empty if nobody is or the server does not use OAuth.
func (l *login) principal(ctx context.Context) (string, error) {
	session, err := l.get()
	if session == nil || err != nil {
		return "", nil // the error is reported when connecting
	}
	ctx, cancel := context.WithTimeout(ctx, principalTime)
	defer cancel()
	return session.Principal(ctx)
}

// wrap returns base with OAuth added, or base itself if the server does not use it.
func (l *login) wrap(base http.RoundTripper) (http.RoundTripper, error) {
	session, err := l.get()
	if err != nil || session == nil {
		return base, err
	}
	return session.RoundTripper(base), nil
}

// forget makes requests use what is stored now.
func (l *login) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != nil {
		l.session.Forget()
	}
}

// close ends the session, if there is one.
func (l *login) close(log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		return
	}
	if err := l.session.Close(); err != nil {
		log.Debug("sign-in not closed", "error", err)
	}
}
