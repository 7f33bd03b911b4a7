package call

import (
	"context"
	"os"
	"slices"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/root"
)

// This file decides which kernel a call is for, by flags such as --url, which may also be arguments of the action.

// foreignTool reports whether a flag with the name of a kernel flag, such as --url, is an argument
// of another server's tool: words, the words before it, name a tool that is not a SiYuan tool.
func foreignTool(words []string, flag string) bool {
	if len(words) == 0 || !slices.Contains(root.KernelFlagNames, flag) {
		return false
	}
	_, ours := app.NotesTool(words[0])
	return !ours
}

// chooseConnection applies the flags for a kernel to a command about words; no words mean all tools. If they
// name a kernel or files are involved, the command does not use a running gateway: that may use another
// kernel, and does not know this working directory.
func (p commands) chooseConnection(cfg *config.Config, words []string) {
	name, ours := "", true
	if len(words) > 0 {
		name, ours = app.NotesTool(words[0])
	}
	ours = ours && app.NotesOffered(cfg, p.Env, p.Kernel)
	p.Notes = ours && name != ""
	if p.Kernel != (app.KernelFlags{}) || ours && p.Env.Get("SIYUAN_API_URL") != "" {
		p.Local = true
	}
	if !ours || name != "file" {
		return
	}
	if dir, err := os.Getwd(); err == nil { // an error means that the directory was removed
		p.Local, p.WorkDir = true, dir
	}
}

// noNotes returns why b does not offer a SiYuan tool.
func (p commands) noNotes(ctx context.Context, b root.Backend) error {
	if l, ok := b.(*root.Local); ok {
		return l.App.Notes.Missing()
	}
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	return app.NotesMissing(ctx, cfg, p.Env, p.Kernel)
}
