//go:build unix

package faults_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"collie/test/await"
	"collie/test/gateway"
)

// stubborn lists two servers that only SIGKILL ends, one of them with a child process of that kind, and a good one.
var stubborn = []gateway.Server{
	{Name: "deaf", Flags: []string{"--ignore-eof", "--ignore-term"}},
	{Name: "family", Flags: []string{"--ignore-eof", "--ignore-term", "--fork"}},
	{Name: "good"},
}

// However Collie ends, none of its child processes survive. They are gone within eight seconds, or fifteen if Collie was
// asked to stop while calls were running.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	var waiting sync.WaitGroup
	for _, tt := range []struct {
		face  string
		sig   syscall.Signal
		busy  bool
		limit time.Duration
	}{
		{face: "serve", sig: syscall.SIGTERM, limit: 8 * time.Second},
		{face: "serve", sig: syscall.SIGTERM, busy: true, limit: 15 * time.Second},
		{face: "serve", sig: syscall.SIGKILL, busy: true, limit: 8 * time.Second},
		{face: "stdio", sig: syscall.SIGTERM, limit: 8 * time.Second},
		{face: "stdio", sig: syscall.SIGHUP, busy: true, limit: 15 * time.Second},
		{face: "stdio", sig: syscall.SIGKILL, busy: true, limit: 8 * time.Second},
	} {
		if tt.limit > 8*time.Second && !long {
			continue
		}
		p := gateway.LinkPrograms(t)
		run, c := startStubborn(t, p, tt.face)
		if tt.busy {
			for _, s := range stubborn {
				go func() { _, _ = c.Tool(t.Context(), s.Name+"__hang", "{}") }() // ends with the gateway
			}
			await.Moment(200 * time.Millisecond) // for the calls to get there; without them the test is weaker
		}
		run.Signal(tt.sig)
		waiting.Go(func() {
			await.Within(t, fmt.Sprintf("%s, %v, busy %t: the end of all", tt.face, tt.sig, tt.busy), p.AwaitNone(t, await.Limit), tt.limit)
			if code := run.ExitCode(); tt.sig != syscall.SIGKILL && !tt.busy && code != 0 {
				t.Errorf("%s: exit code %d after %v, want 0: %s", tt.face, code, tt.sig, run.Stderr())
			}
		})
	}
	waiting.Wait()
}

// startStubborn starts the stubborn servers and shows that they work.
func startStubborn(t *testing.T, p gateway.Programs, face string) (run *gateway.Process, c *gateway.Client) {
	t.Helper()
	settings := p.Settings(t, stubborn)
	if face == "serve" {
		g := p.Serve(t, settings, "--no-auth")
		g.AwaitReady(t)
		run, c = g.Process, g.Dial(t, gateway.Legacy, "")
	} else {
		run, c = p.DialStdio(t, gateway.Legacy, t.TempDir(), settings)
	}
	for _, s := range stubborn {
		checkWorks(t, c, s.Name)
	}
	want := len(stubborn) + 2 // servers, the child of "family", and Collie
	if running := p.Running(t); len(running) < want {
		t.Fatalf("%d processes, want %d at least: %s", len(running), want, strings.Join(running, "; "))
	}
	return run, c
}

// A command that starts servers for itself ends soon after its answer, even if the servers ignore signals. The servers
// and their children end with it, and its call is in the audit log and the analytics.
func TestCommandEndsWithItsAnswer(t *testing.T) {
	t.Parallel()
	const limit = 5 * time.Second // five times what a server may take to end
	p := gateway.LinkPrograms(t)
	home, settings := t.TempDir(), p.Settings(t, stubborn)
	for _, args := range [][]string{
		{"call", "family", "echo", "--text", "here"},
		{"tools", "deaf"},
		{"mcp", "doctor", "family"},
		{"cache", "warm"},
	} {
		begun := time.Now()
		stdout, stderr, code := p.Run(t, home, append([]string{"--config", settings}, args...)...)
		took := time.Since(begun)
		await.Within(t, strings.Join(args, " "), took, limit)
		if code != 0 {
			t.Errorf("%v: exit code %d: %s%s", args, code, stdout, stderr)
		}
		if left := p.Running(t); len(left) > 0 {
			t.Errorf("%v left %v", args, left)
		}
	}
	if out, _, _ := p.Run(t, home, "--config", settings, "audit", "query", "--json"); !strings.Contains(out, `"outcome":"ok"`) {
		t.Errorf("the call is not on record: %s", out)
	}
	counted, err := filepath.Glob(filepath.Join(home, "data", "analytics", "*"))
	if err != nil || len(counted) == 0 {
		t.Errorf("the call was not counted: %v, %v", counted, err)
	}
}

