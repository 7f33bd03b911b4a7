package living_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// twoServers are two servers that both offer echo. The first also offers pid, by which the two can be told apart.
var twoServers = []gateway.Server{{Name: "a", Flags: []string{"--offer", "echo,pid"}}, {Name: "b", Flags: []string{"--offer", "echo"}}}

// The first list that a client asks for waits for servers that were never seen, because many clients list only once.
// The wait has a limit.
func TestFirstList(t *testing.T) {
	t.Parallel()
	slow := gateway.Server{Name: "slow", Flags: []string{"--offer", "echo", "--delay-start", "2s"}}
	h := newHome(t, nil)
	h.SettingsAt(t, h.settings, append(slices.Clone(twoServers), slow), `"cache":{"firstListWait":"30s"}`)
	g := h.serve(t)
	wantNames(t, dialLegacy(t, g), "a__echo", "a__pid", "b__echo", "slow__echo")
	stopGateway(t, g)
	hung := gateway.Server{Name: "hung", Flags: []string{"--never-answer"}, More: `"startTimeout":"5m"`}
	h.SettingsAt(t, h.settings, append(slices.Clone(twoServers), slow, hung), `"cache":{"firstListWait":"2s"}`)
	g = h.serve(t)
	for _, c := range []*gateway.Client{dialLegacy(t, g), g.Dial(t, gateway.Modern, "")} {
		wantNames(t, c, "a__echo", "a__pid", "b__echo", "slow__echo") // the wait has an end
	}
	if st := g.Servers(t)["hung"]; st.State != tool.StateStarting {
		t.Errorf("hung: %+v", st)
	}
}

// Servers start in parallel: each of these answers only once all eight are running.
func TestStartsInParallel(t *testing.T) {
	t.Parallel()
	const n = 8
	pids := t.TempDir()
	var servers []gateway.Server
	var tools []string
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		servers = append(servers, gateway.Server{Name: name, Flags: []string{
			"--offer", "echo", "--pidfile", pids, "--start-with", fmt.Sprint(n),
		}})
		tools = append(tools, name+"__echo")
	}
	g := newHome(t, servers).serve(t)
	g.AwaitReady(t)
	wantNames(t, dialLegacy(t, g), tools...)
}

// At the first start, each server gets an entry in the cache file once it has answered. If cache.firstListWait is 0,
// no list waits for a server.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	gate := newStartGate(t)
	h := newHome(t, append(slices.Clone(twoServers), gate.hold(gateway.Server{Name: "slow", Flags: []string{"--offer", "echo"}})))
	g := h.serve(t)
	c := dialLegacy(t, g)
	listNames(t, c) // while the gate is shut
	await.Until(t, "the file is there", func() bool { _, err := os.Stat(h.cachePath()); return err == nil })
	if cacheEntry(t, h.cachePath(), "slow").Exists() {
		t.Error("there is an entry of a server that has not answered")
	}
	wantMode(t, h.cachePath(), 0o600)
	gate.open(t)
	g.AwaitReady(t)
	awaitNames(t, c, "a__echo", "a__pid", "b__echo", "slow__echo")
	await.Until(t, "all have their entries", func() bool { return len(verifyCache(t, h.cachePath()).Servers) == 3 })
	for name, want := range map[string][]string{"a": {"echo", "pid"}, "b": {"echo"}, "slow": {"echo"}} {
		e := cacheEntry(t, h.cachePath(), name)
		if !slices.Equal(toolNames(e), want) || e.Get("state").Str != "active" || len(e.Get("configHash").Str) != 64 || !e.Get("validatedAt").Exists() {
			t.Errorf("entry of %s: %s", name, e.Raw)
		}
	}
	if r := verifyCache(t, h.cachePath()); r.TotalWrites != 3 {
		t.Errorf("%d writes of entries, want 3", r.TotalWrites)
	}
	wantMode(t, h.cachePath(), 0o600)
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // file modes mean nothing there
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
		t.Errorf("mode of %s: %v, %v; want %v", filepath.Base(path), info.Mode(), err, want)
	}
}

