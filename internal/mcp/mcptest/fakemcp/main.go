// Fakemcp is the MCP server of Collie's tests as a separate program, for benchmarks and for tests that need the
// path of a binary. See package mcptest for its flags and tools.
package main

import (
	"os"

	"collie/internal/mcp/mcptest"
)

func main() {
	os.Exit(mcptest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