// End of input ends `collie stdio` and its servers.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	run, c := p.DialStdio(t, gateway.Modern, t.TempDir(), p.Settings(t, []gateway.Server{{Name: "good"}}))
	checkWorks(t, c, "good")
	_ = run.Stdin.Close()
	t.Logf("nothing left after %v", p.AwaitNone(t, 5*time.Second).Round(time.Millisecond))
}

// Servers that honour the end of their input let Collie stop within a second; the test allows five, since the machine may be
// busy.
func TestStopIsQuick(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	servers := make([]gateway.Server, 10)
	for i := range servers {
		servers[i].Name = "s" + strconv.Itoa(i)
	}
	g := p.Serve(t, p.Settings(t, servers), "--no-auth")
	g.AwaitReady(t)
	c := g.Dial(t, gateway.Legacy, "")
	checkWorks(t, c, "s0")
	g.Signal(syscall.SIGTERM)
	t.Logf("stopped after %v", p.AwaitNone(t, 5*time.Second).Round(time.Millisecond))
	if _, err := os.Stat(filepath.Join(g.Home, "state", "gateway.json")); err == nil {
		t.Error("gateway.json is still there")
	}
}

// With --parent-pid Collie ends when that process does.
func TestParentWatchdog(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	parent := exec.Command("sleep", "600")
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	settings := p.Settings(t, []gateway.Server{{Name: "good"}})
	g := p.Serve(t, settings, "--no-auth", "--parent-pid", strconv.Itoa(parent.Process.Pid))
	g.AwaitReady(t)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	t.Logf("nothing left after %v", p.AwaitNone(t, 12*time.Second).Round(time.Millisecond))
}

// A second gateway of a home ends at once and names the first. After the first was killed, the next gateway takes over
// the home.
func TestSecondGateway(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, []gateway.Server{{Name: "good"}})
	g := p.Serve(t, settings, "--no-auth")
	g.AwaitReady(t)
	_, stderr, code := p.Run(t, g.Home, "serve", "--config", settings, "--http", "127.0.0.1:0", "--no-auth")
	if code != 1 || !strings.Contains(stderr, "pid "+strconv.Itoa(g.PID())) || !strings.Contains(stderr, g.URL) {
		t.Errorf("exit code %d, %s; want 1, pid %d and %s", code, stderr, g.PID(), g.URL)
	}
	checkWorks(t, g.Dial(t, gateway.Legacy, ""), "good")
	g.Signal(syscall.SIGKILL)
	g.AwaitExit(5 * time.Second)
	next := p.ServeIn(t, g.Home, settings, "--no-auth")
	next.AwaitReady(t)
	checkWorks(t, next.Dial(t, gateway.Legacy, ""), "good")
}

// The error for a port that is in use names the process that uses it.
func TestBusyPort(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	p := gateway.LinkPrograms(t)
	_, stderr, code := p.Run(t, t.TempDir(), "serve", "--config", p.Settings(t, nil), "--http", l.Addr().String(), "--no-auth")
	if code != 1 || !strings.Contains(stderr, "in use by") || !strings.Contains(stderr, l.Addr().String()) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if want := fmt.Sprintf("(pid %d)", os.Getpid()); !strings.Contains(stderr, want) && runtime.GOOS == "linux" {
		t.Errorf("%s; want %s", stderr, want)
	}
}
