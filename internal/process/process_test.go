//go:build unix

package process_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"collie/internal/process"
	"collie/test/await"
)

// Stop closes the child's stdin, then sends SIGTERM, then SIGKILL. It goes only as far as the child makes
// necessary.
func TestStopClimbsNoHigherThanNeeded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]process.ExitInfo{
		"echo": {Code: 0}, "deaf": {Code: -1, Signal: "SIGTERM"}, "stubborn": {Code: -1, Signal: "SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ladder := quick
			if name == "echo" {
				ladder = process.Ladder{CloseWait: time.Minute}
			}
			p := mustStart(t, roleCommand(name), &process.Options{Ladder: ladder})
			if name == "echo" {
				go func() { _, _ = io.Copy(io.Discard, p.Stdout()) }()
			} else {
				readPID(t, p) // wait until the child has set up what it ignores
			}
			if err := p.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := p.Exit()
			if got.Code != want.Code || got.Signal != want.Signal || got.Uptime <= 0 || got.KilledOOM {
				t.Errorf("exit = %+v, want %+v", got, want)
			}
			if process.Alive(p.Pid()) {
				t.Error("alive after Stop")
			}
		})
	}
}

// A wrapper dies at SIGTERM; the program it wraps does not.
func TestStopEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	p := mustStart(t, wrappedRole("stubborn"), &process.Options{Ladder: quick})
	inner := readPID(t, p)
	if inner == p.Pid() {
		t.Fatal("the shell did not stay")
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if process.Alive(inner) {
		t.Errorf("grandchild %d is alive after Stop", inner)
	}
	if got := p.Exit().Signal; got != "SIGTERM" {
		t.Errorf("the wrapper ended by %q, want SIGTERM", got)
	}
}

// When a child exits by itself, the rest of its process group is ended without a call of Stop.
func TestCrashLeavesNoOrphan(t *testing.T) {
	t.Parallel()
	c := wrappedRole("stubborn")
	c.Args[1] = `"$0" & read line; exit 7`
	p := mustStart(t, c, &process.Options{Ladder: quick})
	orphan := readPID(t, p)
	if _, err := p.Stdin().Write([]byte("now\n")); err != nil {
		t.Fatal(err)
	}
	awaitClosed(t, p.Done(), "Done")
	if got := p.Exit().Code; got != 7 {
		t.Errorf("exit code = %d, want 7", got)
	}
	await.Until(t, "orphan gone though nobody called Stop", func() bool { return !process.Alive(orphan) })
}

// The end of one caller's context shortens a Stop in progress, for all its callers.
func TestStopHurried(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("stubborn"), &process.Options{Ladder: process.Ladder{CloseWait: time.Minute, TermWait: time.Minute}})
	readPID(t, p)
	patient := make(chan error, 1)
	go func() { patient <- p.Stop(context.Background()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := p.Stop(ctx); err != nil {
		t.Error(err)
	}
	await.Within(t, "Stop after its context had ended", time.Since(begin), 5*time.Second)
	if err := <-patient; err != nil {
		t.Error(err)
	}
}

func TestStopManyTimes(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("echo"), nil)
	go func() { _, _ = io.Copy(io.Discard, p.Stdout()) }()
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() {
			if err := p.Stop(context.Background()); err != nil || process.Alive(p.Pid()) {
				t.Errorf("Stop = %v, alive %v", err, process.Alive(p.Pid()))
			}
		})
	}
	callers.Wait()
}

// Exit is empty until the process has ended, and Tail has what it wrote to stderr.
func TestExitCodeAndLastWords(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("exit3"), nil)
	if got := p.Exit(); got != (process.ExitInfo{}) {
		select {
		case <-p.Done():
		default:
			t.Errorf("exit before the end = %+v", got)
		}
	}
	awaitClosed(t, p.Done(), "Done")
	if got := p.Exit().String(); got != "exit code 3" {
		t.Errorf("exit = %q", got)
	}
	if got := p.Tail(20); len(got) != 1 || got[0] != "cannot connect to the daemon" {
		t.Errorf("tail = %q", got)
	}
}

// Output that a child wrote before it was killed can be read to the end, even late.
func TestOutputOfTheDead(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("farewell"), nil)
	awaitClosed(t, p.Done(), "Done")
	out, err := io.ReadAll(p.Stdout())
	if err != nil || string(out) != "last words\n" {
		t.Errorf("stdout = %q, %v", out, err)
	}
	if got := p.Exit(); got.Signal != "SIGKILL" || got.KilledOOM {
		t.Errorf("exit = %+v", got)
	}
}

// If nobody read stderr, the child would block after 64 KiB.
func TestStderrFlood(t *testing.T) {
	t.Parallel()
	var bytes, lines int
	c := roleCommand("flood")
	c.Stderr = func(line []byte) { bytes += len(line) + 1; lines++ }
	p := mustStart(t, c, nil)
	out, err := io.ReadAll(p.Stdout())
	if err != nil || string(out) != "flooded\n" {
		t.Fatalf("stdout = %q, %v", out, err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lines != (50<<20)/100+1 || bytes < 50<<20-100 {
		t.Errorf("saw %d lines, %d bytes", lines, bytes)
	}
	tail := p.Tail(0)
	if len(tail) != 500 || tail[499] != "the last line" {
		t.Errorf("tail keeps %d lines, the last is %q", len(tail), tail[len(tail)-1])
	}
}

func TestStdinHasADeadline(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("deaf"), nil)
	if err := p.Stdin().SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdin().Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write to a child that does not read = %v", err)
	}
}

func TestStopFreesABlockedWriter(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("deaf"), &process.Options{Ladder: quick})
	failed := make(chan error, 1)
	go func() {
		_, err := p.Stdin().Write(make([]byte, 1<<20))
		failed <- err
	}()
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("a megabyte went into a child that reads nothing")
	}
}

// A child gets only the environment of its Command, and none of our open files.
func TestNothingIsInherited(t *testing.T) {
	t.Parallel()
	say := func(c process.Command) string {
		out, err := io.ReadAll(mustStart(t, c, nil).Stdout())
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if got := say(roleCommand("environment")); got != "ROLE=environment" {
		t.Errorf("environment = %q", got)
	}
	if got := say(process.Command{Name: "/usr/bin/env"}); got != "" {
		t.Errorf("environment of a command that has none = %q", got)
	}
	alone := say(roleCommand("files"))
	mustStart(t, roleCommand("deaf"), nil) // its pipes are open now
	if got := say(roleCommand("files")); got != alone {
		t.Errorf("beside another child a child has the files %s, want %s", got, alone)
	}
}

func TestOwnGroup(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("deaf"), nil)
	if got, err := syscall.Getpgid(p.Pid()); err != nil || got != p.Pid() {
		t.Errorf("group = %d, %v, want its own, %d", got, err, p.Pid())
	}
}
