//go:build unix

package bridge_test

import (
	"strconv"
	"strings"
	"testing"

	"collie/test/gateway"
)

// TestChangeThenCallAtOnce calls a tool right after the settings have changed, from the command line or from a client
// that starts then: the gateway's server process answers, and no second one is started for the caller.
func TestChangeThenCallAtOnce(t *testing.T) {
	t.Parallel()
	p := gateway.LinkPrograms(t)
	list := []gateway.Server{{Name: "f"}, {Name: "g"}}
	settings := p.Settings(t, list)
	g := p.Serve(t, settings)
	g.AwaitReady(t)
	run := func(args ...string) string {
		t.Helper()
		stdout, stderr, code := p.Run(t, g.Home, append([]string{"--config", settings}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
		return strings.TrimSpace(stdout)
	}
	first := run("call", "f", "pid")
	for round := range 20 {
		name := "n" + strconv.Itoa(round)
		change := ""
		switch round % 5 {
		case 0:
			change = run("mcp", "disable", "g")
		case 1:
			change = run("mcp", "enable", "g")
		case 2:
			change = run("mcp", "add", name, "--no-warm", "--", p.Fake)
		case 3:
			change = run("config", "set", "profiles."+name+".description", "one more")
		case 4: // as an editor writes it, without telling the gateway
			p.SettingsAt(t, settings, append(list, gateway.Server{Name: name}))
		}
		if round%2 == 0 {
			if pid := run("call", "f", "pid"); pid != first {
				t.Errorf("round %d, after %q: another server answered", round, change)
			}
			continue
		}
		client, c := p.DialStdio(t, gateway.Legacy, g.Home, settings)
		pid, err := c.Tool(t.Context(), "f__pid", `{}`)
		if err != nil || pid != first || client.Stderr() != "" {
			t.Errorf("round %d, after %q: a client that starts then: %v, server %s, not %s: %s", round, change, err, pid, first, client.Stderr())
		}
		_ = client.Stdin.Close()
	}
}
