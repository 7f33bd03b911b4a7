package script

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"collie/internal/source/upstream/registry/registrytest"
)

// registryCommand returns the command "registry FILE…", which starts an MCP registry with these servers that ends with tb,
// and sets REGISTRY to its address.
func registryCommand(tb testing.TB) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: registry FILE…")
		}
		var servers []string
		for _, file := range args {
			servers = append(servers, ts.ReadFile(file))
		}
		ts.Setenv("REGISTRY", registrytest.Serve(tb, servers...))
	}
}
