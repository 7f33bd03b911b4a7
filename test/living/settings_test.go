package living_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// serverOffering returns the entry of a server that offers these tools. more are further members of the entry.
func serverOffering(name, offer string, more ...string) gateway.Server {
	return gateway.Server{Name: name, Flags: []string{"--offer", offer}, More: strings.Join(more, ",")}
}

// A changed entry means a different server: the old tools disappear at once, its lists are fetched
// again, and other servers are not affected.
func TestConfigurationChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{serverOffering("a", "echo,pid"), serverOffering("b", "echo,pid")})
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	pidOfB, statusOfB := callTool(t, c, "b__pid", "{}"), g.Servers(t)["b"]
	await.Until(t, "both are on disk", func() bool {
		return cacheEntry(t, h.cachePath(), "a").Exists() && cacheEntry(t, h.cachePath(), "b").Exists()
	})
	before, neighbour := cacheEntry(t, h.cachePath(), "a").Get("configHash").Str, cacheEntry(t, h.cachePath(), "b").Raw

	gate := newStartGate(t)
	h.configure(t, []gateway.Server{gate.hold(serverOffering("a", "echo,fail")), serverOffering("b", "echo,pid")})
	awaitNames(t, c, "b__echo", "b__pid") // the old tools are gone before the new ones are there
	gate.open(t)
	awaitNames(t, c, "a__echo", "a__fail", "b__echo", "b__pid")
	await.Until(t, "the new list is on disk", func() bool {
		return slices.Equal(toolNames(cacheEntry(t, h.cachePath(), "a")), []string{"echo", "fail"})
	})
	if now := cacheEntry(t, h.cachePath(), "a").Get("configHash").Str; now == before {
		t.Error("the configHash is the same")
	}
	if now := cacheEntry(t, h.cachePath(), "b").Raw; now != neighbour {
		t.Errorf("the entry of b is %s, before %s", now, neighbour)
	}
	if st := g.Servers(t)["b"]; callTool(t, c, "b__pid", "{}") != pidOfB || st.Starts != statusOfB.Starts {
		t.Errorf("b was disturbed: %+v", st)
	}
	stopGateway(t, g)
	g = h.serve(t)
	wantNames(t, dialLegacy(t, g), "a__echo", "a__fail", "b__echo", "b__pid")
	h.wantRunning(t, 0)
}

// If the settings are changed back before the changed server has answered, the cached list is valid again.
func TestConfigurationChangedBack(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	h.fillCache(t)
	dead := gateway.Server{Name: "a", Flags: []string{"--exit-code", "1"}}
	h.configure(t, []gateway.Server{dead, twoServers[1]})
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "b__echo")
	await.Until(t, "the entry waits on disk", func() bool {
		e := cacheEntry(t, h.cachePath(), "a")
		return e.Get("state").Str == "invalid" && e.Get("stateReason").Str == "config_changed"
	})
	h.configure(t, twoServers)
	awaitNames(t, c, "a__echo", "a__pid", "b__echo")
	h.wantRunning(t, 0)
}

// With cache.serveOldOnChange the old tools stay, marked stale, until the new ones are there.
func TestServeOldOnChange(t *testing.T) {
	t.Parallel()
	const section = `"cache":{"serveOldOnChange":true}`
	h := newHome(t, []gateway.Server{serverOffering("a", "echo"), serverOffering("b", "echo")}, section)
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	gate := newStartGate(t)
	h.configure(t, []gateway.Server{gate.hold(serverOffering("a", "echo,fail")), serverOffering("b", "echo")}, section)
	listed := func() []string {
		got := listNames(t, c)
		if !slices.Contains(got, "a__echo") {
			t.Fatalf("the old tools went before the new ones came: %q", got)
		}
		return got
	}
	await.Until(t, "the old tools are marked stale", func() bool {
		listed()
		st := g.Servers(t)["a"]
		return st.Freshness == tool.FreshStale && st.Why == "config_changed"
	})
	gate.open(t)
	await.Until(t, "the new tools are listed", func() bool { return slices.Contains(listed(), "a__fail") })
}

