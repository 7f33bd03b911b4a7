package hosts

// cursor reads the user's file and, before it, a project's .cursor/mcp.json.
var cursor = Host{
	Name: "cursor", Title: "Cursor", Key: "mcpServers",
	After: "Switch the server on in Cursor's settings, under MCP.",
	file:  func(s System) string { return s.home(".cursor", "mcp.json") },
}
