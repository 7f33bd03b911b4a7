package gateway

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"collie/test/binary"
)

// built is the folder with the programs. BuildAndRun sets it before any test runs.
var built string

// BuildAndRun builds the programs, runs the tests and returns their exit code. The variable COLLIE_BINARY may name
// an already built Collie.
func BuildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "collie-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	built = dir
	if err := buildPrograms(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func buildPrograms(dir string) error {
	packages := []string{"collie/internal/mcp/mcptest/fakemcp", "collie/cmd/collie"}
	if ready := os.Getenv("COLLIE_BINARY"); ready != "" {
		if err := linkOrCopy(ready, filepath.Join(dir, "collie"+suffix)); err != nil {
			return err
		}
		packages = packages[:1]
	}
	for _, pkg := range packages {
		cmd := exec.CommandContext(context.Background(), "go", "build", "-o", dir+string(filepath.Separator), pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// suffix is the file extension of programs.
var suffix = map[string]string{"windows": ".exe"}[runtime.GOOS]

// Programs are Collie and fakemcp at paths that no other test uses, so that their processes can be
// recognized.
type Programs struct {
	Collie, Fake string
	Env          []string // variables that are added to those of the test, as NAME=VALUE
	dir          string
}

// LinkPrograms makes Programs for one test: hard links to the built programs, or copies, in a folder of its own.
func LinkPrograms(tb testing.TB) Programs {
	tb.Helper()
	binary.DependOnSources(tb)
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	p := Programs{Collie: filepath.Join(dir, "collie"+suffix), Fake: filepath.Join(dir, "fakemcp"+suffix), dir: dir}
	for _, path := range []string{p.Collie, p.Fake} {
		if err := linkOrCopy(filepath.Join(built, filepath.Base(path)), path); err != nil {
			tb.Fatalf("place %s; does TestMain call gateway.BuildAndRun? %v", path, err)
		}
	}
	return p
}

// linkOrCopy links or copies a program.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o700)
}

// Running returns the running processes of these programs, as "pid command line".
func (p Programs) Running(tb testing.TB) []string {
	tb.Helper()
	all, err := process.Processes()
	if err != nil {
		tb.Errorf("list processes: %v", err)
		return nil
	}
	var out []string
	for _, proc := range all {
		if line, err := proc.Cmdline(); err == nil && strings.HasPrefix(line, p.dir) {
			out = append(out, fmt.Sprint(proc.Pid, " ", strings.TrimPrefix(line, p.dir)))
		}
	}
	return out
}

// AwaitNone waits until none of the programs is running and returns how long that took. After limit it fails
// the test and kills the rest.
func (p Programs) AwaitNone(tb testing.TB, limit time.Duration) time.Duration {
	tb.Helper()
	begin, tick := time.Now(), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		left := p.Running(tb)
		if len(left) == 0 {
			return time.Since(begin)
		}
		if time.Since(begin) > limit {
			tb.Errorf("still running after %v: %s", limit, strings.Join(left, "; "))
			p.killAll(tb)
			return limit
		}
	}
}

// killAll kills the remaining processes of these programs.
func (p Programs) killAll(tb testing.TB) {
	tb.Helper()
	for _, line := range p.Running(tb) {
		var pid int
		if _, err := fmt.Sscan(line, &pid); err != nil {
			continue
		}
		if proc, err := os.FindProcess(pid); err == nil {
			_ = proc.Kill()
		}
	}
}
