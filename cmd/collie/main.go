// Command collie stands between those who call tools and the tools they call.
package main

import (
	"os"

	"collie/internal/face/cli"
	"collie/internal/process"
)

// version is set by the build.
var version = "dev"

func main() {
	if process.IsReaper(os.Args) { // it lives as long as the gateway does, and needs nothing of all else
		os.Exit(process.ReaperMain(os.Stdin))
	}
	os.Exit(cli.Main(version, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
