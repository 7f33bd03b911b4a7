package living_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
	"collie/test/gateway"
)

// The variables that make the test binary a writer for [TestTenWriters].
const writerFile, writerName = "COLLIE_TEST_LIVING_CACHE", "COLLIE_TEST_LIVING_WRITER"

// writers is how many processes [TestTenWriters] runs, and entriesEach how many entries each of them writes.
const writers, entriesEach = 10, 100

// writeEntries is what the test binary runs as a writer for [TestTenWriters]: it stores the lists of a hundred
// servers, with a short pause after every tenth.
func writeEntries(path, name string) (code int) {
	c := toolcache.Open(context.Background(), toolcache.Options{Path: path, Collect: 5 * time.Millisecond})
	for i := range entriesEach {
		c.Store(fmt.Sprintf("w%s-%d", name, i), &toolcache.Entry{
			ConfigHash: fmt.Sprintf("%064x", i),
			Tools:      []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"name":"t%d","description":"%s","inputSchema":{"type":"object"}}`, i, strings.Repeat("新闻", 20)))},
		})
		if i%10 == 0 {
			await.Moment(10 * time.Millisecond)
		}
	}
	for try := 0; c.Flush(context.Background()) != nil; try++ { // ten processes want the lock at the same time
		if try == 20 {
			fmt.Fprintln(os.Stderr, c.Stats().LastFailure)
			return 1
		}
	}
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Ten processes write a hundred entries each into one cache file, and none is lost.
func TestTenWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "collie.cache.json")
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), writerFile+"="+path, fmt.Sprint(writerName, "=", i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("writer %d: %v: %s", i, err, out)
			}
		})
	}
	all.Wait()
	r := verifyCache(t, path)
	if len(r.Servers) != writers*entriesEach || r.TotalWrites != writers*entriesEach {
		t.Errorf("%d entries, %d writes; want %d of both", len(r.Servers), r.TotalWrites, writers*entriesEach)
	}
	for _, s := range r.Servers {
		if !s.Usable || s.Tools != 1 {
			t.Errorf("%+v", s)
		}
	}
	if left := temporaryFiles(t, path); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	t.Logf("%d generations", r.Generation)
}

// Several gateways share a cache file. Each of them lists all servers, no entry is lost, and the number of writes in
// the file is exactly the sum of what they have written.
func TestGatewaysShareAFile(t *testing.T) {
	t.Parallel()
	const gateways, servers = 4, 25
	far := serveRemote(t, &manyServers{t: t})
	var entries []gateway.Server
	for i := range servers {
		entries = append(entries, gateway.Server{Name: fmt.Sprintf("s%02d", i), Entry: fmt.Sprintf(`{"url":"http://%s/mcp?n=%d"}`, far.addr, i)})
	}
	h := newHome(t, nil)
	key := h.writeFile(t, "shared.key", strings.Repeat("ab", 32)+"\n")
	h.configure(t, entries, fmt.Sprintf(`"cache":{"file":%q,"sharedKeyFile":%q}`, h.cachePath(), key))
	var all []*gateway.Gateway
	for range gateways { // at the same time, each in a home of its own
		all = append(all, h.ServeIn(t, t.TempDir(), h.settings, "--no-auth"))
	}
	await.Until(t, "all entries are there", func() bool {
		raw, err := os.ReadFile(h.cachePath())
		return err == nil && len(toolcache.Verify(raw).Servers) == servers
	})
	for _, g := range all {
		g.AwaitReady(t)
		if n := len(listNames(t, dialLegacy(t, g))); n != servers {
			t.Errorf("a gateway lists %d tools, want %d", n, servers)
		}
	}
	sum := uint64(0)
	await.Until(t, "the count is exact", func() bool {
		sum = 0
		for _, g := range all {
			sum += cacheStats(t, g).Writes.Entries
		}
		return verifyCache(t, h.cachePath()).TotalWrites == sum
	})
	t.Logf("%d entries written by %d gateways, %d of them anew", sum, gateways, servers)
	for _, g := range all {
		stopGateway(t, g)
	}
	if r := verifyCache(t, h.cachePath()); len(r.Servers) != servers {
		t.Errorf("%d entries after all have stopped, want %d", len(r.Servers), servers)
	}
}

// takeUpTime is how soon one process takes up what another one has written, on a machine that is not busy.
const takeUpTime = 2 * time.Second

// A list that one process of a home has fetched is soon offered by another one, which does not start the server for
// it.
func TestOthersOfferWhatOneLearns(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), twoServers[1]})
	h.fillCache(t)
	other := filepath.Join(h.dir, "other.json") // with other settings, `collie stdio` does not become a bridge to the gateway
	h.SettingsAt(t, other, []gateway.Server{m.server(), twoServers[1]}, `"log":{"level":"info"}`)
	g := h.serve(t)
	c := dialLegacy(t, g)
	_, alone := h.DialStdio(t, gateway.Legacy, h.dir, other)
	wantNames(t, alone, "m__echo", "b__echo")
	m.setTools(t, "echo", "new")
	wantEcho(t, alone, "m") // the other process starts the server
	begun := time.Now()
	await.Until(t, "the gateway offers what the other process has learned", func() bool {
		return slices.Equal(listNames(t, c), []string{"m__echo", "m__new", "b__echo"})
	})
	await.Within(t, "taking up what the other process has learned", time.Since(begun), 5*takeUpTime)
	if st := g.Servers(t)["m"]; st.Starts != 0 {
		t.Errorf("m: %+v", st)
	}
}

// manyServers is any number of servers at one address, told apart by their query. Each offers one tool. With changes
// set, every list is different.
type manyServers struct {
	t       *testing.T
	changes bool
	lists   atomic.Int64
}

// ServeHTTP answers as a legacy server without sessions does.
func (m *manyServers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var req struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if req.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := `"error":{"code":-32601,"message":"no such method"}`
	switch req.Method {
	case "initialize":
		answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"many","version":"1"}}`
	case "tools/list":
		about := "one of many"
		if m.changes {
			about = fmt.Sprint("list ", m.lists.Add(1), " ", strings.Repeat("x", rand.IntN(2000)))
		}
		answer = fmt.Sprintf(`"result":{"tools":[{"name":"tool","description":%q,"inputSchema":{"type":"object"}}]}`, about)
	case "ping":
		answer = `"result":{}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, req.ID, answer)
}

// However often a gateway is killed while it writes, the cache file is a complete generation, and the next start
// lists its tools from it.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	const servers = 20
	far := serveRemote(t, &manyServers{t: t, changes: true})
	var entries []gateway.Server
	for i := range servers {
		entries = append(entries, gateway.Server{Name: fmt.Sprintf("s%02d", i), Entry: fmt.Sprintf(`{"url":"http://%s/mcp?n=%d"}`, far.addr, i)})
	}
	h := newHome(t, entries)
	h.fillCache(t)
	generation, left, late := verifyCache(t, h.cachePath()).Generation, 0, time.Duration(0)
	for round := range killRounds {
		g := h.serve(t)
		if n := len(listNames(t, dialLegacy(t, g))); n != servers {
			t.Errorf("%d tools listed at once, want %d", n, servers)
		}
		refreshAll(t, g, servers)
		// The gateway writes about gatherTime after the refresh: kill it a little before or after that.
		await.Moment(gatherTime - 50*time.Millisecond + late + rand.N(100*time.Millisecond))
		g.Signal(syscall.SIGKILL)
		if !g.AwaitExit(waitLimit) {
			t.Fatal("it survives SIGKILL")
		}
		r := verifyCache(t, h.cachePath())
		if r.Generation < generation || len(r.Servers) != servers {
			t.Errorf("generation %d after %d, %d entries", r.Generation, generation, len(r.Servers))
		}
		if r.Generation == generation {
			late += 25 * time.Millisecond // the kill came before the write, so the next one comes later
		} else {
			late = 0
		}
		generation = r.Generation
		if aside, _ := filepath.Glob(h.cachePath() + ".corrupt-*"); len(aside) > 0 {
			t.Errorf("kept aside: %q", aside)
		}
		old := time.Now().Add(-2 * time.Minute)
		for _, path := range temporaryFiles(t, h.cachePath()) {
			left++
			if err := os.Chtimes(path, old, old); err != nil { // so that the next start may remove it
				t.Fatal(err)
			}
		}
		if t.Failed() {
			t.Fatalf("in round %d of %d", round+1, killRounds)
		}
	}
	if generation < killRounds/4 { // at least one kill in four has to come after a write
		t.Errorf("%d generations after %d kills: the gateways did not write", generation, killRounds)
	}
	h.fillCache(t)
	if left := temporaryFiles(t, h.cachePath()); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	t.Logf("%d kills, %d generations, %d temporary files left and removed", killRounds, generation, left)
}

// gatherTime is how long a gateway collects changes before it writes them.
const gatherTime = 200 * time.Millisecond

// refreshAll makes all servers send their lists, which differ each time.
func refreshAll(t *testing.T, g *gateway.Gateway, servers int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			if status, answer := g.Act(t, fmt.Sprintf("s%02d", i), "refresh"); status != http.StatusOK {
				t.Errorf("refresh: status %d: %s", status, answer)
			}
		})
	}
	all.Wait()
}
