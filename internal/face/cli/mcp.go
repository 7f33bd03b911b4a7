package cli

import "github.com/spf13/cobra"

func (p *program) mcpCommand() *cobra.Command {
	return group("mcp", "Your MCP servers",
		p.mcpListCommand(),
		p.mcpAddCommand(),
		p.mcpRemoveCommand(),
		p.mcpLogsCommand(),
		p.mcpValidateCommand(),
	)
}
