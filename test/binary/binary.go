// Package binary builds Collie and the programs that tests run it with, and runs them as a user does, by
// their command lines. It is for tests only.
//
// [Build] builds a program, [Serve] runs `collie serve`, [Everything] runs the server of the official Go SDK
// for which the conformance suites are written. Every started program ends with the test that started it; a
// program that does not end when asked fails that test.
package binary

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Packages of programs that tests give to [Build].
const (
	Collie           = "./cmd/collie"
	EverythingInSDK  = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"
	EverythingClient = "github.com/modelcontextprotocol/go-sdk/conformance/everything-client"
)

// Root returns the root folder of the module.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "layers_test.go")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("not inside the module: found no layers_test.go")
		}
		dir = filepath.Dir(dir)
	}
}

// Build builds a package of the module, or one that tools/go.mod pins, and returns the path of the program.
// For [Collie] the variable COLLIE_BINARY may name an already built program.
func Build(tb testing.TB, pkg string) string {
	tb.Helper()
	DependOnSources(tb)
	if ready := os.Getenv("COLLIE_BINARY"); ready != "" && pkg == Collie {
		return ready
	}
	out := filepath.Join(tb.TempDir(), filepath.Base(pkg))
	if runtime.GOOS == "windows" {
		out += ".exe"
	}
	dir := Root(tb)
	if !strings.HasPrefix(pkg, "./") {
		dir = filepath.Join(dir, "tools")
	}
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v\n%s", pkg, err, msg)
	}
	return out
}

// sourcesRead lets DependOnSources read the folders once a process.
var sourcesRead sync.Once

// DependOnSources makes the result of this test depend on the sources of the programs, and of the tests beside them.
// `go test` keeps results, and takes one again if the files and folders that the test itself opened are as they were; it does
// not see what the programs were built of that a test starts. Of a folder that was read it compares the names, sizes and times
// of what is in it.
func DependOnSources(tb testing.TB) {
	tb.Helper()
	root := Root(tb)
	sourcesRead.Do(func() {
		for _, name := range []string{"go.mod", "tools/go.mod", "cmd", "internal", "third_party", "test"} {
			err := filepath.WalkDir(filepath.Join(root, name), func(_ string, d fs.DirEntry, err error) error {
				switch {
				case errors.Is(err, fs.ErrNotExist): // removed meanwhile, such as what an editor had put there
					return nil
				case err == nil && (d.Name() == "testdata" || d.Name() == "node_modules"):
					return fs.SkipDir
				}
				return err
			})
			if err != nil {
				tb.Fatalf("read the sources: %v", err)
			}
		}
	})
}
