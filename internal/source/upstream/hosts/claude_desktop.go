package hosts

// claudeDesktop reads standard JSON and knows stdio servers only.
var claudeDesktop = Host{
	Name: "claude-desktop", Title: "Claude Desktop", Key: "mcpServers",
	After: "Quit Claude Desktop and start it again.",
	file:  func(s System) string { return s.settings("Claude", "claude_desktop_config.json") },
}
