//go:build unix

package process_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"collie/internal/process"
)

// The channel of WatchParent is closed when the process ends, but not when the context does.
func TestWatchParent(t *testing.T) {
	t.Parallel()
	p := mustStart(t, roleCommand("deaf"), nil)
	gone := process.WatchParent(t.Context(), p.Pid(), 5*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	ended := process.WatchParent(ctx, os.Getpid(), 5*time.Millisecond)
	select {
	case <-gone:
		t.Fatal("gone while it lives")
	case <-time.After(50 * time.Millisecond):
	}
	if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	awaitClosed(t, gone, "channel of a dead parent")
	awaitClosed(t, process.WatchParent(t.Context(), p.Pid(), time.Hour), "channel of one dead already")
	cancel()
	select {
	case <-ended:
		t.Error("the end of the context looks like the end of the parent")
	default:
	}
}

func TestAlive(t *testing.T) {
	t.Parallel()
	if !process.Alive(1) || !process.Alive(os.Getpid()) {
		t.Error("pid 1 or this process is not alive")
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if process.Alive(pid) {
			t.Errorf("%d is alive", pid)
		}
	}
	p, q := mustStart(t, roleCommand("deaf"), nil), mustStart(t, roleCommand("deaf"), nil)
	if a, b := startTimeOf(t, p.Pid()), startTimeOf(t, os.Getpid()); a <= 0 || b <= 0 || a < b {
		t.Errorf("child started at %d, its parent at %d", a, b)
	}
	if first, again := startTimeOf(t, q.Pid()), startTimeOf(t, q.Pid()); first != again {
		t.Error("the start of one process moves")
	}
}