// The content of the file that envFile names is part of a server's identity: a change makes it another server.
func TestEnvFileChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	file := h.writeFile(t, "a.env", "MOOD=calm\n")
	s := serverOffering("a", "echo,env", `"envFile":`+strconv.Quote(file))
	h.configure(t, []gateway.Server{s, twoServers[1]})
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	if got := callTool(t, c, "a__env", "{}"); !strings.Contains(got, `"MOOD":"calm"`) {
		t.Errorf("the environment is %s", got)
	}
	await.Until(t, "it is on disk", func() bool { return cacheEntry(t, h.cachePath(), "a").Exists() })
	before := cacheEntry(t, h.cachePath(), "a").Get("configHash").Str
	h.writeFile(t, "a.env", "MOOD=stormy\n")
	await.Until(t, "it is another server", func() bool { return strings.Contains(callTool(t, c, "a__env", "{}"), `"MOOD":"stormy"`) })
	await.Until(t, "the hash is another one", func() bool { return cacheEntry(t, h.cachePath(), "a").Get("configHash").Str != before })
	if st := g.Servers(t)["b"]; st.Starts != 1 {
		t.Errorf("b: %+v", st)
	}
}

// Settings that only say how a server is treated, such as timeouts and filters, neither restart it nor change its
// identity.
func TestTreatedInAnotherWay(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	pid := callTool(t, c, "a__pid", "{}")
	await.Until(t, "it is on disk", func() bool { return cacheEntry(t, h.cachePath(), "a").Exists() })
	hash := cacheEntry(t, h.cachePath(), "a").Get("configHash").Str
	changed := twoServers[0]
	changed.More = `"toolTimeout":"7s","autoApprove":["pid"],"lifecycle":"lazy","description":"列车",` +
		`"tools":{"exclude":["echo"]},"cache":{"maxAge":"3h"},"idleTimeout":"9m"`
	h.configure(t, []gateway.Server{changed, twoServers[1]})
	awaitNames(t, c, "a__pid", "b__echo")
	if now := callTool(t, c, "a__pid", "{}"); now != pid {
		t.Errorf("process %s, %s before", now, pid)
	}
	st := g.Servers(t)["a"]
	if st.Starts != 1 || st.Lifecycle != "lazy" || !slices.Equal(st.AutoApprove, []string{"pid"}) {
		t.Errorf("a: %+v", st)
	}
	e := cacheEntry(t, h.cachePath(), "a")
	if e.Get("configHash").Str != hash || e.Get("state").Str != "active" || len(toolNames(e)) != 2 {
		t.Errorf("entry: %s", e.Raw)
	}
	stopGateway(t, g)
	g = h.serve(t)
	wantNames(t, dialLegacy(t, g), "a__pid", "b__echo")
	h.wantRunning(t, 0)
}

// A server that is added to the settings is started, and no other server is.
func TestServerAdded(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	h.fillCache(t)
	g := h.serve(t)
	c, ears := dialLegacy(t, g), g.Subscribe(t, "")
	h.configure(t, append(slices.Clone(twoServers), serverOffering("new", "echo")))
	awaitNames(t, c, "a__echo", "a__pid", "b__echo", "new__echo")
	await.Until(t, "clients are told", func() bool { return ears.ListChanges() > 0 }) // changes are gathered for a moment
	h.wantRunning(t, 1)
	for _, name := range []string{"a", "b"} {
		if st := g.Servers(t)[name]; st.State != tool.StateIdle || st.Starts != 0 {
			t.Errorf("%s: %+v", name, st)
		}
	}
	await.Until(t, "it is on disk", func() bool { return cacheEntry(t, h.cachePath(), "new").Exists() })
}

