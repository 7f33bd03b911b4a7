package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completeServers completes the first argument with the servers of the settings.
func (p *program) completeServers(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const done = cobra.ShellCompDirectiveNoFileComp
	if len(args) > 0 {
		return nil, done
	}
	cfg, _, err := p.settings()
	if err != nil {
		return nil, done
	}
	return slices.DeleteFunc(serverNames(cfg), func(name string) bool { return !strings.HasPrefix(name, typed) }), done
}

// completeWith completes the value of a flag with words.
func completeWith(c *cobra.Command, flag string, words ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("cli: " + err.Error()) // no such flag
	}
}
