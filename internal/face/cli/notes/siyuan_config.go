package notes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
)

// This file has the command `collie siyuan config`, which shows, changes and upgrades the tool config of a workspace: which
// tools and actions are on.

func (p commands) siyuanConfigCommand() *cobra.Command {
	path := &cobra.Command{
		Use: "path", Short: "Show which files of the workspace hold the tool config", Args: cobra.NoArgs,
		Long: "Shows the files of the SiYuan workspace that may hold the tool config, the one that wins\n" +
			"first: Collie's own, which is written, and that of the SiYuan plugin.",
		RunE: func(*cobra.Command, []string) error { return p.siyuanConfigPath() },
	}
	return root.Group("config", "Which SiYuan tools and actions are on in this workspace",
		p.siyuanConfigShowCommand(), p.siyuanConfigSetCommand(), p.siyuanConfigMigrateCommand(), path)
}

func (p commands) siyuanConfigPath() error {
	files := notesadmin.ToolConfigFiles()
	if p.JSON {
		return p.PrintJSON(map[string]any{"files": files})
	}
	_, err := fmt.Fprintln(p.Out, strings.Join(files, "\n"))
	return err
}

func (p commands) siyuanConfigShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "show [TOOL]", Short: "Show what is on, and which file says so", Args: cobra.MaximumNArgs(1),
		Long: "Shows which tools and actions are on, the file of the workspace that says so, its format, and\n" +
			"what in it has no effect. With TOOL shows each of its actions.",
		Example: "  collie siyuan config show\n  collie siyuan config show fs",
		RunE: func(c *cobra.Command, args []string) error {
			return p.siyuanConfigShow(c.Context(), output.FirstNonEmpty(append(args, "")...))
		},
	}
	p.KernelFlags(c)
	return c
}

// siyuanConfigShow prints the tool config, or with a name the switches of the actions of one tool.
func (p commands) siyuanConfigShow(ctx context.Context, name string) error {
	return p.withNotes(ctx, func(_ *app.App, notes *notesadmin.Notes) error {
		cfg, tools, err := notes.Switches(ctx)
		if err != nil {
			return err
		}
		if name != "" {
			i := slices.IndexFunc(tools, func(t notesadmin.SwitchedTool) bool { return t.Name == name })
			if i < 0 {
				var known []string
				for _, t := range tools {
					known = append(known, t.Name)
				}
				return root.Usage("there is no SiYuan tool %q%s", name, root.DidYouMean(name, known))
			}
			tools = tools[i : i+1]
		}
		if p.JSON {
			return p.PrintJSON(configJSON(cfg, tools))
		}
		if err := p.showConfigHead(cfg); err != nil {
			return err
		}
		if name != "" {
			return p.showSwitches(&tools[0])
		}
		return p.showSwitchedTools(tools)
	})
}

func configJSON(cfg *notesadmin.ToolConfig, tools []notesadmin.SwitchedTool) map[string]any {
	return map[string]any{
		"source": cfg.Source, "format": cfg.Format, "old": cfg.Old(), "findings": append([]string{}, cfg.Findings...), "tools": tools,
		"readOnlyTools": cfg.ReadOnly, "strictMode": cfg.Strict != nil && *cfg.Strict, "slimResponses": cfg.Slim,
		"softRecoverableErrors": cfg.SoftErrors, "uploadLargeFileThresholdMB": cfg.UploadMB,
	}
}

// showConfigHead prints where the tool config comes from and what is unusual about it.
func (p commands) showConfigHead(cfg *notesadmin.ToolConfig) error {
	where := locale.T("defaults: the workspace has no tool config")
	if cfg.Source != "" {
		where = fmt.Sprintf("%s (%s)", cfg.Source, cfg.Format)
	}
	rows := [][]string{{"from", where}}
	for _, f := range []struct {
		on         bool
		name, text string
	}{
		{cfg.ReadOnly, "read-only", locale.T("actions that write are not offered")},
		{cfg.Strict != nil && *cfg.Strict, "strict", locale.T("writes need a hash of what they change")},
		{!cfg.Slim, "full", locale.T("results have all their fields")},
		{cfg.SoftErrors, locale.T("soft errors"), locale.T("errors that a model can correct are returned as ordinary results")},
	} {
		if f.on {
			rows = append(rows, []string{f.name, f.text})
		}
	}
	for _, f := range cfg.Findings {
		rows = append(rows, []string{"ignored", locale.Sentence(f)})
	}
	if err := p.Table(nil, rows); err != nil {
		return err
	}
	if cfg.Old() {
		p.Note("the file has an older format; collie siyuan config migrate upgrades it")
	}
	_, err := fmt.Fprintln(p.Out)
	return err
}

