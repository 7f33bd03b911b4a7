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
	h := newHome(t, two)
	h.warm(t)
	g := h.serve(t)
	c := legacy(t, g)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
	must := func(args ...string) string {
		t.Helper()
		out, stderr, code := h.run(t, args...)
		if code != 0 {
			t.Fatalf("collie %s: exit code %d: %s%s", strings.Join(args, " "), code, out, stderr)
		}
		return out
	}
	if path := strings.TrimSpace(must("cache", "path")); !strings.Contains(path, h.cache()) {
		t.Errorf("cache path: %s", path)
	}
	if out := must("cache", "verify", "--json"); gjson.Get(out, "report.totalWrites").Int() != 2 || gjson.Get(out, "report.servers.#").Int() != 2 {
		t.Errorf("cache verify: %s", out)
	}
	if out := must("cache", "show", "a", "--json"); !strings.Contains(out, "configHash") {
		t.Errorf("cache show: %s", out)
	}
	if out := must("cache", "schema"); !gjson.Valid(out) || out != string(toolcache.Schema()) && strings.TrimSpace(out) != strings.TrimSpace(string(toolcache.Schema())) {
		t.Errorf("cache schema: %.300s", out)
	}
	before := entry(t, h.cache(), "a").Get("lastUpdated").Str
	must("cache", "clear", "a")
	await.Until(t, "the server has told its list anew", func() bool {
		now := entry(t, h.cache(), "a")
		return now.Exists() && now.Get("lastUpdated").Str != before && len(cacheStats(t, g).Servers) == 2
	})
	must("cache", "refresh", "a")
	await.Until(t, "the entry is there again", func() bool { return slices.Equal(tools(entry(t, h.cache(), "a")), []string{"echo", "pid"}) })
	awaitNames(t, c, "a__echo", "a__pid", "b__echo")
	h.configure(t, two[:1])
	await.Until(t, "b is marked", func() bool { return entry(t, h.cache(), "b").Get("state").Str == "removed" })
	must("cache", "prune")
	await.Until(t, "b is forgotten", func() bool { return !entry(t, h.cache(), "b").Exists() })
	verify(t, h.cache())
	replace(t, h.cache(), []byte("invalid json"))
	if out, _, code := h.run(t, "cache", "verify", "--json"); code == 0 || !strings.Contains(out, "json") {
		t.Errorf("of a broken file, cache verify: exit code %d: %s", code, out)
	}
}

// A list that `collie cache clear` has removed is not offered until its server has sent it again.
func TestCacheClearActsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.moody(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), two[1]})
	h.warm(t)
	m.offers(t, "echo", "new")
	g := h.serve(t)
	c := legacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	if out, stderr, code := h.run(t, "cache", "clear", "m"); code != 0 {
		t.Fatalf("cache clear: exit code %d: %s%s", code, out, stderr)
	}
	awaitNames(t, c, "m__echo", "m__new", "b__echo")
}

// A list that is fetched again right after `collie cache clear` stays in the cache.
func TestCacheClearAndRefresh(t *testing.T) {
	t.Parallel()
	h := newHome(t, two)
	h.warm(t)
	g := h.serve(t)
	works(t, legacy(t, g), "a")
	for _, command := range []string{"clear", "refresh"} {
		if out, stderr, code := h.run(t, "cache", command, "a"); code != 0 {
			t.Fatalf("cache %s: exit code %d: %s%s", command, code, out, stderr)
		}
	}
	await.Until(t, "the entry is there again", func() bool { return entry(t, h.cache(), "a").Exists() })
}

// `collie cache import` takes over the cached list of another program, and `collie cache migrate --dry-run` shows
// what is in a file of an older format without changing it.
func TestImportAndMigrate(t *testing.T) {
	t.Parallel()
	h := newHome(t, two, `"cache":{"trustImported":true}`)
	other := h.file(t, "xiaozhi.cache.json", foreign)
	out, stderr, code := h.run(t, "cache", "migrate", other, "--dry-run")
	if code != 0 || !strings.Contains(out+stderr, "1.1.0") {
		t.Errorf("cache migrate: exit code %d: %s%s", code, out, stderr)
	}
	if raw, err := os.ReadFile(other); string(raw) != foreign || err != nil {
		t.Errorf("the file was changed: %v %s", err, raw)
	}
	if out, stderr, code := h.run(t, "cache", "import", other); code != 0 {
		t.Fatalf("cache import: exit code %d: %s%s", code, out, stderr)
	}
	if e := entry(t, h.cache(), "a"); !slices.Equal(tools(e), []string{"old"}) || e.Get("stateReason").Str != "imported" {
		t.Errorf("imported: %s", e.Raw)
	}
	if left, _ := filepath.Glob(other + ".*"); len(left) > 0 {
		t.Errorf("beside the file: %q", left)
	}
	g := h.serve(t)
	if got := names(t, legacy(t, g)); !slices.Contains(got, "a__old") {
		t.Errorf("listed: %q", got)
	}
}
