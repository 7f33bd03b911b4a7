package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// commands is every command, in the order of the help.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{
		p.serveCommand(),
		p.stdioCommand(),
		p.callCommand(),
		p.toolsCommand(),
		p.mcpCommand(), p.cacheCommand(),
		p.secretCommand(),
		p.siyuanCommand(),
		p.vaultCommand(),
		p.confirmCommand(),
		p.connectCommand(),
		p.auditCommand(),
		p.serviceCommand(),
		p.doctorCommand(),
		p.configCommand(),
		p.versionCommand(),
	}
}

// tree is the whole command tree.
func (p *program) tree() *cobra.Command {
	root := p.root(p.commands()...)
	root.ValidArgsFunction = p.completeTools()
	return root
}

// expand lets "collie TOOL ACTION …" stand for "collie call TOOL ACTION …" where TOOL is no
// command.
func (p *program) expand(root *cobra.Command, args []string) []string {
	known := []string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}
	var shown []string
	for _, c := range root.Commands() {
		known = append(append(known, c.Name()), c.Aliases...)
		if !c.Hidden {
			shown = append(shown, c.Name())
		}
	}
	call, _, err := root.Find([]string{"call"})
	if err != nil {
		return args
	}
	for i := 0; i < len(args); i++ {
		token := args[i]
		if !strings.HasPrefix(token, "-") {
			if slices.Contains(known, token) {
				return args
			}
			p.expanded, p.commandNames = true, shown
			return append([]string{"call"}, args...)
		}
		name, _, inline := strings.Cut(strings.TrimPrefix(token, "--"), "=")
		f := call.Flag(name) // those of root as well
		if f == nil || !strings.HasPrefix(token, "--") {
			return args
		}
		if !inline && f.Value.Type() != "bool" {
			i++
		}
	}
	return args
}
