package living_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// Each message that a server receives is one line with one JSON object.
func TestOneLineAMessage(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h := newHome(t, []gateway.Server{{Name: "a", Flags: []string{"--record", record}}})
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	wantEcho(t, c, "a")
	callTool(t, c, "a__echo", `{"text":"two\nlines\r\nand 新闻"}`)
	stopGateway(t, g)
	raw, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	for _, line := range lines {
		var message map[string]json.RawMessage
		if err := json.Unmarshal(line, &message); err != nil || string(message["jsonrpc"]) != `"2.0"` {
			t.Errorf("%q: %v", line, err)
		}
	}
	if len(lines) < 5 {
		t.Errorf("only %d lines were recorded", len(lines))
	}
}

// A legacy server that does not answer unknown requests is ready within a few seconds. Its era is remembered, so that
// the next start does not wait for it.
func TestSilentLegacyServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{{Name: "a", Flags: []string{"--offer", "echo", "--silent-unknown"}}})
	begun := time.Now()
	g := h.serveReady(t)
	took := time.Since(begun)
	wantEcho(t, dialLegacy(t, g), "a")
	await.Within(t, "to be ready", took, 5*4*time.Second)
	stopGateway(t, g)
	g = h.serve(t) // the cache knows the era of the server, so nothing has to be probed
	begun = time.Now()
	wantEcho(t, dialLegacy(t, g), "a")
	await.Within(t, "the first call, from the cache,", time.Since(begun), 2500*time.Millisecond)
}

// A call from the command line answers with the text of the tool.
func TestCallFromTheCommandLine(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	out, stderr, code := h.run(t, "call", "a", "echo", "--args", `{"text":"新闻"}`)
	if strings.TrimSpace(out) != "新闻" || code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	h.wantRunning(t, 0)
}

// Each of a thousand calls at once gets its own answer.
func TestAnswersBelongToTheirCalls(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{{Name: "a"}})
	g := h.serveReady(t)
	var all sync.WaitGroup
	for i := range 10 { // sessions may have 256 calls in flight each
		c := g.Dial(t, []string{gateway.Legacy, gateway.Modern}[i%2], "")
		for j := range 100 {
			all.Go(func() {
				if rand.IntN(2) == 0 {
					callTool(t, c, "a__slow", fmt.Sprintf(`{"ms":%d}`, rand.IntN(200)))
				}
				want := fmt.Sprint("answer ", i, " ", j)
				if got := callTool(t, c, "a__echo", fmt.Sprintf(`{"text":%q}`, want)); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
	all.Wait()
}

// An error of a server reaches the caller unchanged.
func TestErrorOfTheServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{{Name: "a"}})
	out, stderr, code := h.run(t, "call", "a", "rpcerror", "--json", "--args", `{"code":-32603,"message":"查询失败","data":{"exact":12345678901234567890}}`)
	text := out + stderr
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"-32603", "查询失败", "12345678901234567890"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// A banner on stdout is counted and logged as noise, and has no other effect.
func TestBannerOnStdout(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{{Name: "a", Flags: []string{"--offer", "echo", "--banner", "欢迎 to the server"}}})
	g := h.serveReady(t)
	wantEcho(t, dialLegacy(t, g), "a")
	if st := g.Servers(t)["a"]; st.State != tool.StateReady || st.NoiseLines != 1 {
		t.Errorf("a: %+v", st)
	}
	if out, _, _ := h.run(t, "mcp", "logs", "a", "--stream", "noise"); !strings.Contains(out, "欢迎 to the server") {
		t.Errorf("its log: %s", out)
	}
}

// A call during which a server crashes fails at once and says so. The server is started again, and further calls
// work.
func TestServerCrashes(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{{Name: "a", Flags: []string{"--offer", "echo", "--crash-after", "3"}}})
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	for range 3 {
		wantEcho(t, c, "a")
	}
	wantCallFails(t, c, "a__echo", "server_crashed", 5*time.Second)
	wantEcho(t, c, "a")
	st := g.Servers(t)["a"]
	if st.State != tool.StateReady || st.Starts != 2 {
		t.Errorf("a: %+v", st)
	}
	await.Until(t, "what happened is in the log", func() bool { return len(linesWith(g.Stderr(), "server ended")) == 1 })
}

