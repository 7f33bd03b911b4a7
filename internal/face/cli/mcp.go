package cli

import "github.com/spf13/cobra"

func (p *program) mcpCommand() *cobra.Command {
	return group("mcp", "Your MCP servers",
		p.mcpListCommand(),
		p.mcpAddCommand(),
		p.mcpRemoveCommand(),
		p.mcpRenameCommand(),
		p.mcpEnableCommand(),
		p.mcpDisableCommand(),
		p.mcpDoctorCommand(),
		p.mcpRestartCommand(),
		p.mcpRefreshCommand(),
		p.mcpApproveCommand(),
		p.mcpLogsCommand(),
		p.mcpValidateCommand(),
		p.mcpImportCommand(),
		p.mcpExportCommand(),
		p.mcpTrustCommand(),
		p.mcpAuthCommand(),
		p.mcpLogoutCommand(),
	)
}
