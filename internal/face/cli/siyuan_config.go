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

func (p *program) siyuanConfigCommand() *cobra.Command {
	path := &cobra.Command{
		Use: "path", Short: "Show which files of the workspace hold the tool config", Args: cobra.NoArgs,
		Long: "Shows the files of the SiYuan workspace that may hold the tool config, the one that wins\n" +
			"first: Collie's own, which is written, and that of the SiYuan plugin.",
		RunE: func(*cobra.Command, []string) error { return p.siyuanConfigPath() },
	}
	return group("config", "Which SiYuan tools and actions are on, as the workspace says",
		p.siyuanConfigShowCommand(), p.siyuanConfigSetCommand(), p.siyuanConfigMigrateCommand(), path)
}

func (p *program) siyuanConfigPath() error {
	files := app.ToolConfigFiles()
	if p.json {
		return p.printJSON(map[string]any{"files": files})
	}
	_, err := fmt.Fprintln(p.out, strings.Join(files, "\n"))
	return err
}

func (p *program) siyuanConfigShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "show [TOOL]", Short: "Show what is on, and where that is written", Args: cobra.MaximumNArgs(1),
		Long: "Shows which tools and actions are on, the file of the workspace that says so, its format, and\n" +
			"what in it has no effect. With TOOL shows each of its actions.",
		Example: "  collie siyuan config show\n  collie siyuan config show fs",
		RunE: func(c *cobra.Command, args []string) error {
			return p.siyuanConfigShow(c.Context(), first(append(args, "")...))
		},
	}
	p.kernelFlags(c)
	return c
}

func (p *program) siyuanConfigShow(ctx context.Context, name string) error {
	return p.withNotes(ctx, func(a *app.App, _ *config.Config) error {
		cfg, tools, err := a.Notes.Switches(ctx)
		if err != nil {
			return err
		}
		if name != "" {
			i := slices.IndexFunc(tools, func(t app.SwitchedTool) bool { return t.Name == name })
			if i < 0 {
				var known []string
				for _, t := range tools {
					known = append(known, t.Name)
				}
				return usage("there is no SiYuan tool %q%s", name, didYouMean(name, known))
			}
			tools = tools[i : i+1]
		}
		if p.json {
			return p.printJSON(configJSON(cfg, tools))
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

func configJSON(cfg *app.ToolConfig, tools []app.SwitchedTool) map[string]any {
	return map[string]any{
		"source": cfg.Source, "format": cfg.Format, "old": cfg.Old(), "findings": append([]string{}, cfg.Findings...), "tools": tools,
		"readOnlyTools": cfg.ReadOnly, "strictMode": cfg.Strict != nil && *cfg.Strict, "slimResponses": cfg.Slim,
		"softRecoverableErrors": cfg.SoftErrors, "uploadLargeFileThresholdMB": cfg.UploadMB,
	}
}

// showConfigHead says where the config comes from, and what is odd about it.
func (p *program) showConfigHead(cfg *app.ToolConfig) error {
	where := "defaults: the workspace has no tool config"
	if cfg.Source != "" {
		where = fmt.Sprintf("%s (%s)", cfg.Source, cfg.Format)
	}
	rows := [][]string{{"from", where}}
	for _, f := range []struct {
		on         bool
		name, text string
	}{
		{cfg.ReadOnly, "read-only", "actions that write are not offered"},
		{cfg.Strict != nil && *cfg.Strict, "strict", "writes need a hash of what they change"},
		{!cfg.Slim, "full", "results have all their fields"},
		{cfg.SoftErrors, "soft errors", "errors that a model can mend are no errors to its client"},
	} {
		if f.on {
			rows = append(rows, []string{f.name, f.text})
		}
	}
	for _, f := range cfg.Findings {
		rows = append(rows, []string{"ignored", f})
	}
	if err := p.table(nil, rows); err != nil {
		return err
	}
	if cfg.Old() {
		p.note("the file has an older format; collie siyuan config migrate writes it anew")
	}
	_, err := fmt.Fprintln(p.out)
	return err
}

func (p *program) showSwitchedTools(tools []app.SwitchedTool) error {
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
		rows = append(rows, []string{t.Name, onOff(t.On), fmt.Sprintf("%d of %d", on, len(t.Actions)), strings.Join(off, ", ")})
	}
	return p.table([]string{"TOOL", "", "ACTIONS", "OFF"}, rows)
}

func (p *program) showSwitches(t *app.SwitchedTool) error {
	if !t.On {
		p.note("the tool is off as a whole; collie siyuan config set %s on switches it on", t.Name)
	}
	var rows [][]string
	for _, a := range t.Actions {
		usual := ""
		if a.On != a.Default {
			usual = "by default " + onOff(a.Default)
		}
		rows = append(rows, []string{a.Name, onOff(a.On), usual})
	}
	return p.table([]string{"ACTION", "", ""}, rows)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
