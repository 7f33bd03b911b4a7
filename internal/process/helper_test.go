//go:build unix

package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"collie/internal/process"
	"collie/test/await"
)

// quick is a ladder with short waits, for tests that go through all its steps.
var quick = process.Ladder{CloseWait: 100 * time.Millisecond, TermWait: 100 * time.Millisecond}

// roleCommand returns a command that runs this test binary in one of the roles of playRole.
func roleCommand(name string) process.Command {
	return process.Command{Label: name, Name: os.Args[0], Env: []string{"ROLE=" + name}}
}

// mustStart starts a child that t's cleanup stops.
func mustStart(t *testing.T, c process.Command, opts *process.Options) *process.Process {
	t.Helper()
	p, err := process.Start(c, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = p.Stdout().Close()
		if err := p.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return p
}

// readPID reads a line "word number" from the child and returns the number.
func readPID(t *testing.T, p *process.Process) int {
	t.Helper()
	var n int
	var word string
	if _, err := fmt.Fscanln(bufio.NewReader(p.Stdout()), &word, &n); err != nil {
		t.Fatalf("child says nothing: %v; stderr %q", err, p.Tail(0))
	}
	return n
}

// awaitClosed waits until ch is closed.
func awaitClosed(t *testing.T, ch <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(await.Limit):
		t.Fatalf("not closed: %s", what)
	}
}
