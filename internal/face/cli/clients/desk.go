package clients

import (
	"context"
	"os"

	"collie/internal/face/cli/root"
	"collie/internal/face/httpserver/tokens"
	hostadmin "collie/internal/source/upstream/hosts/admin"
)

// This file connects clients for the pages in the browser, as `collie connect` does at a terminal.

// Desk connects clients as `collie connect` does, but asks no questions. It also manages the named tokens of this home.
type Desk struct{ Program *root.Program }

// Wanted says how a client is to be connected.
type Wanted struct {
	HTTP    bool   // true: over HTTP with a token; false: the client starts Collie on stdio
	Profile string // the profile whose tools the client sees; empty keeps the present one
	Write   bool   // false: only plan what would be written
}

// Joined is a change of a client's file.
type Joined struct {
	Plan    *hostadmin.Connection
	Profile string
	Written bool
	Twice   []hostadmin.Duplicate // servers that the client starts itself too
}

// List returns all places where clients start Collie, and the clients that do not.
func (d Desk) List() ([]hostadmin.ClientEntry, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return hostadmin.ClientConnections(d.Program.Env, dir, commands{d.Program}.programExists), nil
}

// Connect writes Collie into a client's file.
func (d Desk) Connect(ctx context.Context, client string, w Wanted) (Joined, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Joined{}, err
	}
	cfg, _, err := d.Program.Settings()
	if err != nil {
		return Joined{}, err
	}
	if err := root.KnownProfile(cfg, w.Profile); err != nil {
		return Joined{}, err
	}
	j := &joining{
		commands: commands{d.Program}, connectFlags: &connectFlags{name: "collie", http: w.HTTP, profile: w.Profile}, client: client, cfg: cfg,
	}
	j.keepProfile(dir)
	if err := j.prepare(j.profile); err != nil {
		return Joined{}, err
	}
	out := Joined{Plan: j.plan, Profile: j.profile, Written: w.Write && j.plan.Changed}
	if out.Written {
		if err := j.apply(ctx, j.profile, tokenStays); err != nil {
			return Joined{}, err
		}
	}
	out.Twice, err = hostadmin.Duplicates(j.cfg, j.Env, client, dir, j.plan.File)
	return out, err
}

// Disconnect removes Collie from a client's files, restores the servers that `collie connect --move` has taken out of
// them, and revokes the client's tokens.
func (d Desk) Disconnect(ctx context.Context, client string) ([]hostadmin.Disconnected, error) {
	p := commands{d.Program}
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, err
	}
	done, err := hostadmin.Disconnect(ctx, cfg, p.Env, hostadmin.DisconnectOptions{Client: client, Restore: true, Remove: true})
	if err == nil {
		err = p.revokeTokens(ctx, cfg, client, &connectFlags{name: "collie"})
	}
	if len(done) > 0 {
		p.OnRecord(ctx, cfg, "connect", map[string]any{"client": client, "files": done})
	}
	return done, err
}

// Tokens returns the named tokens.
func (d Desk) Tokens() ([]tokens.Token, error) {
	cfg, _, err := d.Program.Settings()
	if err != nil {
		return nil, err
	}
	return tokens.Read(tokens.Path(cfg.Paths.State))
}

// AddToken makes a token, and returns its secret.
func (d Desk) AddToken(ctx context.Context, t tokens.Token) (secret string, err error) {
	cfg, _, err := d.Program.Settings()
	if err != nil {
		return "", err
	}
	if err := root.KnownProfile(cfg, t.Profile); err != nil {
		return "", err
	}
	if secret, err = tokens.Add(ctx, tokens.Path(cfg.Paths.State), t); err == nil {
		d.Program.OnRecord(ctx, cfg, "token add", map[string]any{"name": t.Name, "profile": t.Profile, "scopes": t.Scopes})
	}
	return secret, err
}

// Rotate gives a token a new secret, and returns it.
func (d Desk) Rotate(ctx context.Context, name string) (secret string, err error) {
	cfg, _, err := d.Program.Settings()
	if err != nil {
		return "", err
	}
	if secret, err = tokens.Rotate(ctx, tokens.Path(cfg.Paths.State), name); err == nil {
		d.Program.OnRecord(ctx, cfg, "token rotate", map[string]any{"name": name})
	}
	return secret, err
}

// Revoke ends a token.
func (d Desk) Revoke(ctx context.Context, name string) error {
	cfg, _, err := d.Program.Settings()
	if err != nil {
		return err
	}
	if err = tokens.Revoke(ctx, tokens.Path(cfg.Paths.State), name); err == nil {
		d.Program.OnRecord(ctx, cfg, "token revoke", map[string]any{"name": name})
	}
	return err
}
