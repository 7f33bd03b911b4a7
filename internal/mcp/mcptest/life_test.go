//go:build unix

package mcptest_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"collie/internal/mcp/mcptest"
)

func TestExit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		flags  []string
		stderr string
		code   int
	}{
		{name: "usage", flags: []string{"--no-such-flag"}, stderr: "flag provided but not defined", code: 2},
		{name: "era", flags: []string{"--era", "stone"}, stderr: "unknown era", code: 2},
		{name: "argument", flags: []string{"x"}, stderr: "unexpected argument", code: 2},
		{name: "code", flags: []string{"--exit-code", "7"}, code: 7},
		{name: "code_zero", flags: []string{"--exit-code", "0"}},
		{name: "message", flags: []string{"--print-stderr", "no docker"}, stderr: "no docker\n", code: 1},
		{name: "message_and_code", flags: []string{"--print-stderr", "no docker", "--exit-code", "9"}, stderr: "no docker\n", code: 9},
		{name: "file", flags: []string{"--result-file", "no/such/file"}, stderr: "no such file", code: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := runServer(t, c.flags, initializeRequest)
			if code != c.code || stdout != "" || !strings.Contains(stderr, c.stderr) {
				t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		code       int
	}{
		{name: "code", args: `{"code":5}`, code: 5},
		{name: "signal", args: `{"kill":true}`, code: -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := startChild(t)
			d.send(initializeRequest)
			d.nextLine()
			d.send(toolCall("1", "crash", c.args))
			if code := d.waitExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
		})
	}
}

func TestCrashAfter(t *testing.T) {
	t.Parallel()
	d := startChild(t, "--crash-after", "2")
	d.send(initializeRequest)
	d.nextLine()
	for _, id := range []string{"1", "2"} {
		d.send(toolCall(id, "echo", `{"text":"x"}`))
		d.nextLine()
	}
	d.send(toolCall("3", "echo", `{"text":"x"}`))
	if rest, err := io.ReadAll(d.stdout); err != nil || len(rest) > 0 {
		t.Errorf("call 3 got %q, %v", rest, err)
	}
	if code := d.waitExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestEndOfInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := startChild(t, "--pidfile", dir)
	d.send(initializeRequest)
	d.nextLine()
	if _, err := os.Stat(filepath.Join(dir, strconv.Itoa(d.cmd.Process.Pid))); err != nil {
		t.Error(err)
	}
	d.stdin.Close()
	if code := d.waitExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTerm(t *testing.T) {
	t.Parallel()
	d := startChild(t)
	d.send(initializeRequest)
	d.nextLine()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := d.waitExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
	}
}

// With the two --ignore flags the process survives SIGTERM and the end of stdin.
func TestIgnores(t *testing.T) {
	t.Parallel()
	d := startChild(t, "--ignore-eof", "--ignore-term")
	d.send(initializeRequest)
	d.nextLine()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.send(toolCall("1", "echo", `{"text":"x"}`))
	d.nextLine()
	d.stdin.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = d.stdout.ReadByte()
	}()
	select {
	case <-gone:
		t.Error("the server ended with stdin")
	case <-time.After(200 * time.Millisecond):
	}
	_ = d.cmd.Process.Kill()
	<-gone
}

func TestFork(t *testing.T) {
	t.Parallel()
	d := startChild(t, "--fork")
	text, ok := strings.CutPrefix(d.readLine(d.stderr), "grandchild ")
	pid, err := strconv.Atoi(text)
	if !ok || err != nil {
		t.Fatalf("no pid of the grandchild: %q", text)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	d.send(initializeRequest)
	d.nextLine()
	d.stdin.Close()
	state, err := d.cmd.Process.Wait()
	if err != nil || state.ExitCode() != 0 {
		t.Fatalf("the server ended with %v, %v", state, err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the grandchild ended with its parent: %v", err)
	}
}

func TestBannerAndDelay(t *testing.T) {
	t.Parallel()
	start := time.Now()
	stdout, _, _ := runServer(t, []string{"--banner", "Welcome!", "--delay-start", "50ms"}, initializeRequest)
	if !strings.HasPrefix(stdout, "Welcome!\n{") {
		t.Errorf("stdout %q", stdout)
	}
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("answered after %v", took)
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "record")
	lines := []string{initializeRequest, "", "no JSON\r", `{ "jsonrpc" : "2.0", "n": 1.0 }`}
	runServer(t, []string{"--record", name}, lines...)
	got, err := os.ReadFile(name)
	if err != nil || string(got) != strings.Join(lines, "\n")+"\n" {
		t.Errorf("recorded %q, %v", got, err)
	}
}

func TestStderrFlood(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	in, w := io.Pipe()
	done := make(chan int)
	lines := &reportingWriter{to: &out, got: make(chan struct{}, 9)}
	go func() { done <- mcptest.Main(nil, in, lines, &errs) }()
	_, _ = io.WriteString(w, initializeRequest+"\n"+toolCall("1", "stderr", `{"bytes":123456}`)+"\n")
	<-lines.got
	<-lines.got
	w.Close()
	<-done
	if errs.Len() != 123456 || !strings.HasSuffix(errs.String(), "e\n") {
		t.Errorf("%d bytes on stderr", errs.Len())
	}
}

// reportingWriter reports every write.
type reportingWriter struct {
	to  io.Writer
	got chan struct{}
}

func (w *reportingWriter) Write(b []byte) (int, error) {
	defer func() { w.got <- struct{}{} }()
	return w.to.Write(b)
}

func TestBuild(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	path := mcptest.Build(t)
	if again := mcptest.Build(t); again != path {
		t.Errorf("built twice: %s and %s", path, again)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
