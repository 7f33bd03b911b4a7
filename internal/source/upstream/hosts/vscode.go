package hosts

// vsCode keeps the servers of the default profile in a file of their own. The file may have
// comments and "inputs" that the servers refer to.
var vsCode = Host{
	Name: "vscode", Title: "Visual Studio Code", Key: "servers", Typed: true,
	After: "Start the server with the command \"MCP: List Servers\".",
	file:  func(s System) string { return s.settings("Code", "User", "mcp.json") },
}
