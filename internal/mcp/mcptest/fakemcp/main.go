// Fakemcp is the MCP server of Collie's tests as a separate program, for benchmarks and for stories that need
// a path to a binary. See package mcptest for its flags and tools.
package main

import (
	"os"

	"collie/internal/mcp/mcptest"
)

func main() {
	os.Exit(mcptest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
