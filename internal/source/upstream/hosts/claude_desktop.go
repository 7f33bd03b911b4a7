package hosts

// claudeDesktop describes Claude Desktop, which reads standard JSON, supports only stdio servers, and does not expand
// variables.
var claudeDesktop = Host{
	Name: "claude-desktop", Title: "Claude Desktop", Key: "mcpServers",
	After: "Quit Claude Desktop and start it again.",
	file:  func(s System) string { return s.settings("Claude", "claude_desktop_config.json") },
	hints: []string{"/claude_desktop_config.json"},

	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
	},
	refusalReason: func(e Entry) string {
		if e.Transport() != "stdio" {
			return "it starts programs only; give it the gateway instead"
		}
		return ""
	},
}