// Servers of every transport and era have an entry in the cache, and answer calls.
func TestEveryTransport(t *testing.T) {
	t.Parallel()
	var servers []gateway.Server
	for _, era := range []string{"legacy", "modern", "both"} {
		servers = append(servers,
			gateway.Server{Name: "pipe-" + era, Flags: []string{"--era", era, "--offer", "echo"}},
			gateway.Server{Name: "http-" + era, Entry: newRemote(t, "--era", era, "--offer", "echo").entry()},
			gateway.Server{Name: "events-" + era, Entry: newRemote(t, "--era", era, "--offer", "echo", "--sse").entry()})
	}
	h := newHome(t, servers)
	h.fillCache(t)
	r := verifyCache(t, h.cachePath())
	if len(r.Servers) != len(servers) {
		t.Errorf("%d entries of %d servers", len(r.Servers), len(servers))
	}
	for _, s := range servers {
		e := cacheEntry(t, h.cachePath(), s.Name)
		transport, era, _ := strings.Cut(s.Name, "-")
		switch {
		case era != "both":
		case transport == "pipe": // no client has called, so the server was started in the legacy era
			era = "legacy"
		default:
			era = "modern"
		}
		if !slices.Equal(toolNames(e), []string{"echo"}) || e.Get("era").Str != era || e.Get("protocolVersion").Str == "" {
			t.Errorf("%s: %s %s %q", s.Name, e.Get("era").Str, e.Get("protocolVersion").Str, toolNames(e))
		}
	}
	g := h.serve(t)
	for _, s := range servers {
		wantEcho(t, dialLegacy(t, g), s.Name)
	}
}

// A failed start changes nothing in the entry except the error.
func TestFailedStartKeepsTheEntry(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server()})
	h.fillCache(t)
	before := entryWithoutFailure(t, h, "m")
	if err := os.Remove(m.path); err != nil {
		t.Fatal(err)
	}
	g := h.serve(t)
	if status, _ := g.Act(t, "m", "refresh"); status == 200 {
		t.Error("a refresh of a server that does not start went well")
	}
	await.Until(t, "the error is on disk", func() bool { return cacheEntry(t, h.cachePath(), "m").Get("lastError.code").Str == "exited_early" })
	if now := entryWithoutFailure(t, h, "m"); now != before {
		t.Errorf("the entry is %s, before %s", now, before)
	}
	m.setTools(t, "echo")
	g.Act(t, "m", "restart")
	await.Until(t, "the error has gone", func() bool { return !cacheEntry(t, h.cachePath(), "m").Get("lastError").Exists() })
}

// Servers with invalid names are refused one by one, and the other servers work.
func TestNamesThatNoServerMayHave(t *testing.T) {
	t.Parallel()
	h := newHome(t, []gateway.Server{serverOffering("a b", "echo"), serverOffering("列车", "echo"), serverOffering("collie", "echo"), serverOffering("good-1_X", "echo")})
	g := h.serveReady(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "good-1_X__echo")
	for _, name := range []string{"a b", "列车", "collie"} {
		if st := g.Servers(t)[name]; st.State != tool.StateConfigError || st.Detail == "" {
			t.Errorf("%s: %+v", name, st)
		}
	}
	stopGateway(t, g)
	editCache(t, h.cachePath(), func(file map[string]any) { // an entry with such a name in the cache file has no effect
		file["mcpServers"].(map[string]any)["a b"] = entryOf(file, "good-1_X")
	})
	g = h.serve(t)
	wantNames(t, dialLegacy(t, g), "good-1_X__echo")
	h.wantRunning(t, 0)
}

