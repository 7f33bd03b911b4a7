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

func (p *program) siyuanConfigSetCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "set TOOL[.ACTION] on|off", Short: "Switch a tool or an action on or off", Args: named("tool", "on or off"),
		Long: "Switches a tool or an action on or off, in Collie's own file in the workspace; a file of an\n" +
			"older format is kept as a copy. readOnlyTools, writeSafety.strictMode, debug.slimResponses and\n" +
			"errorReporting.softRecoverableErrors can be switched too. A running gateway takes it up within\n" +
			"half a minute.",
		Example: "  collie siyuan config set mascot on\n  collie siyuan config set fs.rm off\n  collie siyuan config set readOnlyTools on",
		RunE:    func(c *cobra.Command, args []string) error { return p.siyuanConfigSet(c.Context(), args[0], args[1]) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			words := []string{"on", "off"}
			if len(args) == 0 {
				words = app.SwitchNames()
			}
			return slices.DeleteFunc(words, func(w string) bool { return len(args) > 1 || !strings.HasPrefix(w, typed) }), cobra.ShellCompDirectiveNoFileComp
		},
	}
	p.kernelFlags(c)
	return c
}

func (p *program) siyuanConfigSet(ctx context.Context, name, value string) error {
	on, ok := map[string]bool{"on": true, "true": true, "off": false, "false": false}[strings.ToLower(value)]
	if !ok {
		return usage("%s is %q, expected on or off", name, value)
	}
	return p.withNotes(ctx, func(a *app.App, _ *config.Config) error {
		cfg, err := a.Notes.Switch(ctx, name, on)
		if err != nil {
			return err
		}
		p.workspaceChanged(ctx, a, "siyuan config set", map[string]any{"name": name, "on": on})
		if p.json {
			return p.printJSON(map[string]any{"set": name, "on": on, "source": cfg.Source})
		}
		if _, err := fmt.Fprintf(p.out, "%s is %s, in %s\n", name, onOff(on), cfg.Source); err != nil {
			return err
		}
		if toolName, _, one := strings.Cut(name, "."); one && on && cfg.On[toolName] != nil && !cfg.ToolOn[toolName] {
			p.note("the tool %s is off as a whole; collie siyuan config set %s on switches it on", toolName, toolName)
		}
		return nil
	})
}

func (p *program) siyuanConfigMigrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "migrate", Short: "Write a tool config of an older format anew", Args: cobra.NoArgs,
		Long: "Writes a tool config of an older format, or with old names of actions, to Collie's own file in\n" +
			"the workspace in the form of today. A copy of the old one is kept. Nothing is written where\n" +
			"there is nothing to do.",
		RunE: func(c *cobra.Command, _ []string) error { return p.siyuanConfigMigrate(c.Context()) },
	}
	p.kernelFlags(c)
	return c
}

func (p *program) siyuanConfigMigrate(ctx context.Context) error {
	return p.withNotes(ctx, func(a *app.App, _ *config.Config) error {
		m, err := a.Notes.Migrate(ctx)
		if err != nil {
			return err
		}
		if m.To != "" {
			p.workspaceChanged(ctx, a, "siyuan config migrate", map[string]any{"from": m.From, "format": m.Format, "to": m.To, "backup": m.Backup})
		}
		switch {
		case p.json:
			return p.printJSON(map[string]any{"from": m.From, "format": m.Format, "to": m.To, "backup": m.Backup, "changed": m.To != ""})
		case m.From == "":
			p.note("the workspace has no tool config: the defaults hold, and nothing was written")
			return nil
		case m.To == "":
			p.note("%s has the format of today; nothing was written", m.From)
			return nil
		}
		_, err = fmt.Fprintf(p.out, "wrote %s from %s (%s); the old one is kept as %s\n", m.To, m.From, m.Format, m.Backup)
		return err
	})
}
