package living_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// waitLimit is how long a test waits for something before it fails.
const waitLimit = await.Limit

// home is a home folder with settings, in which a test runs one gateway after the other.
type home struct {
	gateway.Programs
	dir, settings string
}

// newHome makes a home whose settings have these servers. more are further sections of the settings, such as "cache":{…}.
func newHome(t *testing.T, servers []gateway.Server, more ...string) *home {
	t.Helper()
	dir := t.TempDir()
	h := &home{gateway.LinkPrograms(t), dir, filepath.Join(dir, "collie.json")}
	h.configure(t, servers, more...)
	return h
}

// configure rewrites the settings, as an editor does. It sets cache.firstListWait to 0, so that lists do not wait for
// servers that were never seen and the effect of the cache shows.
func (h *home) configure(t *testing.T, servers []gateway.Server, more ...string) {
	t.Helper()
	const section, member = `"cache":{`, `"firstListWait":"0s"`
	sections := slices.Clone(more)
	if i := slices.IndexFunc(more, func(s string) bool { return strings.HasPrefix(s, section) }); i >= 0 {
		sections[i] = section + member + "," + strings.TrimPrefix(more[i], section)
	} else {
		sections = append(sections, section+member+"}")
	}
	h.SettingsAt(t, h.settings, servers, sections...)
}

// serve runs a gateway, and returns once it accepts connections.
func (h *home) serve(t *testing.T) *gateway.Gateway {
	t.Helper()
	return h.ServeIn(t, h.dir, h.settings, "--no-auth")
}

// serveReady runs a gateway and returns when every server is ready, idle or has failed.
func (h *home) serveReady(t *testing.T) *gateway.Gateway {
	t.Helper()
	g := h.serve(t)
	g.AwaitReady(t)
	return g
}

// run runs a command of the program in the home and waits for its end.
func (h *home) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return h.Run(t, h.dir, append(args, "--config", h.settings)...)
}

// stopGateway ends a gateway with SIGTERM and checks that it exits with code 0.
func stopGateway(t *testing.T, g *gateway.Gateway) {
	t.Helper()
	g.Signal(syscall.SIGTERM)
	if !g.AwaitExit(waitLimit) {
		t.Fatal("the gateway runs on after SIGTERM")
	}
	if code := g.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, g.Stderr())
	}
}

// fillCache runs a gateway until it has written the lists of all servers to disk, and stops it. A server is ready as soon
// as its tools are known. Its other lists come later, and until then none of them is cached.
func (h *home) fillCache(t *testing.T) {
	t.Helper()
	h.fillCacheAt(t, h.cachePath())
}

// fillCacheAt is fillCache for a home whose cache is in another file.
func (h *home) fillCacheAt(t *testing.T, cache string) {
	t.Helper()
	g := h.serveReady(t)
	await.Until(t, "all lists are in the cache", func() bool {
		for name, st := range g.Servers(t) {
			if st.State == tool.StateReady && st.Tools > 0 && !cacheEntry(t, cache, name).Exists() {
				return false
			}
		}
		return true
	})
	stopGateway(t, g)
}

// startGate is a file without which servers that it holds do not start to do anything.
type startGate string

func newStartGate(t *testing.T) startGate { return startGate(filepath.Join(t.TempDir(), "open")) }

// hold returns the entry of a server that does nothing before the gate is open.
func (g startGate) hold(s gateway.Server) gateway.Server {
	s.Flags = append(slices.Clone(s.Flags), "--start-when", string(g))
	return s
}

func (g startGate) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(string(g), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (g startGate) shut(t *testing.T) {
	t.Helper()
	if err := os.Remove(string(g)); err != nil {
		t.Fatal(err)
	}
}

// runningServers returns the running servers, as "pid command line".
func (h *home) runningServers(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(h.Running(t), func(line string) bool { return !strings.Contains(line, "fakemcp") })
}

// wantRunning fails the test unless exactly n servers are running.
func (h *home) wantRunning(t *testing.T, n int) {
	t.Helper()
	if got := h.runningServers(t); len(got) != n {
		t.Errorf("%d servers run, want %d: %s", len(got), n, strings.Join(got, "; "))
	}
}

// cachePath returns the path of the tool cache.
func (h *home) cachePath() string { return filepath.Join(h.dir, "collie.cache.json") }

// writeFile writes a file into the home and returns its path.
func (h *home) writeFile(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// listNames returns the tools that a client of the gateway sees.
func listNames(t *testing.T, c *gateway.Client) []string {
	t.Helper()
	raw := listTools(t, c)
	var out []string
	for _, name := range gjson.GetBytes(raw, "tools.#.name").Array() {
		out = append(out, name.Str)
	}
	return out
}

// listTools returns the answer to tools/list.
func listTools(t *testing.T, c *gateway.Client) json.RawMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	raw, err := c.Do(ctx, "tools/list", "{}")
	if err != nil {
		t.Fatalf("tools/list: %v", err)
	}
	return raw
}

// wantNames fails the test unless a client sees exactly these tools.
func wantNames(t *testing.T, c *gateway.Client, want ...string) {
	t.Helper()
	if got := listNames(t, c); !slices.Equal(got, want) {
		t.Errorf("listed: %q, want %q", got, want)
	}
}

// awaitNames waits until a client sees exactly these tools.
func awaitNames(t *testing.T, c *gateway.Client, want ...string) {
	t.Helper()
	var got []string
	await.Until(t, "listed is "+strings.Join(want, " "), func() bool {
		got = listNames(t, c)
		return slices.Equal(got, want)
	}, func() string { return strings.Join(got, " ") })
}

// wantEcho calls the tool echo of a server, and fails the test unless it answers the text that it was given.
func wantEcho(t *testing.T, c *gateway.Client, server string) {
	t.Helper()
	if got := callTool(t, c, server+"__echo", `{"text":"新闻"}`); got != "新闻" {
		t.Errorf("%s echoes %q", server, got)
	}
}

// callTool calls a tool, which must succeed, and returns the text of its answer.
func callTool(t *testing.T, c *gateway.Client, name, args string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	text, err := c.Tool(ctx, name, args)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

// wantCallFails calls a tool. The call must fail within limit with an error of this type, which is returned.
func wantCallFails(t *testing.T, c *gateway.Client, name, kind string, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	begun := time.Now()
	text, err := c.Tool(ctx, name, "{}")
	if gateway.TypeOf(err) != kind {
		t.Errorf("%s: %q, error %v; want an error of type %s", name, text, err, kind)
	}
	await.Within(t, name+" to fail", time.Since(begun), limit)
	return err
}

// awaitState waits until a server is in a state and returns its status.
func awaitState(t *testing.T, g *gateway.Gateway, server string, want tool.State) (st tool.ServerStatus) {
	t.Helper()
	await.Until(t, server+" is "+string(want), func() bool {
		st = g.Servers(t)[server]
		return st.State == want
	})
	return st
}

// dialLegacy opens a legacy session, as most clients do.
func dialLegacy(t *testing.T, g *gateway.Gateway) *gateway.Client {
	t.Helper()
	return g.Dial(t, gateway.Legacy, "")
}
