package root

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"collie/internal/face/cli/locale"
)

// This file translates help pages.

// translate translates the help of root and all its subcommands.
func translate(root *cobra.Command) {
	if locale.English() {
		return
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	translateTree(root)
}

func translateTree(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	c.Short, c.Long = locale.Sentence(c.Short), locale.Sentence(c.Long)
	translateUsage := func(f *pflag.Flag) { f.Usage = locale.Sentence(f.Usage) }
	c.Flags().VisitAll(translateUsage)
	c.PersistentFlags().VisitAll(translateUsage)
	for _, sub := range c.Commands() {
		translateTree(sub)
	}
}

// translateHelp translates the headings of a help page.
func translateHelp(page string) string {
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		if line != "" && line[0] != ' ' {
			lines[i] = locale.Sentence(line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "(default ", locale.T("(default "))
}
