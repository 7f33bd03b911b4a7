// Package notes has the commands about notes: collie siyuan, for notes in the program SiYuan, and collie vault, for those
// that Collie keeps itself.
package notes

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/root"
	notesadmin "collie/internal/source/siyuan/admin"
	"collie/internal/tool"
)

// commands holds the methods behind the commands of this package. They share one program.
type commands struct{ *root.Program }

// SiYuanCommand returns the command `collie siyuan`.
func SiYuanCommand(shared *root.Program) *cobra.Command {
	p := commands{shared}

	c := root.Group("siyuan", "Your SiYuan notes",
		p.siyuanInitCommand(),
		p.siyuanConnectionCommand(),
		p.siyuanPermissionCommand(),
		p.siyuanConfigCommand(),
		p.siyuanUndoCommand(),
		p.siyuanDoctorCommand(),
		p.siyuanTelemetryCommand(),
		p.siyuanPanelCommand(),
	)
	c.Long = "Connects SiYuan and sets what tools may do in it. The notes themselves have commands of their\n" +
		"own, named after the tools that models see: collie tools lists them. If no SiYuan is set up,\n" +
		"your notes are in the built-in vault, and permission, config, undo and doctor work on that."
	c.Example = "  collie siyuan init\n  collie fs tree /\n  collie search fulltext sheep\n  collie siyuan permission set Work rw"
	return c
}

// withNotes opens the SiYuan source in this process, without other servers, passes it to do, and closes it.
// The error says why there is no source.
func (p commands) withNotes(ctx context.Context, do func(a *app.App, notes *notesadmin.Notes) error) error {
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	if err := app.NotesMissing(ctx, cfg, p.Env, p.Kernel); err != nil {
		return err
	}
	log, err := p.Logger()
	if err != nil {
		return err
	}
	if p.LogLevel == "" && !p.Debug {
		log = slog.New(slog.DiscardHandler) // the command itself reports errors
	}
	p.Notes = true
	a, err := p.Join(ctx, cfg, log, root.OpenOptions{Servers: []string{}, Brief: true})
	if err != nil {
		return err
	}
	defer p.Stop(a)
	p.AboutKernel(a)
	notes, err := a.Notes.Admin()
	if err != nil {
		return err
	}
	return do(a, notes)
}

// workspaceChanged records a change that a person made in the workspace.
func (p commands) workspaceChanged(ctx context.Context, a *app.App, command string, detail map[string]any) {
	raw, err := json.Marshal(detail)
	if err == nil {
		err = a.Audit.Change(ctx, tool.Record{
			Name: command, Origin: tool.Direct, Principal: root.Principal(), Client: tool.ActingProgram(ctx), Detail: raw,
		})
	}
	if err != nil {
		p.Warn("the change is not on record: %v", err)
	}
}
