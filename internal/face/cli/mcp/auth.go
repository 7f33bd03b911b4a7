package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
)

// This file has the command `collie mcp auth`, which signs in at a remote server with OAuth.

// authFlags are the flags of `collie mcp auth`.
type authFlags struct {
	code      string
	noBrowser bool
	scopes    []string
}

func (p commands) authCommand() *cobra.Command {
	var f authFlags
	c := &cobra.Command{
		Use: "auth NAME", Short: "Sign in to a remote server", Args: root.NamedArgs("server"),
		Long: "Signs you in to a remote server with OAuth: opens its sign-in page in a browser and waits up to\n" +
			"five minutes for the browser to return to 127.0.0.1. A browser on another machine cannot get\n" +
			"there: copy the address it ends on and paste it here, or pass it within 15 minutes to a second\n" +
			"run with --code. Tokens are stored like secrets and refreshed by the gateway.\n\n" +
			"A server whose auth.grantType is client_credentials needs no person: the gateway gets its\n" +
			"tokens by itself, and this command only tests that it can.",
		Example: "  collie mcp auth github\n" +
			"  collie mcp auth github --code 'http://127.0.0.1:40213/callback?code=…&state=…'",
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.auth(c.Context(), args[0], &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.code, "code", "", "finish a waiting sign-in with `URL_OR_CODE`")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "only show the address")
	flags.StringArrayVar(&f.scopes, "scope", nil, "ask for `SCOPE` as well (repeatable)")
	return c
}

// auth signs in at a server and has a running gateway use the new tokens.
func (p commands) auth(ctx context.Context, name string, f *authFlags) error {
	cfg, err := p.knownServer("mcp auth", name)
	if err != nil {
		return err
	}
	log, err := p.Logger()
	if err != nil {
		return err
	}
	o := serveradmin.SignInOptions{Code: f.code, Logger: log, Record: p.Recorder(cfg)}
	o.Scopes, o.ShowURL = f.scopes, p.showSignIn
	if !f.noBrowser {
		o.OpenBrowser = p.OpenBrowser
	}
	if output.IsTerminal(p.In) && output.IsTerminal(p.Err) {
		in := root.NewLines(p.In)
		o.Answer = func(ctx context.Context, problem string) (string, error) { return p.askPastedURL(ctx, in, problem) }
		o.AskClient = func(ctx context.Context, redirect string) (string, string, error) {
			return p.askClient(ctx, in, redirect)
		}
	}
	if err := serveradmin.SignIn(ctx, cfg, p.Env, name, o); err != nil {
		return err
	}
	if p.JSON {
		err = p.PrintJSON(map[string]any{"server": name, "signedIn": true})
	} else {
		_, err = locale.Fprintf(p.Out, "signed in to %s\n", name)
	}
	if err != nil {
		return err
	}
	p.retryInGateway(ctx, cfg, name)
	return nil
}

// knownServer reads the settings, and returns an error if there is no server with this name.
func (p commands) knownServer(op, name string) (*config.Config, error) {
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, err
	}
	if known := root.ServerNames(cfg); !slices.Contains(known, name) {
		return nil, root.UnknownServerError(op, name, known)
	}
	return cfg, nil
}

// showSignIn prints where to sign in. The address is unbroken on its own line, so that it can be copied.
func (p commands) showSignIn(address string, opened bool) {
	request := locale.T("Open this page to sign in:")
	if opened {
		request = locale.T("A browser was asked to open this page:")
	}
	locale.Fprintf(p.Err, "%s\n\n  %s\n\nWaiting for the sign-in, for 5 minutes at most.\n", request, output.Harmless(address))
}

// askPastedURL asks for the address at which the browser ended.
func (p commands) askPastedURL(ctx context.Context, in *root.Lines, problem string) (string, error) {
	if problem != "" {
		fmt.Fprintf(p.Err, "%s\n", output.OneLine(problem))
	}
	locale.Fprintf(p.Err, "If the browser cannot reach this machine, paste the address of the page it ended on: ")
	for {
		text, err := in.Next(ctx)
		if err != nil {
			fmt.Fprintln(p.Err)
			return "", err
		}
		if text = strings.TrimSpace(text); text != "" {
			return text, nil
		}
	}
}

// askClient asks for the id of a client that the person has registered at the authorization server. The secret is always
// empty, because a client with a secret belongs in the settings.
func (p commands) askClient(ctx context.Context, in *root.Lines, redirect string) (id, secret string, err error) {
	locale.Fprintf(p.Err, "The server does not register clients by itself. Register one there with the redirect URI\n"+
		"  %s\n"+
		"If the client has a secret, put both into the settings: auth.clientId and auth.clientSecret.\n"+
		"Client id: ", output.Harmless(redirect))
	id, err = in.Next(ctx)
	return strings.TrimSpace(id), "", err
}

// retryInGateway makes a running gateway use a new sign-in at once. Otherwise it would do so at the next call to
// the server.
func (p commands) retryInGateway(ctx context.Context, cfg *config.Config, name string) {
	r, sameSettings, err := p.Gateway(ctx, cfg)
	if err != nil {
		return
	}
	defer r.Close()
	if !sameSettings {
		p.Note("restart the running gateway (pid %d) to use it", r.Gateway.PID)
		return
	}
	if _, err := r.Restart(ctx, name); err != nil {
		p.Warn("the running gateway did not reach %s: %v", name, err)
	}
}

func (p commands) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Sign out of a remote server", Args: root.NamedArgs("server"),
		Long: "Revokes the tokens of a server where its authorization server allows that, and forgets\n" +
			"them. A running gateway notices within seconds.",
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.logout(c.Context(), args[0]) },
	}
}

// logout deletes the tokens of a server, and warns if they could not be revoked.
func (p commands) logout(ctx context.Context, name string) error {
	cfg, err := p.knownServer("mcp logout", name)
	if err != nil {
		return err
	}
	log, err := p.Logger()
	if err != nil {
		return err
	}
	revoked, err := serveradmin.SignOut(ctx, cfg, p.Env, name, serveradmin.SignInOptions{Logger: log, Record: p.Recorder(cfg)})
	if err != nil {
		return err
	}
	if p.JSON {
		err = p.PrintJSON(map[string]any{"server": name, "signedIn": false, "revoked": revoked})
	} else {
		_, err = locale.Fprintf(p.Out, "signed out of %s\n", name)
	}
	if err != nil {
		return err
	}
	if !revoked {
		p.Warn("the tokens are forgotten here, but were not revoked: a copy of them works until they expire")
	}
	return nil
}
