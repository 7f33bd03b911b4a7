package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"collie/internal/face/cli/output"
	"collie/internal/face/cli/root"
)

// Tree returns all commands in English, for what is made of their help: manual pages. Running one of them is not meant.
func Tree(version string) *cobra.Command {
	p := program{&root.Program{Version: version, In: strings.NewReader(""), Output: output.Output{Out: os.Stderr, Err: os.Stderr}}}
	tree := p.tree()
	tree.InitDefaultHelpCmd()
	tree.InitDefaultCompletionCmd()
	return tree
}
