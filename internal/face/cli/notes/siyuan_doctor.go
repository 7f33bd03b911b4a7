package notes

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/home"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
)

// This file has the command `collie siyuan doctor`, which checks everything that the tools for notes need.

func (p commands) siyuanDoctorCommand() *cobra.Command {
	var require bool
	c := &cobra.Command{
		Use: "doctor", Short: "Look for what could keep the SiYuan tools from working", Args: cobra.NoArgs,
		Long: "Checks the kernel's version, whether it accepts the token, what it lacks, how fast it answers\n" +
			"and its clock, the levels and the tool config of the workspace, and which tools a running\n" +
			"gateway offers. It changes nothing. With --require-ready the exit code is 1 if something needs\n" +
			"to be repaired.",
		RunE: func(c *cobra.Command, _ []string) error { return p.siyuanDoctor(c.Context(), require) },
	}
	c.Flags().BoolVar(&require, "require-ready", false, "exit with 1 unless everything works")
	p.KernelFlags(c)
	return c
}

func (p commands) siyuanDoctor(ctx context.Context, require bool) error {
	cfg, _, err := p.Settings()
	if err != nil {
		return err
	}
	d := app.ExamineNotes(ctx, cfg, p.Env, p.Kernel)
	d.Checks = append(d.Checks, p.checkOffer(ctx, cfg, d))
	d.Judge()
	if p.JSON {
		err = p.PrintJSON(d)
	} else {
		err = p.showNotesChecks(d)
	}
	if err == nil && require && !d.Ready {
		err = root.Exit(root.ExitFailed)
	}
	return err
}

func (p commands) showNotesChecks(d *notesadmin.Report) error {
	marks := map[notesadmin.CheckStatus]string{notesadmin.CheckOK: "✓", notesadmin.CheckFailed: "✗", notesadmin.NotChecked: "-"}
	for _, c := range d.Checks {
		mark, text := marks[c.Status], c.Detail
		if c.Status == notesadmin.CheckOK && c.Issue != "" {
			mark = "!"
		}
		if c.Hint != "" {
			text += "; " + c.Hint
		}
		if _, err := fmt.Fprintf(p.Out, "%s %s: %s\n", p.Painter(p.Out).Mark(mark), c.Name, output.OneLine(root.WithCommandLines(locale.Sentence(text)))); err != nil {
			return err
		}
	}
	_, err := locale.Fprintf(p.Out, "%s: reads %s, strict writes %s\n", d.Status, d.Access.Reads, d.Access.StrictWrites)
	return err
}

// checkOffer checks how many tools for notes a running gateway offers, and sets d.ToolsListBytes to the size of its list.
func (p commands) checkOffer(ctx context.Context, cfg *config.Config, d *notesadmin.Report) notesadmin.Check {
	c := notesadmin.Check{Name: "gateway", Status: notesadmin.NotChecked}
	if _, err := home.FindGateway(cfg.Paths); errors.Is(err, home.ErrNoGateway) {
		c.Detail = "none runs in this home"
		return c
	}
	r, sameSettings, err := p.Gateway(ctx, cfg)
	if err != nil {
		return c.Failed("gateway_not_running", err)
	}
	defer r.Close()
	r.Await = []string{} // do not wait for servers
	tools, err := r.Tools(ctx, "")
	if err != nil {
		return c.Failed("tools_list_failed", err)
	}
	raw, err := r.List(ctx, "tools", "")
	if err != nil {
		return c.Failed("tools_list_failed", err)
	}
	offered := 0
	for i := range tools {
		if _, ours := app.NotesTool(tools[i].Name); ours && tools[i].Off == "" {
			offered++
		}
	}
	c.Status, c.Detail = notesadmin.CheckOK, locale.Sprintf("at %s, offers %s for notes, a list of %s", r.Gateway.URL, locale.Count(offered, "tool"), output.DecimalSize(len(raw)))
	switch {
	case offered == 0:
		c.Status, c.Issue, c.Hint = notesadmin.CheckFailed, "required_tool_missing", "restart it"
	case !sameSettings:
		c.Status, c.Issue, c.Hint = notesadmin.CheckOK, "gateway_stale", locale.T("it has other settings than these; restart it")
	}
	d.ToolsListBytes = len(raw)
	return c
}
