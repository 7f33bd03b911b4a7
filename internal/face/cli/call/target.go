package call

import (
	"context"
	"os"
	"slices"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/root"
)

// foreignTool reports whether a flag behind words belongs to a tool that is none of SiYuan's.
func foreignTool(words []string, flag string) bool {
	if len(words) == 0 || !slices.Contains(root.KernelFlagNames, flag) {
		return false
	}
	_, ours := app.NotesTool(words[0])
	return !ours
}

// chooseConnection decides what the kernel that is wanted means for a command about words, nothing being
// everything. A running gateway may talk to another kernel than the one that is named here, and
// knows nothing of the folder that files are taken from.
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
	if dir, err := os.Getwd(); err == nil { // else there is no such folder any more
		p.Local, p.WorkDir = true, dir
	}
}

// noNotes is why a SiYuan tool is not offered by b.
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
