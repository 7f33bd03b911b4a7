package call

import (
	"context"
	"os"
	"slices"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/root"
)

// This file decides which kernel a call is for and whether a running gateway may make it. The flags that name a kernel,
// such as --url, may also be arguments of another server's action.

// isForeignArgument reports whether flag has the name of a kernel flag, such as --url, but is an argument of another server's
// tool. words are the words before the flag; the first names the tool.
func isForeignArgument(words []string, flag string) bool {
	if len(words) == 0 || !slices.Contains(root.KernelFlagNames, flag) {
		return false
	}
	_, ours := app.NotesTool(words[0])
	return !ours
}

// chooseConnection sets p.Local if a command may not use a running gateway. The first of words names a tool; no words mean
// all tools. A command that names a kernel may not, because the gateway may use another one. Nor may one that calls the
// tool file, because the gateway does not know this working directory. chooseConnection also sets p.Notes if the tool is
// one of SiYuan's.
func (p commands) chooseConnection(cfg *config.Config, words []string) {
	name, ours := "", true // all tools include those of SiYuan
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

// whyNoNotes returns why b does not offer a SiYuan tool.
func (p commands) whyNoNotes(ctx context.Context, b root.Backend) error {
	if l, ok := b.(*root.Local); ok {
		return l.App.Notes.Missing()
	}
	cfg, err := p.Load()
	if err != nil {
		return err
	}
	return app.NotesMissing(ctx, cfg, p.Env, p.Kernel)
}
