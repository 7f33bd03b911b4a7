package admin

import (
	"context"
	"log/slog"
	"os"
	"slices"

	"collie/internal/config"
	secretadmin "collie/internal/secret/admin"
	"collie/internal/source/upstream"
	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/signin"
	"collie/internal/tool"
)

// This file signs people in at servers and out again, for the command line and for the pages.

// SignInOptions says how [SignIn] reaches a person.
type SignInOptions struct {
	signin.LoginOptions
	// Code is the address at which the browser ended, to finish a sign-in that was begun before.
	Code   string
	Logger *slog.Logger // nil discards
	// Record writes a change into the audit; nil does not.
	Record func(ctx context.Context, command string, detail map[string]any)
}

func (o *SignInOptions) record(ctx context.Context, command string, detail map[string]any) {
	if o.Record != nil {
		o.Record(ctx, command, detail)
	}
}

// SignIn signs a person in at a server of cfg. It returns when that is done or has failed, after five minutes at
// most.
func SignIn(ctx context.Context, cfg *config.Config, env config.Env, name string, o SignInOptions) error {
	s, err := session(cfg, env, name, o.Logger)
	if err != nil {
		return err
	}
	defer s.Close()
	if o.Code != "" {
		err = s.Complete(ctx, o.Code)
	} else {
		err = s.Login(ctx, o.LoginOptions)
	}
	if err == nil {
		o.record(ctx, "mcp auth", map[string]any{"server": name})
	}
	return err
}

// SignOut revokes the tokens of a server and deletes them. revoked is false if the server could not be told. Only
// Logger and Record of o are used.
func SignOut(ctx context.Context, cfg *config.Config, env config.Env, name string, o SignInOptions) (revoked bool, err error) {
	s, err := session(cfg, env, name, o.Logger)
	if err != nil {
		return false, err
	}
	defer s.Close()
	if revoked, err = s.Logout(ctx); err == nil {
		o.record(ctx, "mcp logout", map[string]any{"server": name, "revoked": revoked})
	}
	return revoked, err
}

// session returns the OAuth session of one server of cfg.
func session(cfg *config.Config, env config.Env, name string, log *slog.Logger) (*signin.Session, error) {
	i := slices.IndexFunc(cfg.Servers, func(s config.ServerEntry) bool { return s.Name == name })
	if i < 0 {
		return nil, &tool.Error{Op: "sign in", Kind: tool.NotFound, Subject: name, Message: "no server of that name", Hint: "collie mcp list shows them"}
	}
	c := cfg.Servers[i]
	if c.Untrusted {
		return nil, &tool.Error{Op: "sign in", Kind: tool.Denied, Subject: name, Message: "its settings are not trusted", Hint: "collie mcp trust shows and trusts them"}
	}
	lookup := secretadmin.NewLookup(cfg)
	e, problems := entry.Parse(name, c.Raw, entry.Options{
		Dir: c.Dir, Workspace: c.Workspace, Env: env.Lookup, Secret: lookup.Get, ReadFile: os.ReadFile,
	})
	for _, p := range problems {
		if p.Severity == entry.SeverityError {
			return nil, &tool.Error{
				Op: "sign in", Kind: tool.Invalid, Subject: name, Message: p.Pointer + ": " + p.Message,
				Err: lookup.Problem(), Hint: "collie mcp validate shows the places",
			}
		}
	}
	store, err := lookup.Open()
	if err != nil {
		return nil, err
	}
	return upstream.SignIn(&e, store, upstream.SignInOptions{LockDir: runDir(cfg), Logger: log})
}
