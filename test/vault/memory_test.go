//go:build stories && linux

package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"collie/test/binary"
)

// TestLongFile imports and exports a Markdown file of 5 MB, with 60,000 paragraphs and a link in each. Neither may
// take more than 300 MiB of memory.
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
		used := peakMemory(t, append([]string{collie, "--home", filepath.Join(dir, "home")}, args...)...)
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

// peakMemory runs a program and returns its highest resident memory, in KiB. On Linux that figure includes the memory of
// the process that forked it, and the process of the tests is large, so a small process runs the program; see
// runAndMeasure.
func peakMemory(t *testing.T, args ...string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "usage.json")
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), usageFile+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var used syscall.Rusage
	if err := json.Unmarshal(text, &used); err != nil {
		t.Fatal(err)
	}
	return int(used.Maxrss)
}
