package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"collie/internal/config"
)

func (p *program) mcpRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"}, Short: "Take a server out of the settings", Args: named("server"),
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.mcpRemove(c.Context(), args[0]) },
	}
}

func (p *program) mcpRemove(ctx context.Context, name string) error {
	cfg, _, err := p.settings()
	if err != nil {
		return err
	}
	i := slices.Index(serverNames(cfg), name)
	if i < 0 {
		return unknownServer("mcp remove", name, serverNames(cfg))
	}
	file := cfg.Servers[i].File
	if err := config.RemoveServer(ctx, file, name); err != nil {
		return notWritten("mcp remove", file, err)
	}
	if p.json {
		err = p.printJSON(map[string]string{"removed": name, "file": file})
	} else {
		_, err = fmt.Fprintf(p.out, "removed %s from %s\n", name, file)
	}
	if err != nil {
		return err
	}
	if now, _, err := p.settings(); err == nil {
		if i := slices.Index(serverNames(now), name); i >= 0 {
			p.warn("%s is defined in %s too, and that counts now", name, now.Servers[i].File)
		}
	}
	p.changed(ctx, cfg, "mcp remove", map[string]any{"servers": []string{name}, "file": file})
	return nil
}
