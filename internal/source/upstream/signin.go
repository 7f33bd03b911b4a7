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

// SignInOptions are the optional parts of [SignIn].
type SignInOptions struct {
	// LockDir is a folder for lock files that all processes of this home share.
	LockDir string
	Logger  *slog.Logger // nil discards
}

// SignIn returns the OAuth session of a server, which the caller closes. It reads the files of
// the entry's TLS settings and nothing else. The error is a [*tool.Error] of kind
// [tool.Invalid] for a server that is not signed in at so: see [noSignIn].
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

// noSignIn says why OAuth is not for a server, as where the user configured an Authorization header; empty if
// it is.
func noSignIn(e *entry.Entry) string {
	given := slices.ContainsFunc(e.Headers, func(h entry.Header) bool { return strings.EqualFold(h.Name, "Authorization") })
	switch {
	case e.Transport == entry.Stdio:
		return "it is started here and gets what it needs from its env; there is nothing to sign in at"
	case e.Auth.Type != "" && e.Auth.Type != "oauth":
		return "its settings have auth of type " + e.Auth.Type + ", so that OAuth is not used"
	case given:
		return "its settings have an Authorization header, so that OAuth is not used"
	case strings.HasPrefix(e.URL.Reveal(), "unix:"):
		return "it is reached over a socket of this machine; there is nothing to sign in at"
	}
	return ""
}

// authHint says what a person can do where the server wants to know who asks. It never names a
// command that [SignIn] would refuse.
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

// openSignIn makes the OAuth session of a server that OAuth may be for; nil for others.
func (s *Server) openSignIn() (*signin.Session, error) {
	conf := s.settings()
	if s.set.opts.Tokens == nil || conf.Transport == entry.Stdio || noSignIn(conf) != "" {
		return nil, nil //nolint:nilnil // nobody signs in is an answer
	}
	return SignIn(conf, s.set.opts.Tokens, SignInOptions{LockDir: s.set.opts.LockDir, Logger: s.log})
}

// principal is a digest of who is signed in at the server; empty if nobody is.
func (s *Server) principal() string {
	who, err := s.login.principal(s.life.ctx)
	if err != nil {
		s.log.Warn("not known who is signed in", "error", err)
	}
	return who
}

// login is the OAuth session of one server, made at its first use. Where it cannot be made, as for a file
// that is missing, that is tried again the next time. It is safe for concurrent use.
type login struct {
	open func() (*signin.Session, error) // the session is nil where OAuth is not for the server

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

// principalTime bounds a look at who is signed in: a keyring may be slow.
const principalTime = 2 * time.Second

// principal is a digest of who is signed in; empty if nobody is, or nobody can be.
func (l *login) principal(ctx context.Context) (string, error) {
	session, err := l.get()
	if session == nil || err != nil {
		return "", nil // who connects is told why not
	}
	ctx, cancel := context.WithTimeout(ctx, principalTime)
	defer cancel()
	return session.Principal(ctx)
}

// wrap puts the sign-in around base, where OAuth is for the server.
func (l *login) wrap(base http.RoundTripper) (http.RoundTripper, error) {
	session, err := l.get()
	if err != nil || session == nil {
		return base, err
	}
	return session.RoundTripper(base), nil
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
