// Command collie is a gateway between those who call tools (MCP clients, language models in conversations, people at a
// terminal) and the tools they call: those of MCP servers, and its own for notes in SiYuan. Every call takes one pipeline,
// which checks and records it and asks a person where harm is possible. docs/architecture.md has the map of the parts.
package main

import (
	"os"

	"collie/internal/face/cli"
	"collie/internal/process"
)

// version is set by the build.
var version = "dev"

func main() {
	if process.IsReaper(os.Args) { // the reaper lives as long as its gateway and loads nothing else, to stay small
		os.Exit(process.ReaperMain(os.Stdin))
	}
	os.Exit(cli.Main(version, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
