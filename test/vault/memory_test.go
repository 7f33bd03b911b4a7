//go:build stories && linux

package vault

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"collie/test/binary"
)

// TestLongFile: a Markdown file of 5 MB, 60,000 paragraphs with a link each, goes in and out within the memory that is
// promised.
func TestLongFile(t *testing.T) {
	t.Parallel()
	const most = 300 << 10 // KiB
	collie := binary.Build(t, "./cmd/collie")
	dir := t.TempDir()
	var text bytes.Buffer
	for i := range 60_000 {
		fmt.Fprintf(&text, "Paragraph %d with [a link](https://example.com/%d) and some words that somebody wrote.\n\n", i, i)
	}
	notes := filepath.Join(dir, "Notes")
	if err := os.Mkdir(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(notes, "long.md"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"vault", "import", notes}, {"vault", "export", filepath.Join(dir, "out")}} {
		cmd := exec.Command(collie, append([]string{"--home", filepath.Join(dir, "home")}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
		t.Logf("%s: %d MiB", args[1], used>>10)
		if used > most {
			t.Errorf("%s took %d MiB of memory", args[1], used>>10)
		}
	}
	written, err := os.ReadFile(filepath.Join(dir, "out", "Notes", "long.md"))
	if err != nil || bytes.Count(written, []byte("](https://example.com/")) != 60_000 {
		t.Errorf("of 60,000 links %d came back: %v", bytes.Count(written, []byte("](https://example.com/")), err)
	}
}
