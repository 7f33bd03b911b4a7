package hosts

// cursor describes Cursor, which reads a project's .cursor/mcp.json before the user's file and finds the transport of a
// URL by trying.
var cursor = Host{
	Name: "cursor", Title: "Cursor", Program: "cursor", Key: "mcpServers",
	After: "Switch the server on in Cursor's settings, under MCP.",
	file:  func(s System) string { return s.home(".cursor", "mcp.json") },
	places: func(s System) []Place {
		return []Place{userPlace(s.home(".cursor", "mcp.json")), s.project(".cursor", "mcp.json")}
	},
	hints: []string{"/.cursor/"},
	isOwnFile: func(d *document) bool {
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
