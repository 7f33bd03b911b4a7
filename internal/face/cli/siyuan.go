package cli

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/tool"
)

func (p *program) siyuanCommand() *cobra.Command {
	c := group("siyuan", "Your SiYuan notes",
		p.siyuanInitCommand(),
		p.siyuanConnectionCommand(),
		p.siyuanPermissionCommand(),
		p.siyuanConfigCommand(),
		p.siyuanUndoCommand(),
		p.siyuanDoctorCommand(),
		p.siyuanTelemetryCommand(),
	)
	c.Long = "Connects your SiYuan and says what may be done in it. The notes themselves have commands of\n" +
		"their own, named as the tools that models see: collie tools lists them. Where no SiYuan is set up\n" +
		"your notes are in the built-in vault; permission, config, undo and doctor are for it then."
	c.Example = "  collie siyuan init\n  collie fs tree /\n  collie search fulltext sheep\n  collie siyuan permission set Work rw"
	return c
}

// withNotes opens the SiYuan source here, without any server, for a command that manages it, and
// closes it when do has returned. An error says why there is none.
func (p *program) withNotes(ctx context.Context, do func(a *app.App, cfg *config.Config) error) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	if err := app.NotesMissing(ctx, cfg, p.env, p.kernel); err != nil {
		return err
	}
	log, err := p.logger()
	if err != nil {
		return err
	}
	if p.logLevel == "" && !p.debug {
		log = slog.New(slog.DiscardHandler) // the command itself says what went wrong
	}
	p.notes = true
	a, err := p.join(ctx, cfg, log, openOptions{servers: []string{}, brief: true})
	if err != nil {
		return err
	}
	defer p.close(a)
	p.aboutKernel(a)
	if err := a.Notes.Missing(); err != nil {
		return err
	}
	return do(a, cfg)
}

// workspaceChanged puts on record what a person has changed in the workspace.
func (p *program) workspaceChanged(ctx context.Context, a *app.App, command string, detail map[string]any) {
	raw, err := json.Marshal(detail)
	if err == nil {
		err = a.Audit.Change(ctx, tool.Record{
			Name: command, Origin: tool.Direct, Principal: principal(), Client: "collie", Detail: raw,
		})
	}
	if err != nil {
		p.warn("the change is not on record: %v", err)
	}
}
