package cli

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/config"
)

// kernelFlags lets a command talk to another SiYuan kernel than the usual one.
func (p *program) kernelFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&p.kernel.Connection, "connection", "", "use the saved SiYuan connection `NAME`")
	flags.StringVar(&p.kernel.URL, "url", "", "use the SiYuan kernel at `URL`")
	flags.StringVar(&p.kernel.Token, "token", "", "its `TOKEN`; goes with --url, and others can read it on a command line")
	if err := c.RegisterFlagCompletionFunc("connection", p.completeConnections); err != nil {
		panic("cli: " + err.Error()) // no such flag
	}
}

// kernelFlagNames are the flags of [program.kernelFlags]. A tool of a server may have arguments of
// these names, so that behind such a tool they are its own.
var kernelFlagNames = []string{"connection", "url", "token"}

// foreignTool reports whether a flag behind words belongs to a tool that is none of SiYuan's.
func foreignTool(words []string, flag string) bool {
	if len(words) == 0 || !slices.Contains(kernelFlagNames, flag) {
		return false
	}
	_, ours := app.NotesTool(words[0])
	return !ours
}

// settle decides what the kernel that is wanted means for a command about words, nothing being
// everything. A running gateway may talk to another kernel than the one that is named here, and
// knows nothing of the folder that files are taken from.
func (p *program) settle(cfg *config.Config, words []string) {
	name, ours := "", true
	if len(words) > 0 {
		name, ours = app.NotesTool(words[0])
	}
	ours = ours && app.NotesOffered(cfg, p.env, p.kernel)
	p.notes = ours && name != ""
	if p.kernel != (app.KernelFlags{}) || ours && p.env.Get("SIYUAN_API_URL") != "" {
		p.local = true
	}
	if !ours || name != "file" {
		return
	}
	if dir, err := os.Getwd(); err == nil { // else there is no such folder any more
		p.local, p.workDir = true, dir
	}
}

// aboutKernel tells what a person should know of how the kernel was chosen.
func (p *program) aboutKernel(a *app.App) {
	if !p.notes && p.kernel == (app.KernelFlags{}) {
		return
	}
	for _, w := range a.Notes.Warnings() {
		p.warn("%s", w)
	}
}

// noNotes is why a SiYuan tool is not offered by b.
func (p *program) noNotes(ctx context.Context, b backend) error {
	if l, ok := b.(*local); ok {
		return l.app.Notes.Missing()
	}
	cfg, err := p.load()
	if err != nil {
		return err
	}
	return app.NotesMissing(ctx, cfg, p.env, p.kernel)
}

func (p *program) completeConnections(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, _, err := p.settings()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	saved, _ := app.Connections(cfg, p.env)
	return saved.Names(), cobra.ShellCompDirectiveNoFileComp
}
