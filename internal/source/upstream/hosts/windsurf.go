package hosts

// windsurf describes Windsurf, which names the URL of a remote server serverUrl, and accepts url as well.
var windsurf = Host{
	Name: "windsurf", Title: "Windsurf", Program: "windsurf", Key: "mcpServers",
	After:     "Refresh the MCP servers in Windsurf's Cascade panel.",
	file:      func(s System) string { return s.home(".codeium", "windsurf", "mcp_config.json") },
	hints:     []string{"/windsurf/", "/mcp_config.json"},
	isOwnFile: func(d *document) bool { return d.anyEntry("mcpServers", "serverUrl") },

	vars: envBraces,
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"serverUrl", "url", text},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"disabled", "disabled", flag},
		{"disabledTools", "tools.exclude", names},
		{"alwaysAllow", "autoApprove", approvals},
	},
}
