package bridge_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"collie/internal/process"
	"collie/test/await"
	"collie/test/binary"
	"collie/test/gateway"
)

// restarted is what `collie service restart` tells of the new gateway.
type restarted struct {
	PID          int
	URL, Version string
}

// restart replaces a gateway. The new one ends with the test.
func restart(t *testing.T, p gateway.Programs, g *gateway.Gateway, settings string) (now restarted) {
	t.Helper()
	out, stderr, code := p.Run(t, g.Home, "service", "restart", "--json", "--config", settings)
	if err := json.Unmarshal([]byte(out), &now); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, stderr)
	}
	t.Cleanup(func() {
		if err := process.Terminate(now.PID); err != nil && process.Alive(now.PID) { // another restart may have ended it
			t.Error(err)
		}
		await.Until(t, "the new gateway ends", func() bool { return !process.Alive(now.PID) })
	})
	return now
}

// TestRestartKeepsTheProfile restarts a gateway that was started with a profile. It shows no more tools than before.
func TestRestartKeepsTheProfile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a gateway that was not started by the Task Scheduler cannot be ended from elsewhere")
	}
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, []gateway.Server{{Name: "f"}, {Name: "hidden"}})
	if out, stderr, code := p.Run(t, t.TempDir(), "config", "set", "profiles.reader.tools.include", `["f"]`, "--config", settings); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, stderr)
	}
	g := p.Serve(t, settings, "--profile", "reader")
	g.AwaitReady(t)
	token, _, _ := g.Keys(t)
	list := func() string {
		t.Helper()
		raw, err := g.Dial(t, gateway.Legacy, token).Do(t.Context(), "tools/list", `{}`)
		if err != nil || !strings.Contains(string(raw), `"f__echo"`) {
			t.Fatalf("%s, %v", raw, err)
		}
		return string(raw)
	}
	before := list()
	restart(t, p, g, settings)
	if now := list(); now != before {
		t.Errorf("it shows other tools than before:\n%s\nnot\n%s", now, before)
	}
	restart(t, p, g, settings) // what was passed on is passed on again
	if now := list(); now != before {
		t.Errorf("after another restart it shows\n%s\nnot\n%s", now, before)
	}
}

// TestUpgrade replaces a running gateway by one of another version. Before that, commands say that the old one should be
// restarted. The new gateway has the address of the old one, and clients that are connected through "collie stdio" go on.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a gateway that was not started by the Task Scheduler cannot be ended from elsewhere")
	}
	old := gateway.LinkPrograms(t)
	settings := old.Settings(t, []gateway.Server{{Name: "f"}})
	g := old.Serve(t, settings)
	g.AwaitReady(t)
	c := startClients(t, old, g.Home, settings)
	c.serverPIDs()

	next := old
	next.Collie = filepath.Join(t.TempDir(), "collie")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version=next", "-o", next.Collie, binary.Collie)
	build.Dir = binary.Root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, stderr, _ := next.Run(t, g.Home, "mcp", "list", "--config", settings); !strings.Contains(stderr, "collie service restart") {
		t.Errorf("mcp list says %q", stderr)
	}
	if now := restart(t, next, g, settings); now.Version != "next" || now.URL != g.URL {
		t.Fatalf("the new gateway is %+v", now)
	}
	if !g.AwaitExit(limit) {
		t.Error("the old gateway goes on")
	}
	for pid := range c.serverPIDs() {
		t.Logf("answered by %s", pid)
	}
	if _, stderr, code := next.Run(t, t.TempDir(), "service", "restart"); code == 0 || !strings.Contains(stderr, "no gateway runs in this home") {
		t.Errorf("in an empty home: exit code %d, %s", code, stderr)
	}
}