// The statistics of the cache have all their fields, with the right numbers.
func TestCacheStats(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	h.fillCache(t)
	h.configure(t, append(slices.Clone(twoServers), serverOffering("new", "echo")))
	g := h.serveReady(t)
	await.Until(t, "the new list is written", func() bool { return cacheStats(t, g).Writes.OK > 0 })
	_, raw := g.Ask(t, "GET", "/toolcache/stats", "")
	for path, want := range map[string]string{
		"path": h.cachePath(), "format": "1.1.0", "lookups": "3", "hits": "2", "misses": "1", "missReasons.no_entry": "1", "writes.entries": "1",
		"serverCount": "3", "totalWrites": "3", "compressed": "false", "writable": "true", "refreshes.ok": "1", "servers.#": "3",
		`servers.#(name=="a").verdict`: "hit", `servers.#(name=="a").tools`: "2", `servers.#(name=="a").state`: "active",
	} {
		if got := gjson.GetBytes(raw, path); got.String() != want {
			t.Errorf("%s is %q, want %q", path, got.String(), want)
		}
	}
	for _, path := range []string{"size", "generation", "fileWrites", "createdAt", "lastGlobalUpdate", "hitRate", "loadMs", "servers.0.ageSeconds", "servers.0.bytes", "staleHits", "merges", "bytesSaved", "writes.lockWaits", "writes.lastMs", "writes.meanMs", "writes.longestMs"} {
		if !gjson.GetBytes(raw, path).Exists() {
			t.Errorf("%s is missing: %s", path, raw)
		}
	}
	out, stderr, code := h.run(t, "cache", "stats", "--json")
	if n := gjson.Get(out, "servers.#").Int(); code != 0 || n != 3 {
		t.Errorf("cache stats: exit code %d, %d servers: %s%s", code, n, out, stderr)
	}
}

// With a cache, all tools are listed long before a server has started.
func TestListIsFasterWithACache(t *testing.T) {
	t.Parallel()
	const servers, startDelay = 4, 2 * time.Second
	var list []gateway.Server
	for i := range servers {
		list = append(list, gateway.Server{Name: fmt.Sprint("s", i), Flags: []string{"--offer", "echo", "--delay-start", startDelay.String()}})
	}
	h := newHome(t, list)
	timeToListAll := func() time.Duration {
		begun := time.Now()
		g := h.serve(t)
		c := dialLegacy(t, g)
		await.Until(t, "all tools are listed", func() bool { return len(listNames(t, c)) == servers })
		took := time.Since(begun)
		g.AwaitReady(t)
		stopGateway(t, g)
		return took
	}
	cold := timeToListAll()
	warm := min(timeToListAll(), timeToListAll(), timeToListAll()) // the shortest of three, because the machine may be busy
	await.Within(t, "the last tool, with a cache,", warm, 5*150*time.Millisecond)
	if cold < startDelay {
		t.Errorf("the last tool was there after %v, before its server had started", cold)
	}
}

// A stale list is offered at once and refreshed in the background, and clients are notified.
// Several concurrent clients start one process.
func TestStaleWhileRevalidating(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	gate := newStartGate(t)
	gate.open(t)
	h.configure(t, []gateway.Server{gate.hold(m.server())}, `"cache":{"refreshStale":"start"}`)
	h.fillCache(t)
	gate.shut(t)
	setListTime(t, h, "m", -25*time.Hour)
	m.setTools(t, "echo", "new")
	g := h.serve(t)
	c, ears := dialLegacy(t, g), g.Subscribe(t, "")
	wantNames(t, c, "m__echo")
	if st := g.Servers(t)["m"]; st.Freshness != tool.FreshStale || st.Why != "too_old" {
		t.Errorf("m: %+v", st)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { callTool(t, c, "m__echo", "{}") })
	}
	gate.open(t)
	all.Wait()
	h.wantRunning(t, 1)
	awaitNames(t, c, "m__echo", "m__new")
	await.Until(t, "clients are told", func() bool { return ears.ListChanges() > 0 })
}

