package clients

import (
	"context"
	"errors"
	"slices"

	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/httpserver/tokens"
	hostadmin "collie/internal/source/upstream/hosts/admin"
	"collie/internal/tool"
)

// This file connects clients that call the gateway over HTTP, each with a token of its own.

// tokenPlaceholder stands for the token in plans and output. The token itself is written only into the client's file, or
// printed with --token-env.
const tokenPlaceholder = "collie_…"

// gatewayURL returns the address of this home's gateway, running or not.
func (j *joining) gatewayURL() string {
	if g, err := home.FindGateway(j.cfg.Paths); err == nil {
		return g.URL + "/mcp"
	}
	scheme := "http://"
	if j.cfg.HTTP.TLSCert != "" {
		scheme = "https://"
	}
	return scheme + j.cfg.HTTP.Addr + "/mcp"
}

// tokenName returns the name of the client's token: that of the client, and that of Collie in its file if the person
// chose one with --name.
func (j *joining) tokenName() string {
	if j.name == "collie" {
		return j.client
	}
	return j.client + "." + j.name
}

// tokenProfile returns the profile of the token that the client has now; empty if it has none.
func (j *joining) tokenProfile() string {
	list, _ := tokens.Read(tokens.Path(j.cfg.Paths.State)) // if the file cannot be read, writing the token will fail and report it
	for _, t := range list {
		if t.Name == j.tokenName() {
			return t.Profile
		}
	}
	return ""
}

// tokenDue is what has to be done about a client's token where its file stays as it is.
type tokenDue int

const (
	tokenStays    tokenDue = iota
	tokenMissing           // nothing opens the gateway for the client
	tokenProfiled          // it is for another profile
)

// tokenDue returns what has to be done about the client's token. Without --token-env the file holds the token and is written
// anew each time.
func (j *joining) tokenDue(profile string) (tokenDue, error) {
	if !j.http {
		return tokenStays, nil
	}
	list, err := tokens.Read(tokens.Path(j.cfg.Paths.State))
	if err != nil {
		return tokenStays, err
	}
	i := slices.IndexFunc(list, func(t tokens.Token) bool { return t.Name == j.tokenName() })
	switch {
	case i < 0:
		return tokenMissing, nil
	case profile == "" || list[i].Profile == profile: // no profile is asked for, so that of the token stays
		return tokenStays, nil
	}
	return tokenProfiled, j.ownToken(&list[i])
}

// ownToken returns an error if a token that has the name of this client's was not made by connect.
func (j *joining) ownToken(t *tokens.Token) error {
	if t.Client == j.client {
		return nil
	}
	return &tool.Error{
		Op: "connect", Kind: tool.Exists, Subject: t.Name, Message: "there is a token of that name, which connect has not made",
		Hint: "choose another name with --name, or collie token revoke " + t.Name,
	}
}

// applyHTTP makes a token for the client, stores it, and writes the client's file. It first revokes the token of an earlier
// connect. If the client's file cannot be written, the new token is revoked too.
func (j *joining) applyHTTP(ctx context.Context, cfg *config.Config, profile string) error {
	path, name := tokens.Path(cfg.Paths.State), j.tokenName()
	list, err := tokens.Read(path)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(list, func(t tokens.Token) bool { return t.Name == name }); i >= 0 {
		if err := j.ownToken(&list[i]); err != nil {
			return err
		}
		if err := tokens.Revoke(ctx, path, name); err != nil {
			return err
		}
	}
	secret, err := tokens.Add(ctx, path, tokens.Token{Name: name, Profile: profile, Scopes: []tokens.Scope{tokens.Tools}, Client: j.client, File: j.plan.File})
	if err != nil {
		return err
	}
	o := j.options
	o.Token = secret
	if o.TokenEnv != "" {
		o.Token = ""
	}
	plan, err := hostadmin.Connect(j.client, j.Env, o)
	if err == nil {
		err = plan.ApplyRecorded(ctx, cfg)
	}
	if err != nil {
		return errors.Join(err, tokens.Revoke(context.WithoutCancel(ctx), path, name))
	}
	if o.TokenEnv != "" {
		j.Note("start the client with this in its environment; it is not shown again:\n  %s", o.TokenEnv+"="+secret)
	}
	return nil
}

// revokeTokens revokes the tokens that connect has made for a client, or only those that --file and --name select.
func (p commands) revokeTokens(ctx context.Context, cfg *config.Config, client string, f *connectFlags) error {
	path := tokens.Path(cfg.Paths.State)
	list, err := tokens.Read(path)
	if err != nil {
		return err
	}
	j := joining{connectFlags: f, client: client}
	for _, t := range list {
		if t.Client != client || f.file != "" && !hostadmin.SameFile(t.File, f.file) || f.name != "collie" && t.Name != j.tokenName() {
			continue
		}
		if err := tokens.Revoke(ctx, path, t.Name); err != nil {
			return err
		}
		p.OnRecord(ctx, cfg, "token revoke", map[string]any{"name": t.Name})
		p.Note("revoked the token %s", t.Name)
	}
	return nil
}
