package root

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/app"
)

// CompleteServers completes the first argument with the names of servers in the settings.
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

// CompleteConnections completes with the names of saved connections.
func (p *Program) CompleteConnections(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, _, err := p.Settings()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	saved, _ := app.Connections(cfg, p.Env)
	return saved.Names(), cobra.ShellCompDirectiveNoFileComp
}