// With a warm cache, clients and commands see all tools before any process has started, and nothing is written.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	h.fillCache(t)
	before := readVersion(t, h.cachePath())
	for _, protocol := range []string{gateway.Legacy, gateway.Modern} {
		g := h.serve(t)
		wantNames(t, g.Dial(t, protocol, ""), "a__echo", "a__pid", "b__echo")
		h.wantRunning(t, 0)
		for name, st := range g.Servers(t) {
			if st.State != tool.StateIdle || st.Freshness != tool.FreshHit || st.Starts != 0 {
				t.Errorf("%s: %+v", name, st)
			}
		}
		g.AwaitReady(t)
		stopGateway(t, g)
		wantUnwritten(t, h.cachePath(), before)
	}
	out, stderr, code := h.run(t, "mcp", "list", "--json")
	if code != 0 || strings.Count(out, `"freshness": "hit"`)+strings.Count(out, `"freshness":"hit"`) != 2 {
		t.Errorf("mcp list: exit code %d: %s%s", code, out, stderr)
	}
	out, stderr, code = h.run(t, "tools", "--json")
	if code != 0 || !strings.Contains(out, `"a"`) || !strings.Contains(out, `"b"`) {
		t.Errorf("tools: exit code %d: %s%s", code, out, stderr)
	}
	h.wantRunning(t, 0)
	wantUnwritten(t, h.cachePath(), before)
	g := h.serve(t) // a use starts one process, confirms the list, and still writes nothing
	wantEcho(t, dialLegacy(t, g), "a")
	h.wantRunning(t, 1)
	stopGateway(t, g)
	wantUnwritten(t, h.cachePath(), before)
}

