package mcptest_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"collie/internal/mcp/mcptest"
)

// dialog is a child process with pipes to its stdin, stdout and stderr.
type dialog struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *bufio.Reader
}

// dial starts the server with flags; t's cleanup ends it.
func dial(t *testing.T, flags ...string) *dialog {
	t.Helper()
	path, args, env := mcptest.Command(t, flags...)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A test that waits in vain should fail with what it waited for, not with the timeout of the whole run.
	watchdog := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		watchdog.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &dialog{t, cmd, stdin, bufio.NewReader(stdout), bufio.NewReader(stderr)}
}

func (d *dialog) send(line string) {
	d.t.Helper()
	if _, err := io.WriteString(d.stdin, line+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

// line returns the next line of stdout.
func (d *dialog) line() string {
	d.t.Helper()
	return d.read(d.stdout)
}

func (d *dialog) read(r *bufio.Reader) string {
	d.t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		d.t.Fatalf("after %q: %v", line, err)
	}
	return line[:len(line)-1]
}

func (d *dialog) want(line string) {
	d.t.Helper()
	if got := d.line(); got != line {
		d.t.Errorf("stdout line\n%s\nwant\n%s", got, line)
	}
}

func (d *dialog) wantStderr(line string) {
	d.t.Helper()
	if got := d.read(d.stderr); got != line {
		d.t.Errorf("stderr line %q, want %q", got, line)
	}
}

// exit returns the exit code once stdout has ended, -1 for a signal.
func (d *dialog) exit() int {
	d.t.Helper()
	_, _ = io.Copy(io.Discard, d.stdout)
	_ = d.cmd.Wait()
	return d.cmd.ProcessState.ExitCode()
}
