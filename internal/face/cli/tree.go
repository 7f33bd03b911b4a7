package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// Tree returns the tree of all commands, for tests and for the program that generates manual pages. Its commands are
// not meant to be run.
func Tree(version string) *cobra.Command {
	p := program{&root.Program{Version: version, In: strings.NewReader(""), Output: output.Output{Out: os.Stderr, Err: os.Stderr}}}
	tree := p.tree()
	tree.InitDefaultHelpCmd()
	tree.InitDefaultCompletionCmd()
	return tree
}
