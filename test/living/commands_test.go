package living_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
	"collie/test/gateway"
)

// A command that changes the cache takes effect in the running gateway at once.
func TestCacheCommandsBesideAGateway(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	h.fillCache(t)
	g := h.serve(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
	mustRun := func(args ...string) string {
		t.Helper()
		out, stderr, code := h.run(t, args...)
		if code != 0 {
			t.Fatalf("collie %s: exit code %d: %s%s", strings.Join(args, " "), code, out, stderr)
		}
		return out
	}
	if path := strings.TrimSpace(mustRun("cache", "path")); !strings.Contains(path, h.cachePath()) {
		t.Errorf("cache path: %s", path)
	}
	if out := mustRun("cache", "verify", "--json"); gjson.Get(out, "report.totalWrites").Int() != 2 || gjson.Get(out, "report.servers.#").Int() != 2 {
		t.Errorf("cache verify: %s", out)
	}
	if out := mustRun("cache", "show", "a", "--json"); !strings.Contains(out, "configHash") {
		t.Errorf("cache show: %s", out)
	}
	if out := mustRun("cache", "schema"); !gjson.Valid(out) || out != string(toolcache.Schema()) && strings.TrimSpace(out) != strings.TrimSpace(string(toolcache.Schema())) {
		t.Errorf("cache schema: %.300s", out)
	}
	before := cacheEntry(t, h.cachePath(), "a").Get("lastUpdated").Str
	mustRun("cache", "clear", "a")
	await.Until(t, "the server has told its list anew", func() bool {
		now := cacheEntry(t, h.cachePath(), "a")
		return now.Exists() && now.Get("lastUpdated").Str != before && len(cacheStats(t, g).Servers) == 2
	})
	mustRun("cache", "refresh", "a")
	await.Until(t, "the entry is there again", func() bool {
		return slices.Equal(toolNames(cacheEntry(t, h.cachePath(), "a")), []string{"echo", "pid"})
	})
	awaitNames(t, c, "a__echo", "a__pid", "b__echo")
	h.configure(t, twoServers[:1])
	await.Until(t, "b is marked", func() bool { return cacheEntry(t, h.cachePath(), "b").Get("state").Str == "removed" })
	mustRun("cache", "prune")
	await.Until(t, "b is forgotten", func() bool { return !cacheEntry(t, h.cachePath(), "b").Exists() })
	verifyCache(t, h.cachePath())
	replaceFile(t, h.cachePath(), []byte("invalid json"))
	if out, _, code := h.run(t, "cache", "verify", "--json"); code == 0 || !strings.Contains(out, "json") {
		t.Errorf("of a broken file, cache verify: exit code %d: %s", code, out)
	}
}

// A list that `collie cache clear` has removed is not offered until its server has sent it again.
func TestCacheClearActsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), twoServers[1]})
	h.fillCache(t)
	m.setTools(t, "echo", "new")
	g := h.serve(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	if out, stderr, code := h.run(t, "cache", "clear", "m"); code != 0 {
		t.Fatalf("cache clear: exit code %d: %s%s", code, out, stderr)
	}
	awaitNames(t, c, "m__echo", "m__new", "b__echo")
}

// A list that is fetched again right after `collie cache clear` stays in the cache.
func TestCacheClearAndRefresh(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers)
	h.fillCache(t)
	g := h.serve(t)
	wantEcho(t, dialLegacy(t, g), "a")
	for _, command := range []string{"clear", "refresh"} {
		if out, stderr, code := h.run(t, "cache", command, "a"); code != 0 {
			t.Fatalf("cache %s: exit code %d: %s%s", command, code, out, stderr)
		}
	}
	await.Until(t, "the entry is there again", func() bool { return cacheEntry(t, h.cachePath(), "a").Exists() })
}

// `collie cache import` takes over the cached list of another program, and `collie cache migrate --dry-run` shows
// what is in a file of an older format without changing it.
func TestImportAndMigrate(t *testing.T) {
	t.Parallel()
	h := newHome(t, twoServers, `"cache":{"trustImported":true}`)
	other := h.writeFile(t, "xiaozhi.cache.json", foreignCache)
	out, stderr, code := h.run(t, "cache", "migrate", other, "--dry-run")
	if code != 0 || !strings.Contains(out+stderr, "1.1.0") {
		t.Errorf("cache migrate: exit code %d: %s%s", code, out, stderr)
	}
	if raw, err := os.ReadFile(other); string(raw) != foreignCache || err != nil {
		t.Errorf("the file was changed: %v %s", err, raw)
	}
	if out, stderr, code := h.run(t, "cache", "import", other); code != 0 {
		t.Fatalf("cache import: exit code %d: %s%s", code, out, stderr)
	}
	if e := cacheEntry(t, h.cachePath(), "a"); !slices.Equal(toolNames(e), []string{"old"}) || e.Get("stateReason").Str != "imported" {
		t.Errorf("imported: %s", e.Raw)
	}
	if left, _ := filepath.Glob(other + ".*"); len(left) > 0 {
		t.Errorf("beside the file: %q", left)
	}
	g := h.serve(t)
	if got := listNames(t, dialLegacy(t, g)); !slices.Contains(got, "a__old") {
		t.Errorf("listed: %q", got)
	}
}
