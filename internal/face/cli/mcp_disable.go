package cli

import "github.com/spf13/cobra"

func (p *program) mcpDisableCommand() *cobra.Command {
	return &cobra.Command{
		Use: "disable NAME…", Short: "Switch servers off, and keep them in the settings", Args: someServers,
		Long: "Switches servers off, in the file that defines them; comments in it stay. Their tools are\n" +
			"no longer offered. \"collie mcp enable\" switches them on again.",
		ValidArgsFunction: p.completeServers,
		RunE:              func(c *cobra.Command, args []string) error { return p.mcpSwitch(c.Context(), args, false) },
	}
}