// showSwitchedTools prints for each tool how many of its actions are on, and which are off.
func (p commands) showSwitchedTools(tools []notesadmin.SwitchedTool) error {
	var rows [][]string
	for i := range tools {
		t := &tools[i]
		var off []string
		on := 0
		for _, a := range t.Actions {
			if a.On {
				on++
			} else {
				off = append(off, a.Name)
			}
		}
		rows = append(rows, []string{t.Name, onOff(t.On), locale.Sprintf("%d of %d", on, len(t.Actions)), strings.Join(off, ", ")})
	}
	return p.Table([]string{"TOOL", "", "ACTIONS", "OFF"}, rows)
}

// showSwitches prints the actions of one tool.
func (p commands) showSwitches(t *notesadmin.SwitchedTool) error {
	if !t.On {
		p.Note("the tool is off as a whole; collie siyuan config set %s on switches it on", t.Name)
	}
	var rows [][]string
	for _, a := range t.Actions {
		usual := ""
		if a.On != a.Default {
			usual = locale.Sprintf("by default %s", onOff(a.Default))
		}
		rows = append(rows, []string{a.Name, onOff(a.On), usual})
	}
	return p.Table([]string{"ACTION", "", ""}, rows)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (p commands) siyuanConfigSetCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "set TOOL[.ACTION] on|off", Short: "Switch a tool or an action on or off", Args: root.NamedArgs("tool", locale.T("on or off")),
		Long: "Switches a tool or an action on or off, in Collie's own file in the workspace; a file of an\n" +
			"older format is kept as a copy. readOnlyTools, writeSafety.strictMode, debug.slimResponses and\n" +
			"errorReporting.softRecoverableErrors can be switched too. A running gateway applies it within\n" +
			"half a minute.",
		Example: "  collie siyuan config set mascot on\n  collie siyuan config set fs.rm off\n  collie siyuan config set readOnlyTools on",
		RunE:    func(c *cobra.Command, args []string) error { return p.siyuanConfigSet(c.Context(), args[0], args[1]) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			words := []string{"on", "off"}
			if len(args) == 0 {
				words = notesadmin.SwitchNames()
			}
			return slices.DeleteFunc(words, func(w string) bool { return len(args) > 1 || !strings.HasPrefix(w, typed) }), cobra.ShellCompDirectiveNoFileComp
		},
	}
	p.KernelFlags(c)
	return c
}

// siyuanConfigSet switches a tool, an action or a setting of the tool config on or off.
func (p commands) siyuanConfigSet(ctx context.Context, name, value string) error {
	on, ok := map[string]bool{"on": true, "true": true, "off": false, "false": false}[strings.ToLower(value)]
	if !ok {
		return root.Usage("%s is %q, expected on or off", name, value)
	}
	return p.withNotes(ctx, func(a *app.App, notes *notesadmin.Notes) error {
		cfg, err := notes.Switch(ctx, name, on)
		if detail, ok := notesadmin.OnRecord(map[string]any{"name": name, "on": on}, err); ok {
			p.workspaceChanged(ctx, a, "siyuan config set", detail)
		}
		if err != nil {
			return err
		}
		if p.JSON {
			return p.PrintJSON(map[string]any{"set": name, "on": on, "source": cfg.Source})
		}
		if _, err := locale.Fprintf(p.Out, "%s is %s, in %s\n", name, onOff(on), cfg.Source); err != nil {
			return err
		}
		if toolName, _, one := strings.Cut(name, "."); one && on && cfg.On[toolName] != nil && !cfg.ToolOn[toolName] {
			p.Note("the tool %s is off as a whole; collie siyuan config set %s on switches it on", toolName, toolName)
		}
		return nil
	})
}

func (p commands) siyuanConfigMigrateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "migrate", Short: "Upgrade a tool config to the current format", Args: cobra.NoArgs,
		Long: "Writes a tool config of an older format, or with old action names, to Collie's own file in the\n" +
			"workspace in the current format. A copy of the old file is kept. If there is nothing to do,\n" +
			"nothing is written.",
		RunE: func(c *cobra.Command, _ []string) error { return p.siyuanConfigMigrate(c.Context()) },
	}
	p.KernelFlags(c)
	return c
}

// siyuanConfigMigrate writes the tool config in the current format.
func (p commands) siyuanConfigMigrate(ctx context.Context) error {
	return p.withNotes(ctx, func(a *app.App, notes *notesadmin.Notes) error {
		m, err := notes.Migrate(ctx)
		if err != nil {
			return err
		}
		if m.To != "" {
			p.workspaceChanged(ctx, a, "siyuan config migrate", map[string]any{"from": m.From, "format": m.Format, "to": m.To, "backup": m.Backup})
		}
		switch {
		case p.JSON:
			return p.PrintJSON(map[string]any{"from": m.From, "format": m.Format, "to": m.To, "backup": m.Backup, "changed": m.To != ""})
		case m.From == "":
			p.Note("the workspace has no tool config: the defaults hold, and nothing was written")
			return nil
		case m.To == "":
			p.Note("%s already has the current format; nothing was written", m.From)
			return nil
		}
		_, err = locale.Fprintf(p.Out, "wrote %s from %s (%s); the old one is kept as %s\n", m.To, m.From, m.Format, m.Backup)
		return err
	})
}