// A server that is down is listed from the cache. Its calls fail soon and say why, and its entry stays.
func TestServerDownWithAnEntry(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	definitions := h.writeFile(t, "definitions.json", `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
	far := newRemote(t, "--offer", "echo")
	h.configure(t, []gateway.Server{
		{Name: "local", Flags: []string{"--definitions", definitions}},
		{Name: "remote", Entry: far.entry()},
		twoServers[1],
	})
	warm := h.serveReady(t)
	await.Until(t, "all are on disk", func() bool { // a stop waits for this only for a limited time
		return cacheEntry(t, h.cachePath(), "local").Exists() && cacheEntry(t, h.cachePath(), "remote").Exists() && cacheEntry(t, h.cachePath(), "b").Exists()
	})
	stopGateway(t, warm)
	if err := os.Remove(definitions); err != nil { // without it the server exits at once
		t.Fatal(err)
	}
	far.stop()
	before := map[string]string{"local": entryWithoutFailure(t, h, "local"), "remote": entryWithoutFailure(t, h, "remote")}
	g := h.serve(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "local__echo", "remote__echo", "b__echo")
	wantEcho(t, c, "b")
	for name, reason := range map[string]string{"local": "exited_early", "remote": "connection_refused"} {
		err := wantCallFails(t, c, name+"__echo", "server_unavailable", 50*time.Second)
		if err == nil {
			continue
		}
		await.Until(t, name+" says its reason, "+reason+", and waits for a retry", func() bool { // it may be trying just now
			st := g.Servers(t)[name]
			return st.Reason == reason && st.Detail != "" && st.NextRetry != nil && st.State == tool.StateBackoff
		})
		await.Until(t, "the failure is on disk", func() bool { return cacheEntry(t, h.cachePath(), name).Get("lastError.code").Str == reason })
		if now := entryWithoutFailure(t, h, name); now != before[name] {
			t.Errorf("the entry of %s is %s, before %s", name, now, before[name])
		}
	}
	wantNames(t, c, "local__echo", "remote__echo", "b__echo")
}

// entryWithoutFailure returns the cache entry of a server without the fields that a failure may change.
func entryWithoutFailure(t *testing.T, h *home, server string) string {
	t.Helper()
	fields := map[string]any{}
	if err := json.Unmarshal([]byte(cacheEntry(t, h.cachePath(), server).Raw), &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "lastError")
	delete(fields, "rev")
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A server that is down and was never seen does not affect other servers, and is tried again.
func TestServerDownWithoutAnEntry(t *testing.T) {
	t.Parallel()
	h := newHome(t, append(slices.Clone(twoServers),
		gateway.Server{Name: "dead", Flags: []string{"--exit-code", "7"}},
		gateway.Server{Name: "gone", Entry: `{"command":"no-such-command-of-collie"}`}))
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
	wantEcho(t, c, "a")
	await.Until(t, "it says why one ended and when it is tried again", func() bool { // and not that it is being tried
		st := g.Servers(t)["dead"]
		return st.Reason == "exited_early" && strings.Contains(st.Detail, "7") && st.NextRetry != nil
	})
	if st := g.Servers(t)["gone"]; st.State != tool.StateFailed || st.Reason != "command_not_found" || st.NextRetry != nil {
		t.Errorf("gone: %+v", st)
	}
	await.Until(t, "it is tried again by itself", func() bool { return g.Servers(t)["dead"].Attempt > 1 })
	wantEcho(t, c, "b")
	for _, name := range []string{"dead", "gone"} {
		if e := cacheEntry(t, h.cachePath(), name); e.Exists() {
			t.Errorf("there is an entry of %s: %s", name, e.Raw)
		}
	}
}

// A server that never answers its handshake delays no call of other servers and, if firstListWait is 0, no list.
func TestServerHangsInItsHandshake(t *testing.T) {
	t.Parallel()
	h := newHome(t, append(slices.Clone(twoServers),
		gateway.Server{Name: "hung", Flags: []string{"--never-answer"}, More: `"startTimeout":"1h"`},
		gateway.Server{Name: "late", Flags: []string{"--never-answer"}, More: `"startTimeout":"6s"`}))
	g := h.serve(t)
	c := dialLegacy(t, g)
	begun := time.Now()
	awaitNames(t, c, "a__echo", "a__pid", "b__echo")
	await.Within(t, "the list of the others", time.Since(begun), 5*time.Second)
	if st := g.Servers(t)["hung"]; st.State != tool.StateStarting {
		t.Errorf("while the others work, hung is %+v", st)
	}
	wantEcho(t, c, "a")
	await.Until(t, "a server that hangs has failed", func() bool {
		st := g.Servers(t)["late"]
		return st.Reason == "handshake_timeout" && strings.Contains(st.Detail, "6s")
	}, g.Stderr)
}

// Of many configured servers only those run that are used, and the others cost little memory.
func TestManyServers(t *testing.T) {
	t.Parallel()
	const all = 200
	var servers []gateway.Server
	for i := range all {
		servers = append(servers, gateway.Server{Name: fmt.Sprintf("s%03d", i), Flags: []string{"--offer", "echo", "--version", fmt.Sprint(i)}})
	}
	h := newHome(t, servers)
	h.writeInventedLists(t)
	begun := time.Now()
	g := h.serve(t)
	c := dialLegacy(t, g)
	if got := listNames(t, c); len(got) != all*toolsEach {
		t.Errorf("%d tools listed, want %d", len(got), all*toolsEach)
	}
	t.Logf("listed %v after the start", time.Since(begun).Round(time.Millisecond))
	await.Never(t, time.Second, "a server runs", func() bool { return len(h.runningServers(t)) > 0 })
	resident := residentMemory(t, g.PID())
	t.Logf("%d MiB resident with %d servers configured and none used", resident>>20, all)
	const most = 72 << 20 // bytes: what is promised, 60 MiB, and a fifth more for the measurement
	if resident > most {
		t.Errorf("%d MiB resident, want 60 at most", resident>>20)
	}
	for _, name := range []string{"s000", "s100", "s199"} {
		wantEcho(t, c, name)
	}
	h.wantRunning(t, 3)
}
