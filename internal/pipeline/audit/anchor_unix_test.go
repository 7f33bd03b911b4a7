//go:build unix

package audit_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"collie/internal/pipeline/audit"
)

// A chain that begins while Verify runs may be in the anchor, a list of chains kept outside the folder, or not: that depends on
// when Verify reads it. In both cases the chain is neither missing nor unnamed.
func TestVerifyWhileAChainBegins(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		dir, anchor, _ := writeAnchoredChains(t)
		lines, err := os.ReadFile(anchor)
		if err != nil {
			t.Fatal(err)
		}
		// Verify reads the anchor from a pipe, so that the test can write a chain while it waits.
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		type result struct {
			report audit.Report
			err    error
		}
		done := make(chan result, 1)
		go func() {
			r, err := audit.Verify(t.Context(), dir, pipe)
			done <- result{r, err}
		}()
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // blocks until Verify, which has listed the chains, opens the anchor
		if err != nil {
			t.Fatal(err)
		}
		writeChain(t, dir, 10, &audit.Options{Anchor: anchor})
		if named {
			if lines, err = os.ReadFile(anchor); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Write(lines); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if r := <-done; r.err != nil || !r.report.OK() || r.report.Anchor.Unnamed != 0 {
			t.Errorf("in the anchor %t: %v, %+v", named, r.err, r.report)
		}
	}
}
