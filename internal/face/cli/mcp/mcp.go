// Package mcp has the commands under `collie mcp` that add, list, check, trust, start and stop MCP
// servers.
package mcp

import (
	"github.com/spf13/cobra"

	"collie/internal/face/cli/clients"
	"collie/internal/face/cli/root"
)

// commands holds the methods behind the commands of this package. They share one program.
type commands struct{ *root.Program }

// Command returns the command `collie mcp`.
func Command(shared *root.Program) *cobra.Command {
	p := commands{shared}

	return root.Group("mcp", "Your MCP servers",
		p.listCommand(),
		p.searchCommand(),
		p.addCommand(),
		p.removeCommand(),
		p.renameCommand(),
		p.enableCommand(),
		p.disableCommand(),
		p.doctorCommand(),
		p.restartCommand(),
		p.refreshCommand(),
		p.approveCommand(),
		p.logsCommand(),
		p.validateCommand(),
		clients.ImportCommand(p.Program),
		clients.ExportCommand(p.Program),
		p.trustCommand(),
		p.authCommand(),
		p.logoutCommand(),
	)
}
