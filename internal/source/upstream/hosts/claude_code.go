package hosts

// claudeCode keeps the servers of all projects beside much else in one file. A project's own
// .mcp.json is for what a team shares and is left alone.
var claudeCode = Host{
	Name: "claude-code", Title: "Claude Code", Key: "mcpServers", Typed: true,
	After: "Start a new session of Claude Code.",
	file: func(s System) string {
		if dir := s.env("CLAUDE_CONFIG_DIR"); dir != "" {
			return below(dir, []string{".claude.json"})
		}
		return s.home(".claude.json")
	},
}
