package cli

import "github.com/spf13/cobra"

// commands is every command, in the order of the help.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{
		p.serveCommand(),
		p.stdioCommand(),
		p.versionCommand(),
		p.guardCommand(),
	}
}

// expand lets "collie TOOL ACTION …" stand for "collie call TOOL ACTION …".
func (p *program) expand(root *cobra.Command, args []string) []string {
	if c, rest, err := root.Find(args); err == nil && c != root || len(rest) == 0 {
		return args
	}
	return args
}
