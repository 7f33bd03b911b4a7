//go:build unix

package library_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"collie/internal/agent/library"
)

func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, "agents/good.md", "---\ndescription: x\n---\n")
	if err := unix.Mkfifo(filepath.Join(dir, "agents", "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "agents", "folder.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := library.Read(library.Places{Config: dir})
	if len(l.Agents) != 1 || strings.Count(problemLines(l, dir), "it is not a plain file") != 2 {
		t.Errorf("%+v", l)
	}
}
