package binary_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/test/binary"
)

// TestSourcesAreSeen checks that `go test` learns which folders the programs are built of: it asks a test to list what it
// opens, as `go test` does, and compares that list when it is asked again.
func TestSourcesAreSeen(t *testing.T) {
	binary.DependOnSources(t)
	if os.Getenv("LISTED") != "" {
		return
	}
	list := filepath.Join(t.TempDir(), "opened")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSourcesAreSeen$", "-test.testlogfile="+list)
	cmd.Env = append(os.Environ(), "LISTED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	raw, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	opened := strings.Split(string(raw), "\n")
	for _, dir := range []string{"cmd/collie", "internal/app", "internal/mcp/mcptest/fakemcp", "test/conformance/between"} {
		if path := filepath.Join(binary.Root(t), filepath.FromSlash(dir)); !slices.Contains(opened, "open "+path) {
			t.Errorf("%s is not among the folders that were opened", path)
		}
	}
	if path := filepath.Join(binary.Root(t), "go.mod"); !slices.Contains(opened, "stat "+path) {
		t.Errorf("%s was not looked at", path)
	}
}
