package hosts

// roo describes Roo Code, which counts timeouts in seconds and reads a project's .roo/mcp.json before the user's file.
var roo = Host{
	Name: "roo", Title: "Roo Code", Key: "mcpServers",
	After: "Open the MCP servers in Roo Code; the new one is listed there.",
	file:  func(s System) string { return s.extension("rooveterinaryinc.roo-cline", "mcp_settings.json") },
	places: func(s System) []Place {
		return []Place{userPlace(s.extension("rooveterinaryinc.roo-cline", "mcp_settings.json")), s.project(".roo", "mcp.json")}
	},
	hints:     []string{"/rooveterinaryinc.roo-cline/", "/.roo/"},
	isOwnFile: func(d *document) bool { return d.anyEntry("mcpServers", "alwaysAllow") },

	vars:   envBraces,
	types:  types{stdio: "stdio", http: "streamable-http", sse: "sse"},
	fields: rooFields,
}

// rooFields are the fields of an entry of Roo Code. Kilo Code has the same.
var rooFields = []field{
	{"command", "command", program},
	{"args", "args", texts},
	{"env", "env", dict},
	{"cwd", "cwd", folder},
	{"url", "url", text},
	{"headers", "headers", dict},
	{"disabled", "disabled", flag},
	{"alwaysAllow", "autoApprove", approvals},
	{"disabledTools", "tools.exclude", names},
	{"timeout", "toolTimeout", seconds},
}
