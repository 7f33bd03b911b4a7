package gateway

import (
	"context"

	"collie/internal/face/cli/clients"
	"collie/internal/face/httpserver/tokens"
	"collie/internal/face/web"
)

// This file lets the pages connect clients and manage tokens.

// clientAPI implements [web.Clients] with the code of collie connect and collie token.
type clientAPI struct {
	desk   clients.Desk
	s      *serving
	reread func(context.Context) error
}

// Clients returns the clients that Collie knows.
func (a clientAPI) Clients() ([]web.Client, error) {
	list, err := a.desk.List()
	var out []web.Client
	for i := range list {
		c := &list[i]
		out = append(out, web.Client{
			Name: c.Client, Title: c.Title, Installed: c.Installed, File: c.File, Connected: c.Name != "", Missing: c.Missing, Off: c.Off, HTTP: c.HTTP,
			Profile: c.Profile, Problem: c.Problem,
		})
	}
	return out, err
}

// Connect writes Collie into a client's file.
func (a clientAPI) Connect(ctx context.Context, name string, c *web.Connecting) (web.ClientChange, error) {
	j, err := a.desk.Connect(ctx, name, clients.Wanted{HTTP: c.HTTP, Profile: c.Profile, Write: !c.DryRun})
	if err != nil {
		return web.ClientChange{}, err
	}
	out := web.ClientChange{
		File: j.Plan.File, Path: j.Plan.Path, Entry: j.Plan.Entry, Text: j.Plan.Describe(j.Written), Changed: j.Plan.Changed, Written: j.Written,
		Profile: j.Profile, Next: j.Plan.Next, Twice: []string{},
	}
	for _, d := range j.Twice {
		out.Twice = append(out.Twice, d.Name)
	}
	return out, nil
}

// Disconnect removes Collie from a client's files.
func (a clientAPI) Disconnect(ctx context.Context, name string) (files []string, err error) {
	done, err := a.desk.Disconnect(ctx, name)
	for i := range done {
		files = append(files, done[i].File)
	}
	return files, err
}

// Tokens returns the named tokens.
func (a clientAPI) Tokens() ([]web.Token, error) {
	list, err := a.desk.Tokens()
	var out []web.Token
	for i := range list {
		t := &list[i]
		scopes := []string{}
		for _, s := range t.Scopes {
			scopes = append(scopes, string(s))
		}
		out = append(out, web.Token{Name: t.Name, Profile: t.Profile, Scopes: scopes, Client: t.Client, File: t.File, Made: t.Made})
	}
	return out, err
}

// AddToken makes a token.
func (a clientAPI) AddToken(ctx context.Context, t *web.NewToken) (web.NewSecret, error) {
	made := tokens.Token{Name: t.Name, Profile: t.Profile}
	for _, s := range t.Scopes {
		made.Scopes = append(made.Scopes, tokens.Scope(s))
	}
	secret, err := a.desk.AddToken(ctx, made)
	return web.NewSecret{Token: secret, Clients: []string{}}, err
}

// Rotate gives a token a new secret. It also returns the client that has to be connected again, because its file holds the
// old one.
func (a clientAPI) Rotate(ctx context.Context, name string) (web.NewSecret, error) {
	out := web.NewSecret{Clients: []string{}}
	list, err := a.desk.Tokens()
	if err != nil {
		return out, err
	}
	if out.Token, err = a.desk.Rotate(ctx, name); err != nil {
		return out, err
	}
	for i := range list {
		if t := &list[i]; t.Name == name && t.May(tokens.Tools) && t.Client != "" {
			out.Clients = append(out.Clients, t.Client)
		}
	}
	return out, nil
}

// Revoke ends a token.
func (a clientAPI) Revoke(ctx context.Context, name string) error { return a.desk.Revoke(ctx, name) }
