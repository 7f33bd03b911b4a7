package cli

import (
	"context"
	"fmt"

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
	s, err := ownServer("mcp remove", name, cfg)
	if err != nil {
		return err
	}
	file := s.File
	if err := cfg.Edit(ctx, file, config.Remove(name)); err != nil {
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
	p.shadowed(name)
	p.changed(ctx, cfg, "mcp remove", map[string]any{"servers": []string{name}, "file": file})
	return nil
}
