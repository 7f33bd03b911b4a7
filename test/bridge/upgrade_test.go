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

// TestUpgrade replaces a running gateway by one of another version. Before that, commands say that the old one should be
// restarted. The new gateway has the address of the old one, and clients that are connected through "collie stdio" go on.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a gateway that was not started by the Task Scheduler cannot be ended from elsewhere")
	}
	old := gateway.Place(t)
	settings := old.Settings(t, []gateway.Server{{Name: "f"}})
	g := old.Serve(t, settings)
	g.Started(t)
	c := start(t, old, g.Home, settings)
	c.pids()

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
	out, stderr, code := next.Run(t, g.Home, "service", "restart", "--json", "--config", settings)
	var now struct {
		PID          int
		URL, Version string
	}
	if err := json.Unmarshal([]byte(out), &now); code != 0 || err != nil || now.Version != "next" || now.URL != g.URL {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, stderr)
	}
	t.Cleanup(func() {
		if err := process.Terminate(now.PID); err != nil {
			t.Error(err)
		}
		await.Until(t, "the new gateway ends", func() bool { return !process.Alive(now.PID) })
	})
	if !g.Exits(limit) {
		t.Error("the old gateway goes on")
	}
	for pid := range c.pids() {
		t.Logf("answered by %s", pid)
	}
	if _, stderr, code := next.Run(t, t.TempDir(), "service", "restart"); code == 0 || !strings.Contains(stderr, "no gateway runs in this home") {
		t.Errorf("in an empty home: exit code %d, %s", code, stderr)
	}
}
