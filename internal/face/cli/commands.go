package cli

import (
	"encoding/json"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/audit"
	"collie/internal/face/cli/cache"
	"collie/internal/face/cli/call"
	"collie/internal/face/cli/chat"
	"collie/internal/face/cli/clients"
	"collie/internal/face/cli/conversation"
	"collie/internal/face/cli/gateway"
	"collie/internal/face/cli/locale"
	"collie/internal/face/cli/mcp"
	"collie/internal/face/cli/notes"
	"collie/internal/face/cli/providers"
	"collie/internal/face/cli/settings"
)

// This file lists all commands, and lets people write `collie TOOL ACTION` without the word call.

// commands returns all commands, as the help groups them.
func (p program) commands() []*cobra.Command {
	return slices.Concat(
		under("Gateway:",
			gateway.ServeCommand(p.Program),
			gateway.StdioCommand(p.Program),
			gateway.OpenCommand(p.Program),
			clients.ConnectCommand(p.Program),
			gateway.ServiceCommand(p.Program),
			settings.TokenCommand(p.Program),
			gateway.DoctorCommand(p.Program),
		),
		under("MCP servers and tools:",
			mcp.Command(p.Program),
			call.ToolsCommand(p.Program),
			call.Command(p.Program),
			cache.Command(p.Program),
		),
		under("Notes:",
			notes.SiYuanCommand(p.Program),
			notes.VaultCommand(p.Program),
		),
		under("Models and conversations:",
			chat.Command(p.Program),
			conversation.AgentCommand(p.Program),
			conversation.SessionsCommand(p.Program),
			providers.ProviderCommand(p.Program),
			providers.KeysCommand(p.Program),
			conversation.UsageCommand(p.Program),
			conversation.StoreCommand(p.Program),
		),
		under("Safety:",
			call.ConfirmCommand(p.Program),
			settings.GuardCommand(p.Program),
			settings.GrantsCommand(p.Program),
			audit.Command(p.Program),
		),
		under("Settings, backups and help:",
			settings.ConfigCommand(p.Program),
			settings.SecretCommand(p.Program),
			gateway.BackupCommand(p.Program),
			gateway.RestoreCommand(p.Program),
			p.versionCommand(),
		),
	)
}

// under puts commands under a title in the help.
func under(title string, commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.GroupID = title
	}
	return commands
}

// tree returns the whole command tree.
func (p program) tree() *cobra.Command {
	root := p.Root(p.commands()...)
	root.ValidArgsFunction = call.CompleteTools(p.Program)
	return root
}

// expand turns "collie TOOL ACTION …" into "collie call TOOL ACTION …" if TOOL is not a command.
func (p program) expand(root *cobra.Command, args []string) []string {
	known := []string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}
	var visible []string
	for _, c := range root.Commands() {
		known = append(append(known, c.Name()), c.Aliases...)
		if !c.Hidden {
			visible = append(visible, c.Name())
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
			p.Expanded, p.CommandNames = true, visible
			return append([]string{"call"}, args...)
		}
		name, _, inline := strings.Cut(strings.TrimPrefix(token, "--"), "=")
		f := call.Flag(name) // includes the flags of the root command
		if f == nil || !strings.HasPrefix(token, "--") {
			return args
		}
		if !inline && f.Value.Type() != "bool" {
			i++
		}
	}
	return args
}

// expandCompletion is like expand for shell completion. The words typed so far follow the name of the hidden
// command, and the last one is incomplete.
func (p program) expandCompletion(root *cobra.Command, args []string) []string {
	if len(args) < 3 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return args
	}
	typed := args[len(args)-1]
	words := p.expand(root, args[1:len(args)-1])
	return append(append([]string{args[0]}, words...), typed)
}

func (p program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if p.JSON {
				return json.NewEncoder(p.Out).Encode(map[string]string{
					"version": p.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := locale.Fprintf(p.Out, "collie %s (%s, %s/%s)\n", p.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
