package binary

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"collie/test/await"
)

const (
	startLimit = 3 * time.Minute // package runners may fetch what they run
	stopLimit  = 3 * time.Minute
)

// Serve runs `collie serve` with the config file, on a free port of 127.0.0.1, without a token and in a new
// home. It returns the URL of the MCP endpoint once all servers have started. args are further arguments of
// serve.
func Serve(tb testing.TB, collie, config string, args ...string) string {
	tb.Helper()
	home := tb.TempDir()
	args = append([]string{"serve", "--home", home, "--config", config, "--http", "127.0.0.1:0", "--no-auth"}, args...)
	stderr := startUntilReady(tb, exec.CommandContext(tb.Context(), collie, args...), readyLine)
	return stderr.match
}

// readyLine matches the line that `collie serve` writes to stderr once all servers have started; its group is
// the endpoint. Other lines may contain other URLs.
var readyLine = regexp.MustCompile(`ready: .* (https?://127\.0\.0\.1:\d+/mcp)`)

// lastGroup is the last group of a match, or all of it if there is none; empty without a match.
func lastGroup(groups [][]byte) string {
	if len(groups) == 0 {
		return ""
	}
	return string(groups[len(groups)-1])
}

// Everything runs the everything-server of the Go SDK on a free port of 127.0.0.1 and
// returns its URL. Its flag -stateless, true by default, chooses the era over HTTP.
func Everything(tb testing.TB, program string, stateless bool) string {
	tb.Helper()
	addr := freeAddr(tb)
	args := []string{"-http", addr}
	if !stateless {
		args = append(args, "-stateless=false")
	}
	startUntilReady(tb, exec.CommandContext(tb.Context(), program, args...), regexp.MustCompile(`listening at`))
	awaitListening(tb, addr)
	return "http://" + addr + "/"
}

// startUntilReady starts cmd and waits until its stderr has matched ready. When the test ends it is
// asked to stop, and killed if it does not.
func startUntilReady(tb testing.TB, cmd *exec.Cmd, ready *regexp.Regexp) *matchingOutput {
	tb.Helper()
	stderr := &matchingOutput{ready: ready, found: make(chan struct{})}
	cmd.Stderr = stderr
	cmd.Env = cleanEnv()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopLimit
	if err := cmd.Start(); err != nil {
		tb.Fatalf("start %s: %v", cmd.Path, err)
	}
	name, exited := filepath.Base(cmd.Path), make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // ended by a signal: every outcome is fine but one that comes too late
	}()
	tb.Cleanup(func() { // the test's context has just been cancelled
		asked := time.Now()
		<-exited
		if took := time.Since(asked); took >= stopLimit {
			tb.Errorf("%s had to be killed: it still ran %v after SIGTERM", name, stopLimit)
		}
		if tb.Failed() {
			tb.Logf("stderr of %s:\n%s", name, stderr)
		}
	})
	select {
	case <-stderr.found:
	case <-exited:
		tb.Fatalf("%s ended before it was ready", name)
	case <-time.After(startLimit):
		tb.Fatalf("%s was not ready within %v", name, startLimit)
	}
	return stderr
}

// matchingOutput keeps the output of a program, and signals when a pattern first appears in it.
type matchingOutput struct {
	ready *regexp.Regexp
	found chan struct{}
	match string // set before found is closed

	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements [io.Writer].
func (w *matchingOutput) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	end := bytes.LastIndexByte(w.buf.Bytes(), '\n') + 1 // whole lines only
	if w.match == "" {
		if w.match = lastGroup(w.ready.FindSubmatch(w.buf.Bytes()[:end])); w.match != "" {
			close(w.found)
		}
	}
	return len(p), nil
}

// String returns the last 16 KiB written.
func (w *matchingOutput) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.buf.Bytes()
	return string(b[max(0, len(b)-16<<10):])
}

// cleanEnv is the environment without anything that could set up Collie.
func cleanEnv() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COLLIE_") && !strings.HasPrefix(v, "SIYUAN_") {
			env = append(env, v)
		}
	}
	return env
}

// freeAddr returns an address that nobody listened on a moment ago, for programs that
// cannot choose a port and tell it.
func freeAddr(tb testing.TB) string {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// awaitListening returns once somebody listens on addr.
func awaitListening(tb testing.TB, addr string) {
	tb.Helper()
	await.Until(tb, "somebody listens on "+addr, func() bool {
		conn, err := new(net.Dialer).DialContext(tb.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}
