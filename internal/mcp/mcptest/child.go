package mcptest

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// childEnv is the environment variable that makes a test binary run as the server.
const childEnv = "COLLIE_FAKEMCP"

// RunIfChild runs the server and does not return if [Command] or [StartHTTP] started this process. TestMain
// calls it first.
func RunIfChild() {
	if os.Getenv(childEnv) == "1" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// Command returns the command line that runs the current test binary as the server with these flags. env
// holds entries "KEY=value" to add to its environment. The binary's TestMain has to call [RunIfChild]. With
// the race detector, the process still ends without delay.
func Command(tb testing.TB, flags ...string) (path string, args, env []string) {
	tb.Helper()
	path, err := os.Executable()
	if err != nil {
		tb.Fatalf("find the test binary: %v", err)
	}
	return path, flags, []string{childEnv + "=1", "GORACE=atexit_sleep_ms=0"}
}

// StartHTTP runs the server over Streamable HTTP in its own process until the test ends, and returns its URL.
// The binary's TestMain has to call [RunIfChild].
func StartHTTP(tb testing.TB, flags ...string) (url string) {
	tb.Helper()
	path, args, env := Command(tb, append([]string{"--http", "127.0.0.1:0"}, flags...)...)
	cmd := exec.CommandContext(tb.Context(), path, args...)
	cmd.Env = append(os.Environ(), env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	drained := make(chan struct{})
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
	})
	listening := make(chan string, 1)
	go func() {
		defer close(drained)
		defer close(listening)
		// Read to the end, or a full stderr pipe would block the server.
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if u, ok := strings.CutPrefix(lines.Text(), "listening "); ok {
				listening <- u
			}
		}
	}()
	url, ok := <-listening
	if !ok {
		tb.Fatalf("fakemcp %s ended before it listened", strings.Join(args, " "))
	}
	return url
}
