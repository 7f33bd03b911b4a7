package acceptance_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"collie/test/await"
)

// TestInterrupted sends SIGINT, as Ctrl-C does: an unfinished command has exit code 130, the convention of shells, and a
// gateway shuts down cleanly and says so.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ready := filepath.Join(t.TempDir(), "ready")
	settings := filepath.Join(t.TempDir(), "collie.json")
	if err := os.WriteFile(settings, []byte(`{"mcpServers":{"hangs":{"command":"sh","args":["-c","echo >`+ready+`; exec sleep 600"],"startTimeout":"10m"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, says string
		args       []string
		code       int
		begun      func(errs string) bool
	}{
		{name: "a command", args: []string{"--config", settings, "mcp", "doctor", "hangs"}, code: 130, begun: func(string) bool {
			_, err := os.Stat(ready)
			return err == nil
		}},
		{name: "the gateway", says: "collie: stopped\n", args: []string{"--config", w.settings, "serve", "--http", "127.0.0.1:0"}, begun: func(errs string) bool {
			return strings.Contains(errs, "listening on")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			cmd := exec.CommandContext(t.Context(), w.Collie, append([]string{"--home", home}, tt.args...)...)
			cmd.Env = append(os.Environ(), "HOME="+home)
			var errs lockedBuffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "the start", func() bool { return tt.begun(errs.String()) })
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code is checked below
			if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.HasSuffix(errs.String(), tt.says) {
				t.Errorf("exit code %d, want %d; it said %s, want %q at its end", code, tt.code, errs.String(), tt.says)
			}
		})
	}
}

// lockedBuffer is a buffer that may be read while a program writes to it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
