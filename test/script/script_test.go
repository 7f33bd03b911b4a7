package script

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"collie/test/binary"
)

var update = flag.Bool("update", false, "rewrite what cmp compares with in the scripts")

// TestScripts runs every script in testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	programs := []string{binary.Build(t, binary.Collie), binary.Build(t, "./internal/mcp/mcptest/fakemcp")}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(binary.Root(t), "testdata", "script"),
		Setup:               setUp(programs),
		Cmds:                commands(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
