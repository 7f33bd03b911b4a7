// Fakemcp is the odd MCP server of Collie's tests as a program of its own, for benchmarks
// and for stories that need a path to a binary. See package mcptest for what it can do.
package main

import (
	"os"

	"collie/internal/mcp/mcptest"
)

func main() {
	os.Exit(mcptest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
