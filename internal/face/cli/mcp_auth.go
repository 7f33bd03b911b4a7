package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
)

type authFlags struct {
	code      string
	noBrowser bool
	scopes    []string
}

func (p *program) mcpAuthCommand() *cobra.Command {
	var f authFlags
	c := &cobra.Command{
		Use: "auth NAME", Short: "Sign in at a remote server", Args: named("server"),
		Long: "Signs you in with OAuth at a server that has a url: opens its page in a browser and waits, up\n" +
			"to five minutes, for the browser to come back to 127.0.0.1. Where the browser is on another\n" +
			"machine that fails there: copy the address it ended at and paste it here, or give it within\n" +
			"15 minutes to a second run with --code. Tokens are kept as secrets are, and refreshed by\n" +
			"the gateway.\n\n" +
			"A server whose auth.grantType is client_credentials needs no person: the gateway gets its\n" +
			"tokens by itself, and this command only tries whether it can.",
		Example: "  collie mcp auth github\n" +
			"  collie mcp auth github --code 'http://127.0.0.1:40213/callback?code=…&state=…'",
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.mcpAuth(c.Context(), args[0], &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.code, "code", "", "end a sign-in that waits with `URL_OR_CODE`")
	flags.BoolVar(&f.noBrowser, "no-browser", false, "only show the address")
	flags.StringArrayVar(&f.scopes, "scope", nil, "ask for `SCOPE` as well (repeatable)")
	return c
}

func (p *program) mcpAuth(ctx context.Context, name string, f *authFlags) error {
	cfg, err := p.knownServer("mcp auth", name)
	if err != nil {
		return err
	}
	log, err := p.logger()
	if err != nil {
		return err
	}
	o := app.SignInOptions{Code: f.code, Scopes: f.scopes, ShowURL: p.showSignIn, Logger: log}
	if !f.noBrowser {
		o.OpenBrowser = p.openBrowser
	}
	if terminal(p.in) && terminal(p.err) {
		in := newLines(p.in)
		o.Answer = func(ctx context.Context, problem string) (string, error) { return p.pasted(ctx, in, problem) }
		o.AskClient = func(ctx context.Context, redirect string) (string, string, error) {
			return p.askClient(ctx, in, redirect)
		}
	}
	if err := app.SignIn(ctx, cfg, p.env, name, o); err != nil {
		return err
	}
	if p.json {
		err = p.printJSON(map[string]any{"server": name, "signedIn": true})
	} else {
		_, err = fmt.Fprintf(p.out, "signed in at %s\n", name)
	}
	if err != nil {
		return err
	}
	p.onRecord(ctx, cfg, "mcp auth", map[string]any{"server": name})
	p.tryAgain(ctx, cfg, name)
	return nil
}

// knownServer reads the settings and wants a server of that name in them.
func (p *program) knownServer(op, name string) (*config.Config, error) {
	cfg, _, err := p.settings()
	if err != nil {
		return nil, err
	}
	if known := serverNames(cfg); !slices.Contains(known, name) {
		return nil, unknownServer(op, name, known)
	}
	return cfg, nil
}

// showSignIn shows where to sign in. The address is whole on a line of its own, to be copied.
func (p *program) showSignIn(address string, opened bool) {
	what := "Open this page to sign in:"
	if opened {
		what = "A browser was asked to open this page:"
	}
	fmt.Fprintf(p.err, "%s\n\n  %s\n\nWaiting for the sign-in, for 5 minutes at most.\n", what, harmless(address))
}

// pasted asks for the address that the browser ended at.
func (p *program) pasted(ctx context.Context, in *lines, problem string) (string, error) {
	if problem != "" {
		fmt.Fprintf(p.err, "%s\n", oneLine(problem))
	}
	fmt.Fprint(p.err, "If the browser cannot reach this machine, paste the address it ended at: ")
	for {
		text, err := in.next(ctx)
		if err != nil {
			fmt.Fprintln(p.err)
			return "", err
		}
		if text = strings.TrimSpace(text); text != "" {
			return text, nil
		}
	}
}

// askClient asks for a client that a person has registered at the authorization server.
func (p *program) askClient(ctx context.Context, in *lines, redirect string) (id, secret string, err error) {
	fmt.Fprintf(p.err, "The server registers no clients by itself. Register one there with the redirect URI\n  %s\n"+
		"A client with a secret belongs into the settings: auth.clientId and auth.clientSecret.\nClient id: ", harmless(redirect))
	id, err = in.next(ctx)
	return strings.TrimSpace(id), "", err
}

// tryAgain makes a running gateway use a new sign-in at once. It would at the next call that
// finds the server waiting, too.
func (p *program) tryAgain(ctx context.Context, cfg *config.Config, name string) {
	r, same, err := p.gateway(ctx, cfg)
	if err != nil {
		return
	}
	defer r.Close()
	if !same {
		p.note("restart the running gateway (pid %d) to use it", r.gateway.PID)
		return
	}
	if _, err := r.Restart(ctx, name); err != nil {
		p.warn("the running gateway did not reach %s: %v", name, err)
	}
}
