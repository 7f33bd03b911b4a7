package mcptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// built is the binary that running tests share.
var built struct {
	sync.Mutex
	users int
	dir   string
}

// Build returns the path of the server as a binary of its own, which starts faster and is smaller than a test
// binary. Tests that run at the same time share it; it is removed when the last of them ends.
func Build(tb testing.TB) string {
	tb.Helper()
	built.Lock()
	defer built.Unlock()
	if built.users == 0 {
		dir, err := os.MkdirTemp("", "fakemcp-") //nolint:usetesting // it outlives the first test that uses it
		if err != nil {
			tb.Fatal(err)
		}
		if out, err := goBuild(binaryPath(dir)); err != nil {
			os.RemoveAll(dir)
			tb.Fatalf("build fakemcp: %v\n%s", err, out)
		}
		built.dir = dir
	}
	built.users++
	tb.Cleanup(releaseBuilt)
	return binaryPath(built.dir)
}

func goBuild(path string) ([]byte, error) {
	cmd := exec.Command("go", "build", "-o", path, "collie/internal/mcp/mcptest/fakemcp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as Collie itself is built, so that packages used by both are compiled once
	return cmd.CombinedOutput()
}

// releaseBuilt removes the binary if no other test uses it.
func releaseBuilt() {
	built.Lock()
	defer built.Unlock()
	if built.users--; built.users == 0 {
		os.RemoveAll(built.dir)
	}
}

func binaryPath(dir string) string {
	name := "fakemcp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}
