package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/tool"
)

// group is a command that only holds others: alone it shows its help, and a name that it
// does not have is a mistake and no help page.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		var known []string
		for _, sub := range c.Commands() {
			known = append(known, sub.Name())
		}
		near := didYouMean(args[0], known)
		if near == "" {
			near = "; it has " + strings.Join(known, ", ")
		}
		return usage("%s has no command %q%s", c.CommandPath(), args[0], near)
	}
	c.AddCommand(commands...)
	return c
}

// named takes exactly the arguments that a command's usage line names.
func named(args ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		switch {
		case len(got) < len(args):
			return usage("which %s? usage: %s", args[len(got)], c.UseLine())
		case len(got) > len(args):
			return usage("unexpected argument %q; usage: %s", got[len(args)], c.UseLine())
		}
		return nil
	}
}

// unknownServer is the error for a server that the settings do not have.
func unknownServer(op, name string, known []string) error {
	e := &tool.Error{
		Op: op, Kind: tool.Unknown, Subject: name,
		Message: "no server of that name", Hint: "collie mcp list shows them",
	}
	if near, ok := tool.Nearest(name, known); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}
