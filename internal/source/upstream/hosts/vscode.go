package hosts

import "strings"

// vsCode describes Visual Studio Code, which keeps the servers of the default profile in a separate file. The file may
// have comments, and "inputs" to which servers refer. Copilot on the command line has its own file, with "mcpServers", the
// transport "local" and a list of tools.
var vsCode = Host{
	Name: "vscode", Title: "Visual Studio Code", Program: "code", Key: "servers",
	After: "Start the server with the command \"MCP: List Servers\".",
	file:  func(s System) string { return s.settings("Code", "User", "mcp.json") },
	places: func(s System) []Place {
		copilot := s.home(".copilot", "mcp-config.json")
		return []Place{userPlace(s.settings("Code", "User", "mcp.json")), userPlace(copilot), s.project(".vscode", "mcp.json")}
	},
	hints:     []string{"/.vscode/", "/code/user/mcp.json", "/.copilot/"},
	isOwnFile: func(d *document) bool { return d.has("servers") },

	vars:  inputBraces,
	types: types{stdio: "stdio", http: "http", sse: "sse"},
	fields: []field{
		{"command", "command", program},
		{"args", "args", texts},
		{"env", "env", dict},
		{"envFile", "envFile", file},
		{"cwd", "cwd", folder},
		{"url", "url", text},
		{"headers", "headers", dict},
		{"oauth.clientId", "auth.clientId", text},
	},
	read: func(r *hostReading) {
		r.ignoreFields("dev", "gallery", "version") // for authors of a server, or about its origin
		if tools, ok := r.strings("tools"); ok && !contains(tools, "*") {
			r.set("tools.include", tools)
		}
		if url, _ := r.peek("url"); strings.HasPrefix(url, "pipe:") {
			r.addNote("url: a named pipe cannot be reached")
		}
	},
	list: func(d *document) []listedServer {
		return append(d.servers("servers"), d.servers("mcpServers")...)
	},
}
