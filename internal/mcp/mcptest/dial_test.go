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

// childServer is a child process with pipes to its stdin, stdout and stderr.
type childServer struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *bufio.Reader
}

// startChild starts the server with flags; t's cleanup ends it.
func startChild(t *testing.T, flags ...string) *childServer {
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
	return &childServer{t, cmd, stdin, bufio.NewReader(stdout), bufio.NewReader(stderr)}
}

func (d *childServer) send(line string) {
	d.t.Helper()
	if _, err := io.WriteString(d.stdin, line+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

// nextLine returns the next line of stdout.
func (d *childServer) nextLine() string {
	d.t.Helper()
	return d.readLine(d.stdout)
}

// readLine returns the next line of r, which is stdout or stderr.
func (d *childServer) readLine(r *bufio.Reader) string {
	d.t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		d.t.Fatalf("after %q: %v", line, err)
	}
	return line[:len(line)-1]
}

// wantLine fails unless the next line of stdout is line.
func (d *childServer) wantLine(line string) {
	d.t.Helper()
	if got := d.nextLine(); got != line {
		d.t.Errorf("stdout line\n%s\nwant\n%s", got, line)
	}
}

// wantStderr fails unless the next line of stderr is line.
func (d *childServer) wantStderr(line string) {
	d.t.Helper()
	if got := d.readLine(d.stderr); got != line {
		d.t.Errorf("stderr line %q, want %q", got, line)
	}
}

// waitExitCode reads stdout to its end and returns the exit code, -1 for a signal.
func (d *childServer) waitExitCode() int {
	d.t.Helper()
	_, _ = io.Copy(io.Discard, d.stdout)
	_ = d.cmd.Wait()
	return d.cmd.ProcessState.ExitCode()
}
