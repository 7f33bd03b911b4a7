//go:build unix

package audit_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"collie/internal/pipeline/audit"
)

// A chain that begins while the log is verified may be in the anchor already. It is not missing, and not unnamed either.
func TestVerifyWhileAChainBegins(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		dir, anchor, _ := writeAnchoredChains(t)
		lines, err := os.ReadFile(anchor)
		if err != nil {
			t.Fatal(err)
		}
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
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // until Verify reads it
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
