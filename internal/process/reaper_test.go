//go:build unix

package process_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"collie/internal/process"
	"collie/test/await"
)

// The gateway's children end with it even if it is killed. The limit is 8 s.
func TestReaperOutlivesTheGateway(t *testing.T) {
	t.Parallel()
	gw := mustStart(t, roleCommand("gateway"), nil)
	out := bufio.NewReader(gw.Stdout())
	pids := map[string]int{}
	for _, name := range []string{"deaf", "stubborn", "wrapped", "reaper"} {
		var word string
		var pid int
		if _, err := fmt.Fscanln(out, &word, &pid); err != nil {
			t.Fatal(err)
		}
		pids[name] = pid
		// If the reaper fails, the test itself cleans up.
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
	for name, pid := range pids {
		if !process.Alive(pid) {
			t.Fatalf("%s is not alive before the gateway's end", name)
		}
	}
	if err := syscall.Kill(gw.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for name, pid := range pids {
		await.Until(t, name+" gone", func() bool { return !process.Alive(pid) })
	}
}

// The reaper survives signals that are sent to all processes of a terminal, container or service.
func TestReaperIgnoresSignals(t *testing.T) {
	t.Parallel()
	child := mustStart(t, roleCommand("deaf"), nil)
	reaper := mustStart(t, process.Command{Name: os.Args[0], Args: []string{reaperArg}}, nil)
	// More than a pipe holds: when all is written, the reaper has begun to read.
	tell := func() {
		t.Helper()
		if _, err := reaper.Stdin().WriteString(strings.Repeat("\n", 1<<18)); err != nil {
			t.Fatal(err)
		}
	}
	tell()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(reaper.Pid(), sig); err != nil {
			t.Fatal(err)
		}
		tell()
	}
	if _, err := fmt.Fprintf(reaper.Stdin(), "+%d 0\n", child.Pid()); err != nil {
		t.Fatal(err)
	}
	if err := reaper.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	awaitClosed(t, child.Done(), "Done of the child")
	awaitClosed(t, reaper.Done(), "Done of the reaper")
	if got := reaper.Exit(); got.Code != 0 || got.Signal != "" {
		t.Errorf("exit of the reaper = %+v", got)
	}
}

// newReaper returns a reaper that runs this test binary and is closed with the test.
func newReaper(t *testing.T) *process.Reaper {
	t.Helper()
	g := process.NewReaper(os.Args[0], []string{reaperArg}, nil)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// The reaper's process starts with the first child that needs it. It ends with Close and touches no process outside
// its list.
func TestReaperStartsLazilyAndEndsQuietly(t *testing.T) {
	t.Parallel()
	g := newReaper(t)
	if g.Pid() != 0 {
		t.Fatal("a reaper runs before any child")
	}
	p := mustStart(t, roleCommand("deaf"), &process.Options{Reaper: g, Ladder: quick})
	bystander := mustStart(t, roleCommand("deaf"), nil)
	reaper := g.Pid()
	if reaper == 0 || !process.Alive(reaper) {
		t.Fatal("no reaper beside a child")
	}
	if sid, err := unix.Getsid(reaper); err != nil || sid != reaper {
		t.Errorf("session of the reaper = %d, %v, want its own", sid, err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	await.Within(t, "Close", time.Since(begin), 5*time.Second)
	if process.Alive(reaper) {
		t.Error("the reaper is alive after Close")
	}
	if !process.Alive(bystander.Pid()) {
		t.Error("the reaper ended a child that it was not told of")
	}
	if err := g.Add(bystander.Pid()); err == nil {
		t.Error("Add after Close says nothing")
	}
}

// A reaper that dies is replaced, and the new one knows the groups listed before.
func TestReaperIsReplaced(t *testing.T) {
	t.Parallel()
	g := newReaper(t)
	before := mustStart(t, roleCommand("stubborn"), &process.Options{Reaper: g})
	readPID(t, before)
	first := g.Pid()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "reaper gone", func() bool { return !process.Alive(first) })
	after := mustStart(t, roleCommand("stubborn"), &process.Options{Reaper: g})
	readPID(t, after)
	await.Until(t, "another reaper", func() bool { pid := g.Pid(); return pid != first && pid != 0 })
	if !process.Alive(before.Pid()) {
		t.Fatal("the death of a reaper ended a child")
	}
	if err := g.Close(); err != nil { // with children still listed, as if we had died
		t.Fatal(err)
	}
	for _, p := range []*process.Process{before, after} {
		awaitClosed(t, p.Done(), "Done of a listed child")
		if got := p.Exit().Signal; got != "SIGKILL" {
			t.Errorf("a stubborn child ended by %q", got)
		}
	}
}

// A stopped reaper process does not read. It must not block us and, when continued, not end our children.
func TestReaperThatHangsIsReplaced(t *testing.T) {
	t.Parallel()
	g := newReaper(t)
	p := mustStart(t, roleCommand("deaf"), &process.Options{Reaper: g, Ladder: quick})
	first := g.Pid()
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for i := 0; g.Pid() == first; i++ {
		if i > 1<<16 {
			t.Fatal("the pipe never fills")
		}
		if err := g.Add(1<<22 + 1 + i); err != nil { // no such processes exist
			t.Fatal(err)
		}
		if i >= 1 {
			if err := g.Remove(1<<22 + i); err != nil {
				t.Fatal(err)
			}
		}
	}
	if process.Alive(first) || !process.Alive(p.Pid()) {
		t.Errorf("first reaper alive %v, child alive %v", process.Alive(first), process.Alive(p.Pid()))
	}
}

// At the end of its input the reaper ends the listed groups, except removed ones and those whose start time
// differs.
func TestReaperMainSparesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	stranger, removed, ours := mustStart(t, roleCommand("deaf"), nil), mustStart(t, roleCommand("deaf"), nil), mustStart(t, roleCommand("deaf"), nil)
	began, err := process.StartTime(ours.Pid())
	if err != nil {
		t.Fatal(err)
	}
	list := fmt.Sprintf("+%d 1\n+%d 0\nnonsense\n-%d\n+0 0\n+1 0\n+-5 0\n+%d 0\n+%d %d\n",
		stranger.Pid(), removed.Pid(), removed.Pid(), ours.Pid(), ours.Pid(), began)
	if code := process.ReaperMain(strings.NewReader(list)); code != 0 {
		t.Errorf("exit code = %d", code)
	}
	awaitClosed(t, ours.Done(), "Done of the listed child")
	if got := ours.Exit().Signal; got != "SIGTERM" {
		t.Errorf("the listed child ended by %q", got)
	}
	if !process.Alive(stranger.Pid()) || !process.Alive(removed.Pid()) {
		t.Errorf("reused number alive %v, removed alive %v", process.Alive(stranger.Pid()), process.Alive(removed.Pid()))
	}
}

func TestReaperMainWithNothingToDo(t *testing.T) {
	t.Parallel()
	if code := process.ReaperMain(strings.NewReader("")); code != 0 {
		t.Errorf("exit code = %d", code)
	}
}

func TestChildStartsWithoutReaper(t *testing.T) {
	t.Parallel()
	g := process.NewReaper("/no/such/program", nil, nil)
	p, err := process.Start(roleCommand("deaf"), &process.Options{Reaper: g, Ladder: quick})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
