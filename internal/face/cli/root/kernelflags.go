package root

import (
	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
)

// KernelFlags lets a command talk to another SiYuan kernel than the usual one.
func (p *Program) KernelFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&p.Kernel.Connection, "connection", "", "use the saved SiYuan connection `NAME`")
	flags.StringVar(&p.Kernel.URL, "url", "", "use the SiYuan kernel at `URL`")
	flags.StringVar(&p.Kernel.Token, "token", "", "its `TOKEN`; goes with --url, and others can read it on a command line")
	if err := c.RegisterFlagCompletionFunc("connection", p.CompleteConnections); err != nil {
		panic("cli: " + err.Error()) // no such flag
	}
}

// KernelFlagNames are the flags of [Program.KernelFlags]. A tool of a server may have arguments of
// these names, so that behind such a tool they are its own.
var KernelFlagNames = []string{"connection", "url", "token"}

// AboutKernel tells what a person should know of how the kernel was chosen.
func (p *Program) AboutKernel(a *app.App) {
	if !p.Notes && p.Kernel == (app.KernelFlags{}) {
		return
	}
	for _, w := range a.Notes.Warnings() {
		p.Warn("%s", locale.Sentence(w))
	}
}
