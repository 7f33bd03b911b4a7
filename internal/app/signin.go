package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"collie/internal/config"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/signin"
	"collie/internal/tool"
)

// SignInOptions are how [SignIn] reaches a person.
type SignInOptions struct {
	// OpenBrowser opens an address; nil means that nobody can here.
	OpenBrowser func(ctx context.Context, address string) error
	// ShowURL tells the address, and whether OpenBrowser has opened it.
	ShowURL func(address string, opened bool)
	// Answer returns what a person pastes; problem says what was wrong before. It returns when
	// ctx ends. Nil asks nobody.
	Answer func(ctx context.Context, problem string) (string, error)
	// AskClient returns a client that a person has registered; nil asks nobody.
	AskClient func(ctx context.Context, redirect string) (id, secret string, err error)
	Scopes    []string
	// Code ends a sign-in that was begun before, with the address that the browser ended at.
	Code   string
	Logger *slog.Logger // nil discards
}

// SignIn signs a person in at a server of cfg. It returns when
// that has worked, or at latest after five minutes.
func SignIn(ctx context.Context, cfg *config.Config, env config.Env, name string, o SignInOptions) error {
	s, err := session(cfg, env, name, o.Logger)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.Code != "" {
		return s.Complete(ctx, o.Code)
	}
	return s.Login(ctx, signin.LoginOptions{
		OpenBrowser: o.OpenBrowser, ShowURL: o.ShowURL, Answer: o.Answer, AskClient: o.AskClient, Scopes: o.Scopes,
	})
}

// SignOut revokes the tokens of a server and forgets them. revoked is false where the server
// could not be told.
func SignOut(ctx context.Context, cfg *config.Config, env config.Env, name string, log *slog.Logger) (revoked bool, err error) {
	s, err := session(cfg, env, name, log)
	if err != nil {
		return false, err
	}
	defer s.Close()
	return s.Logout(ctx)
}

// session is the sign-in of one server of cfg.
func session(cfg *config.Config, env config.Env, name string, log *slog.Logger) (*signin.Session, error) {
	i := slices.IndexFunc(cfg.Servers, func(s config.ServerEntry) bool { return s.Name == name })
	if i < 0 {
		return nil, &tool.Error{Op: "sign in", Kind: tool.Unknown, Subject: name, Message: "no server of that name", Hint: "collie mcp list shows them"}
	}
	c := cfg.Servers[i]
	if c.Untrusted {
		return nil, &tool.Error{Op: "sign in", Kind: tool.Denied, Subject: name, Message: "its settings are not trusted", Hint: "collie mcp trust shows and trusts them"}
	}
	lookup := newSecretLookup(cfg)
	e, problems := entry.Parse(name, c.Raw, entry.Options{
		Dir: c.Dir, Workspace: c.Workspace, Env: env.Lookup, Secret: lookup.get, ReadFile: os.ReadFile,
	})
	for _, p := range problems {
		if p.Severity == entry.SeverityError {
			return nil, &tool.Error{
				Op: "sign in", Kind: tool.Invalid, Subject: name, Message: p.Pointer + ": " + p.Message,
				Err: lookup.problem(), Hint: "collie mcp validate shows the places",
			}
		}
	}
	store, err := lookup.open()
	if err != nil {
		return nil, err
	}
	return upstream.SignIn(&e, store, upstream.SignInOptions{LockDir: locks(cfg), Logger: log})
}

// locks is the folder of the lock files that keep two processes from refreshing one token.
func locks(cfg *config.Config) string { return filepath.Join(cfg.Paths.State, "run") }
