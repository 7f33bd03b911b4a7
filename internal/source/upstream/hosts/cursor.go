package hosts

// cursor reads the user's file and, before it, a project's .cursor/mcp.json. It finds out itself
// which transport a URL speaks.
var cursor = Host{
	Name: "cursor", Title: "Cursor", Program: "cursor", Key: "mcpServers",
	After: "Switch the server on in Cursor's settings, under MCP.",
	file:  func(s System) string { return s.home(".cursor", "mcp.json") },
	places: func(s System) []Place {
		return []Place{own(s.home(".cursor", "mcp.json")), s.project(".cursor", "mcp.json")}
	},
	hints: []string{"/.cursor/"},
	fits: func(d *document) bool {
		return d.anyEntry("mcpServers", "envFile", "auth") || d.mentions("${env:")
	},

	vars: envBraces,
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"envFile", "envFile", file},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"auth.CLIENT_ID", "auth.clientId", text},
		{"auth.CLIENT_SECRET", "auth.clientSecret", text},
		{"auth.scopes", "auth.scopes", names},
	},
}
