// Command collie stands between those who call tools and the tools they call.
package main

import (
	"os"

	"collie/internal/face/cli"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(cli.Main(version, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
