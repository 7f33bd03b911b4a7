package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"collie/internal/app"
)

func (p *program) mcpLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout NAME", Short: "Sign out from a remote server", Args: named("server"),
		Long: "Revokes the tokens of a server where its authorization server allows that, and forgets\n" +
			"them. A running gateway notices within seconds.",
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.mcpLogout(c.Context(), args[0]) },
	}
}

func (p *program) mcpLogout(ctx context.Context, name string) error {
	cfg, err := p.knownServer("mcp logout", name)
	if err != nil {
		return err
	}
	log, err := p.logger()
	if err != nil {
		return err
	}
	revoked, err := app.SignOut(ctx, cfg, p.env, name, log)
	if err != nil {
		return err
	}
	if p.json {
		err = p.printJSON(map[string]any{"server": name, "signedIn": false, "revoked": revoked})
	} else {
		_, err = fmt.Fprintf(p.out, "signed out from %s\n", name)
	}
	if err != nil {
		return err
	}
	if !revoked {
		p.warn("the tokens are forgotten here, but were not revoked: a copy of them works until they end")
	}
	p.onRecord(ctx, cfg, "mcp logout", map[string]any{"server": name, "revoked": revoked})
	return nil
}
