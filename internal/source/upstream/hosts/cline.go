package hosts

// cline describes Cline, which counts timeouts in seconds and takes a URL without a type for an SSE server.
var cline = Host{
	Name: "cline", Title: "Cline", Key: "mcpServers",
	After: "Open the MCP servers in Cline; the new one is listed under Installed.",
	file:  func(s System) string { return s.extension("saoudrizwan.claude-dev", "cline_mcp_settings.json") },
	places: func(s System) []Place {
		return []Place{
			userPlace(s.extension("saoudrizwan.claude-dev", "cline_mcp_settings.json")),
			userPlace(s.home(".cline", "data", "settings", "cline_mcp_settings.json")),
		}
	},
	hints: []string{"/cline_mcp_settings.json", "/saoudrizwan.claude-dev/"},
	isOwnFile: func(d *document) bool {
		return d.anyEntry("mcpServers", "autoApprove") || d.mentions(`"streamableHttp"`)
	},

	vars:  envBraces,
	types: types{stdio: "stdio", http: "streamableHttp", sse: "sse", untyped: "sse"},
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"cwd", "cwd", folder},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"disabled", "disabled", flag},
		{"autoApprove", "autoApprove", approvals},
		{"timeout", "toolTimeout", seconds},
	},
}
