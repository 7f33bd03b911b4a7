package root

import (
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/locale"
	"collie/internal/tool"
)

// This file makes groups of commands, and checks their arguments.

// Group returns a command that only groups others. Without arguments it shows its help; an unknown name is an
// error instead of a help page.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		var known []string
		for _, sub := range c.Commands() {
			known = append(known, sub.Name())
		}
		near := DidYouMean(args[0], known)
		if near == "" {
			near = locale.Sprintf("; it has %s", strings.Join(known, ", "))
		}
		return Usage("%s has no command %q%s", c.CommandPath(), args[0], near)
	}
	c.AddCommand(commands...)
	return c
}

// NamedArgs accepts exactly the arguments that a command's usage line names.
func NamedArgs(args ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		switch {
		case len(got) < len(args):
			return Usage("which %s? usage: %s", args[len(got)], c.UseLine())
		case len(got) > len(args):
			return Usage("unexpected argument %q; usage: %s", got[len(args)], c.UseLine())
		}
		return nil
	}
}

// UnknownServerError returns the error for a server that is not in the settings.
func UnknownServerError(op, name string, known []string) error {
	e := &tool.Error{
		Op: op, Kind: tool.NotFound, Subject: name,
		Message: "no server of that name", Hint: "collie mcp list shows them",
	}
	if near, ok := tool.Nearest(name, known); ok {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}
