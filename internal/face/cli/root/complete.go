package root

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
)

// This file has the shell completions that several commands use.

// CompleteServers is the shell completion of a first argument that names a server in the settings.
func (p *Program) CompleteServers(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 {
		return nil, done
	}
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, done
	}
	return slices.DeleteFunc(ServerNames(cfg), func(name string) bool { return !strings.HasPrefix(name, typed) }), done
}

// CompleteWith completes the value of a flag with words.
func CompleteWith(c *cobra.Command, flag string, words ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("cli: " + err.Error()) // the flag does not exist
	}
}

// CompleteConnections is the shell completion of the names of saved connections to SiYuan kernels.
func (p *Program) CompleteConnections(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	saved, _ := app.Connections(cfg, p.Env)
	return saved.Names(), cobra.ShellCompDirectiveNoFileComp
}