// Tools that `collie cache warm` has learned are listed even if the programs of their servers are gone.
func TestWarmedUp(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	if out, stderr, code := h.run(t, "cache", "warm"); code != 0 {
		t.Fatalf("cache warm: exit code %d: %s%s", code, out, stderr)
	}
	h.wantRunning(t, 0)
	if err := os.Remove(h.Fake); err != nil {
		t.Fatal(err)
	}
	g := h.serve(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
	wantCallFails(t, c, "a__echo", "server_unavailable", 5*time.Second)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
}

// exitPartial is the exit code of a command that succeeded only in part.
const exitPartial = 6

// If one server fails during `collie cache warm`, the lists of the others are kept, and the failure is reported.
func TestWarmUpFails(t *testing.T) {
	t.Parallel()
	h := newHome(t, append(slices.Clone(twoServers), gateway.Server{Name: "dead", Flags: []string{"--exit-code", "3"}}))
	out, stderr, code := h.run(t, "cache", "warm")
	if code != exitPartial || !strings.Contains(out+stderr, "dead") {
		t.Errorf("exit code %d: %s%s", code, out, stderr)
	}
	if r := verifyCache(t, h.cachePath()); len(r.Servers) != 2 {
		t.Errorf("entries: %+v", r.Servers)
	}
	h.wantRunning(t, 0)
}

// A list that has outlived the time its server gave it starts no server. After a use, the new list of the server is
// offered.
func TestNoTimerStartsAServer(t *testing.T) {
	t.Parallel()
	far := newRemote(t, "--era", "modern", "--offer", "echo,change", "--ttl", "300")
	h := newHome(t, []gateway.Server{
		{Name: "r", Entry: far.entry()},
		{Name: "short", Flags: []string{"--era", "modern", "--offer", "echo", "--ttl", "300"}},
	})
	h.fillCache(t)
	await.Moment(400 * time.Millisecond) // both lists are older than the 300 ms that their servers gave them
	g := h.serve(t)
	c := dialLegacy(t, g)
	if got := listNames(t, c); len(got) != 3 {
		t.Errorf("listed: %q", got)
	}
	await.Never(t, time.Second, "a server runs", func() bool {
		listNames(t, c)
		return len(h.runningServers(t)) > 0
	})
	callTool(t, c, "r__change", "{}")
	awaitNames(t, c, "r__echo", "r__change", "r__extra", "short__echo")
}

// The cache has the same content whether its file is compressed or not.
func TestCompressedCache(t *testing.T) {
	t.Parallel()
	show := func(compression string) (shown string, size int64) {
		h := newHome(t, []gateway.Server{{Name: "a", Flags: []string{"--tools", "200"}}}, `"cache":{"compression":"`+compression+`"}`)
		h.fillCache(t)
		info, err := os.Stat(h.cachePath())
		if err != nil {
			t.Fatal(err)
		}
		if r := verifyCache(t, h.cachePath()); r.Compressed != (compression == "gzip") {
			t.Errorf("with %s, compressed is %t", compression, r.Compressed)
		}
		g := h.serve(t)
		if n := len(listNames(t, dialLegacy(t, g))); n != 200 {
			t.Errorf("%d tools listed", n)
		}
		out, stderr, code := h.run(t, "cache", "show", "a", "--json")
		if code != 0 || !strings.Contains(out, "tool_0200") {
			t.Errorf("cache show: exit code %d: %.300s%s", code, out, stderr)
		}
		return cacheEntry(t, h.cachePath(), "a").Get("tools").Raw, info.Size()
	}
	plain, long := show("none")
	packed, short := show("gzip")
	if plain != packed {
		t.Error("the lists differ")
	}
	if short*5 > long {
		t.Errorf("%d bytes compressed, %d plain", short, long)
	}
}

// A gateway that is stopped while it still gathers changes writes them to the cache before it exits.
func TestLastWriteAtTheEnd(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	g := h.serve(t)
	c := dialLegacy(t, g)
	awaitNames(t, c, "a__echo", "a__pid", "b__echo")
	stopGateway(t, g) // before the time for gathering changes is over
	if r := verifyCache(t, h.cachePath()); len(r.Servers) != 2 {
		t.Errorf("entries: %+v", r.Servers)
	}
	if _, err := os.Stat(h.cachePath() + ".lock"); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
