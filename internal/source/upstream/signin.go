package upstream

import (
	"log/slog"
	"slices"
	"strings"

	"collie/internal/mcp"
	"collie/internal/source/upstream/entry"
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
// [tool.Invalid] for a server that is not signed in at so: see [NoSignIn].
func SignIn(e *entry.Entry, store signin.Store, o SignInOptions) (*signin.Session, error) {
	if why := NoSignIn(e); why != "" {
		return nil, &tool.Error{Op: "sign in", Kind: tool.Invalid, Subject: e.Name, Message: why, Hint: authHint(e)}
	}
	config, err := tlsConfig(&e.TLS)
	if err != nil {
		return nil, &tool.Error{Op: "sign in", Kind: tool.Invalid, Subject: e.Name, Err: err}
	}
	return signin.New(signin.Server{
		Name: e.Name, URL: e.URL.Reveal(), ClientID: e.Auth.ClientID.Reveal(), ClientSecret: e.Auth.ClientSecret.Reveal(),
		ClientMetadataURL: e.Auth.ClientMetadataURL.Reveal(), ClientCredentials: e.Auth.GrantType == entry.ClientCredentials,
		Scopes: e.Auth.Scopes, RedirectPort: e.Auth.RedirectPort,
	}, store, signin.Options{Transport: mcp.NewHTTPTransport(config), LockDir: o.LockDir, Logger: o.Logger}), nil
}

// NoSignIn says why OAuth is not for a server, as where the user configured an Authorization header; empty if
// it is.
func NoSignIn(e *entry.Entry) string {
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
	case NoSignIn(e) != "":
		return "check the token in its settings"
	case e.HeadersCommand != nil:
		return "check what its headersCommand prints"
	case e.Auth.GrantType == entry.ClientCredentials:
		return signin.CredentialsHint(e.Name)
	}
	return "collie mcp auth " + e.Name + " signs you in"
}
