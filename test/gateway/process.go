package gateway

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"collie/test/await"
)

// limit bounds the wait for things that a healthy program does soon.
const limit = await.Limit

// Process is one run of Collie.
type Process struct {
	Programs
	// Home is the value of --home. Stdin and Stdout are for a client of stdio.
	Home   string
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd    *exec.Cmd
	stderr *output
	exited chan struct{}
}

// start runs `collie args…` with --home home until the test ends.
func (p Programs) start(tb testing.TB, home string, args ...string) *Process {
	tb.Helper()
	cmd := exec.Command(p.Collie, append([]string{"--home", home}, args...)...)
	cmd.Env = append(cleanEnv(), p.Env...)
	run := &Process{Programs: p, Home: home, cmd: cmd, stderr: &output{grown: make(chan struct{}, 1)}, exited: make(chan struct{})}
	cmd.Stderr = run.stderr
	cmd.WaitDelay = time.Second // children that outlive Collie may hold its stderr open
	var err error
	if run.Stdin, err = cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	if run.Stdout, err = cmd.StdoutPipe(); err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(run.exited)
		_ = cmd.Wait() // tests look at ExitCode instead
	}()
	tb.Cleanup(func() {
		if run.Alive() {
			run.Signal(syscall.SIGTERM)
			if !run.AwaitExit(15 * time.Second) {
				tb.Errorf("collie %s runs on after SIGTERM", strings.Join(args, " "))
				_ = cmd.Process.Kill()
				<-run.exited
			}
		}
		if tb.Failed() {
			tb.Logf("stderr of collie %s:\n%s", strings.Join(args, " "), run.stderr)
		}
	})
	return run
}

// cleanEnv returns the environment without variables that configure Collie.
func cleanEnv() (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "COLLIE_") && !strings.HasPrefix(v, "SIYUAN_") {
			env = append(env, v)
		}
	}
	return env
}

// PID returns the process id of Collie.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal to Collie alone.
func (p *Process) Signal(sig os.Signal) { _ = p.cmd.Process.Signal(sig) } // it may have ended

// Alive reports whether Collie is running.
func (p *Process) Alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// AwaitExit waits at most d for Collie to end, and reports whether it has.
func (p *Process) AwaitExit(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// ExitCode waits for the end and returns the exit code; -1 after a signal.
func (p *Process) ExitCode() int {
	<-p.exited
	return p.cmd.ProcessState.ExitCode()
}

// Stderr returns what Collie has written to stderr.
func (p *Process) Stderr() string { return p.stderr.String() }

// AwaitStderr waits until stderr matches pattern and returns the match.
func (p *Process) AwaitStderr(tb testing.TB, pattern string) string {
	tb.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(limit)
	for {
		if m := re.FindString(p.Stderr()); m != "" {
			return m
		}
		select {
		case <-p.stderr.grown:
		case <-p.exited:
			if m := re.FindString(p.Stderr()); m != "" {
				return m
			}
			tb.Fatalf("collie ended (%v) without saying %s:\n%s", p.cmd.ProcessState, pattern, p.Stderr())
		case <-deadline:
			tb.Fatalf("collie did not say %s within %v:\n%s", pattern, limit, p.Stderr())
		}
	}
}

// Run runs `collie args…` until it ends.
func (p Programs) Run(tb testing.TB, home string, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	return p.RunOn(tb, home, nil, args...)
}

// RunOn is Run with an input, nil for none.
func (p Programs) RunOn(tb testing.TB, home string, stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Collie, append([]string{"--home", home}, args...)...)
	cmd.Env = append(cleanEnv(), p.Env...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		tb.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// output collects the output of a program.
type output struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	grown chan struct{}
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.buf.Write(p)
	o.mu.Unlock()
	select {
	case o.grown <- struct{}{}:
	default:
	}
	return len(p), nil
}

// String returns all output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
