package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
	"collie/internal/tool"
)

// aboutVault gives the vault the commands for notes that "siyuan" has: somebody without a SiYuan does
// not look for them there. Where the notes are in a SiYuan they refuse, since the name would mislead.
func (p *program) aboutVault(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		p.aboutVault(c.Commands()...)
		c.Example = strings.ReplaceAll(c.Example, "collie siyuan ", "collie vault ")
		for _, name := range kernelFlagNames {
			if c.Flags().Lookup(name) != nil {
				_ = c.Flags().MarkHidden(name) // it is there
			}
		}
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := p.notInVault(c); err != nil && !c.HasSubCommands() {
				return err
			}
			return run(c, args)
		}
	}
	return commands
}

// notInVault is why a command about the vault says nothing about one's notes; nil if it does.
func (p *program) notInVault(c *cobra.Command) error {
	cfg, err := p.load()
	if err != nil {
		return err
	}
	instead := app.InsteadOfVault(cfg, p.env, p.kernel)
	if instead == "" {
		return nil
	}
	same := strings.Replace(c.CommandPath(), "collie vault", "collie siyuan", 1)
	return &tool.Error{
		Op: strings.TrimPrefix(c.CommandPath(), "collie "), Kind: tool.Invalid,
		Message: "the tools for notes do not work in the vault: " + instead, Hint: same + " is for the notes that they work in",
	}
}