// When a server is removed from the settings, its tools disappear and its process ends. Its cache entry is kept for a
// while, and is valid again if the server comes back.
func TestServerRemoved(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	g := h.serveReady(t)
	c, ears := dialLegacy(t, g), g.Subscribe(t, "")
	wantEcho(t, c, "a")
	h.configure(t, twoServers[1:])
	awaitNames(t, c, "b__echo")
	await.Until(t, "clients are told", func() bool { return ears.ListChanges() > 0 })
	await.Until(t, "its process has ended", func() bool { return len(h.runningServers(t)) == 1 })
	await.Until(t, "the entry says so", func() bool { return cacheEntry(t, h.cachePath(), "a").Get("state").Str == "removed" })
	wantCallFails(t, c, "a__echo", "not_found", waitLimit)
	stopGateway(t, g)
	g = h.serve(t)
	c = dialLegacy(t, g)
	wantNames(t, c, "b__echo")
	h.configure(t, twoServers)
	awaitNames(t, c, "a__echo", "a__pid", "b__echo")
	h.wantRunning(t, 0)
	await.Until(t, "it is active again", func() bool { return cacheEntry(t, h.cachePath(), "a").Get("state").Str == "active" })
}

// When a server is renamed, its cache entry and its pins move to the new name, and the server is not started.
func TestServerRenamed(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		t.Run(map[bool]string{false: "between two runs", true: "in a run"}[running], func(t *testing.T) {
			t.Parallel()
			h := newHome(t, twoServers)
			h.fillCache(t)
			renamed := twoServers[0]
			renamed.Name = "z"
			var g *gateway.Gateway
			if running {
				g = h.serve(t)
			}
			h.configure(t, []gateway.Server{renamed, twoServers[1]})
			if !running {
				g = h.serve(t)
			}
			c := dialLegacy(t, g)
			awaitNames(t, c, "z__echo", "z__pid", "b__echo")
			h.wantRunning(t, 0)
			await.Until(t, "the entry has moved", func() bool {
				return !cacheEntry(t, h.cachePath(), "a").Exists() && slices.Equal(toolNames(cacheEntry(t, h.cachePath(), "z")), []string{"echo", "pid"})
			})
			if st := g.Servers(t)["z"]; len(st.Changed) != 0 || st.Freshness != tool.FreshHit {
				t.Errorf("z: %+v", st)
			}
			stopGateway(t, g) // writes the pins to disk
			raw, err := os.ReadFile(filepath.Join(h.dir, "state", "pins.json"))
			if err != nil {
				t.Fatal(err)
			}
			if pins := gjson.GetBytes(raw, "servers"); !strings.Contains(string(raw), `"z"`) || strings.Contains(string(raw), `"a"`) {
				t.Errorf("the pins have not moved: %s %s", pins.Raw, raw)
			}
			verifyCache(t, h.cachePath())
		})
	}
}

// A disabled server is not offered. Its cached lists are valid when it is enabled again.
func TestServerDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	h.fillCache(t)
	before := cacheEntry(t, h.cachePath(), "a").Raw
	off := twoServers[0]
	off.More = `"disabled":true`
	h.configure(t, []gateway.Server{off, twoServers[1]})
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "b__echo")
	if st := g.Servers(t)["a"]; st.State != tool.StateDisabled {
		t.Errorf("a: %+v", st)
	}
	await.Never(t, 500*time.Millisecond, "the entry of a server that is off was touched", func() bool { return cacheEntry(t, h.cachePath(), "a").Raw != before })
	h.configure(t, twoServers)
	awaitNames(t, c, "a__echo", "a__pid", "b__echo")
	h.wantRunning(t, 0)
	if st := g.Servers(t)["a"]; st.State != tool.StateIdle || st.Freshness != tool.FreshHit {
		t.Errorf("a: %+v", st)
	}
	wantEcho(t, c, "a")
	h.configure(t, []gateway.Server{off, twoServers[1]}) // while it runs
	awaitNames(t, c, "b__echo")
	await.Until(t, "its process has ended", func() bool { return len(h.runningServers(t)) == 0 })
}
