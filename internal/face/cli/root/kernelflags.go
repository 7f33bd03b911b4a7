package root

import (
	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/face/cli/locale"
)

// This file has the flags that select a SiYuan kernel, which commands for notes and for all tools share.

// KernelFlags adds the flags that select another SiYuan kernel than the settings do.
func (p *Program) KernelFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&p.Kernel.Connection, "connection", "", "use the saved SiYuan connection `NAME`")
	flags.StringVar(&p.Kernel.URL, "url", "", "use the SiYuan kernel at `URL`")
	flags.StringVar(&p.Kernel.Token, "token", "", "its `TOKEN`; goes with --url, and others can read it on a command line")
	if err := c.RegisterFlagCompletionFunc("connection", p.CompleteConnections); err != nil {
		panic("cli: " + err.Error()) // the flag does not exist
	}
}

// KernelFlagNames are the flags of [Program.KernelFlags]. A server's tool may have arguments with these
// names; after such a tool the flags are its own.
var KernelFlagNames = []string{"connection", "url", "token"}

// AboutKernel prints the warnings about how the kernel was chosen, if the command is about notes or its flags name a
// kernel.
func (p *Program) AboutKernel(a *app.App) {
	if !p.Notes && p.Kernel == (app.KernelFlags{}) {
		return
	}
	for _, w := range a.Notes.Warnings() {
		p.Warn("%s", locale.Sentence(w))
	}
}
