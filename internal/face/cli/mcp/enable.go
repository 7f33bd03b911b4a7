package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/root"
	serveradmin "collie/internal/source/upstream/admin"
)

// This file has the commands `collie mcp enable` and `collie mcp disable`.

func (p commands) disableCommand() *cobra.Command {
	return &cobra.Command{
		Use: "disable NAME…", Short: "Switch servers off, and keep them in the settings", Args: requireServers,
		Long: "Switches servers off, in the file that defines them; comments in it stay. Their tools are\n" +
			"no longer offered. \"collie mcp enable\" switches them on again.",
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.switchServers(c.Context(), args, false) },
	}
}

func (p commands) enableCommand() *cobra.Command {
	return &cobra.Command{
		Use: "enable NAME…", Short: "Switch servers on again", Args: requireServers,
		Long:              "Switches servers on, in the file that defines them; comments in it stay.",
		ValidArgsFunction: p.CompleteServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.switchServers(c.Context(), args, true) },
	}
}

// requireServers requires at least one name.
func requireServers(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return root.Usage("which server? usage: %s", c.UseLine())
	}
	return nil
}

// switchServers switches servers on or off. It checks all names before it changes a file.
func (p commands) switchServers(ctx context.Context, names []string, on bool) error {
	op, done, changed, already := "mcp disable", "disabled", locale.T("disabled %s in %s\n"), locale.T("already disabled: %s\n")
	if on {
		op, done, changed, already = "mcp enable", "enabled", locale.T("enabled %s in %s\n"), locale.T("already enabled: %s\n")
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	wasOff := p.switchedOff(cfg)
	var files, turned, unchanged []string
	byFile := map[string][]string{}
	for _, name := range names {
		s, err := root.OwnServer(op, name, cfg)
		switch {
		case err != nil:
			return err
		case slices.Contains(turned, name) || slices.Contains(unchanged, name):
		case wasOff[name] == !on:
			unchanged = append(unchanged, name)
		default:
			turned = append(turned, name)
			if byFile[s.File] == nil {
				files = append(files, s.File)
			}
			byFile[s.File] = append(byFile[s.File], name)
		}
	}
	for _, file := range files {
		if err := cfg.Edit(ctx, file, config.Switch(on, byFile[file]...)); err != nil {
			return root.NotWrittenError(op, file, err)
		}
		p.RecordChange(ctx, cfg, op, map[string]any{"servers": byFile[file], "file": file})
	}
	if p.JSON {
		return p.PrintJSON(map[string][]string{done: append([]string{}, turned...), "unchanged": append([]string{}, unchanged...), "files": append([]string{}, files...)})
	}
	var text strings.Builder
	for _, file := range files {
		fmt.Fprintf(&text, changed, strings.Join(byFile[file], ", "), file)
	}
	if len(unchanged) > 0 {
		fmt.Fprintf(&text, already, strings.Join(unchanged, ", "))
	}
	_, err = fmt.Fprint(p.Out, text.String())
	return err
}

// switchedOff returns, by server, whether its entry switches it off.
func (p commands) switchedOff(cfg *config.Config) map[string]bool {
	out := map[string]bool{}
	specs, _ := serveradmin.Specs(cfg, p.Env)
	for _, s := range specs {
		out[s.Entry.Name] = s.Entry.Disabled
	}
	return out
}
