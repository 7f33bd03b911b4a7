package living_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
	"collie/test/gateway"
)

// changeableServer is a server whose list of tools a test can change: it reads its definitions from a file when it starts.
type changeableServer struct {
	h    *home
	name string
	path string
}

// newChangeable writes the definitions file of a server that offers these tools.
func (h *home) newChangeable(t *testing.T, name string, offer ...string) *changeableServer {
	t.Helper()
	m := &changeableServer{h: h, name: name, path: filepath.Join(h.dir, name+".definitions")}
	m.setTools(t, offer...)
	return m
}

// server returns the entry for the settings. more are further members of it.
func (m *changeableServer) server(more ...string) gateway.Server {
	return gateway.Server{Name: m.name, Flags: []string{"--definitions", m.path}, More: strings.Join(more, ",")}
}

// setTools sets the tools that the server lists from its next start on.
func (m *changeableServer) setTools(t *testing.T, offer ...string) {
	t.Helper()
	m.h.writeFile(t, filepath.Base(m.path), definitionsText(offer...))
}

// definitionsText returns the text of a definitions file with these tools.
func definitionsText(offer ...string) string {
	list := []map[string]any{}
	for _, name := range offer {
		list = append(list, map[string]any{"name": name, "description": name + " does what it says", "inputSchema": map[string]any{"type": "object"}})
	}
	raw, err := json.Marshal(map[string]any{"tools": list})
	if err != nil {
		panic(err) // strings and maps always encode
	}
	return string(raw)
}

// restartWith changes the tools of the server and restarts it in the running gateway.
func (m *changeableServer) restartWith(t *testing.T, g *gateway.Gateway, offer ...string) {
	t.Helper()
	m.setTools(t, offer...)
	if status, answer := g.Act(t, m.name, "restart"); status != 200 {
		t.Fatalf("restart: status %d: %s", status, answer)
	}
}

// cacheStats returns the gateway's statistics about its cache.
func cacheStats(t *testing.T, g *gateway.Gateway) (st toolcache.Stats) {
	t.Helper()
	g.Get(t, "/toolcache/stats", &st)
	return st
}

// testReadOnly checks what happens if the cache must not be written: it is used and left unchanged, one warning
// is logged, and once writing is allowed, the gateway writes again without a restart.
func testReadOnly(t *testing.T, forbid, allow func(t *testing.T, path string)) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "c.json")
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), twoServers[1]}, fmt.Sprintf(`"cache":{"file":%q}`, file))
	h.fillCacheAt(t, file)
	forbid(t, file)
	t.Cleanup(func() { allow(t, file) })
	before := readVersion(t, file)

	g := h.serve(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	h.wantRunning(t, 0)
	for i := range 3 {
		m.restartWith(t, g, "echo", fmt.Sprintf("new%d", i))
		awaitNames(t, c, "m__echo", fmt.Sprintf("m__new%d", i), "b__echo")
		await.Never(t, 400*time.Millisecond, "the file was written", func() bool { return versionsDiffer(before, readVersion(t, file)) })
	}
	wantUnwritten(t, file, before)
	if got := linesWith(g.Stderr(), "read-only"); len(got) != 1 {
		t.Errorf("want one warning, got %q", got)
	}
	if st := cacheStats(t, g); st.Writable || st.Writes.Failed["read_only"] == 0 || st.Writes.OK != 0 {
		t.Errorf("stats: writable %t, writes %+v", st.Writable, st.Writes)
	}
	if left := temporaryFiles(t, file); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	allow(t, file)
	m.restartWith(t, g, "echo", "last")
	await.Until(t, "it is written again", func() bool { return slices.Equal(toolNames(cacheEntry(t, file, "m")), []string{"echo", "last"}) })
	await.Until(t, "the statistics say so", func() bool { return cacheStats(t, g).Writable })
	verifyCache(t, file)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	testReadOnly(t,
		func(t *testing.T, path string) { chmod(t, path, 0o444) },
		func(t *testing.T, path string) { chmod(t, path, 0o644) })
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	testReadOnly(t,
		func(t *testing.T, path string) { chmod(t, filepath.Dir(path), 0o555) },
		func(t *testing.T, path string) { chmod(t, filepath.Dir(path), 0o700) })
}

// A missing folder is created, accessible to its owner only.
func TestMissingFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "er", "c.json")
	h := newHome(t, twoServers, fmt.Sprintf(`"cache":{"file":%q}`, file))
	g := h.serveReady(t)
	await.Until(t, "it is written", func() bool { return cacheEntry(t, file, "a").Exists() })
	wantMode(t, filepath.Dir(file), 0o700)
	wantMode(t, filepath.Dir(filepath.Dir(file)), 0o700)
	wantMode(t, file, 0o600)
	stopGateway(t, g)
	if err := os.RemoveAll(filepath.Dir(filepath.Dir(file))); err != nil {
		t.Fatal(err)
	}
	stopGateway(t, h.serveReady(t))
	verifyCache(t, file)
}

// The mode of the file also counts if the user is root, whom the system lets write anything.
func TestReadOnlyFileAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("root alone may write read-only files; TestReadOnlyFile is the same for others")
	}
	probe := filepath.Join(t.TempDir(), "probe")
	if err := os.WriteFile(probe, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(probe, os.O_WRONLY, 0); err != nil {
		t.Skipf("this root may not write read-only files either: %v", err)
	} else {
		_ = f.Close()
	}
	testReadOnly(t,
		func(t *testing.T, path string) { chmod(t, path, 0o444) },
		func(t *testing.T, path string) { chmod(t, path, 0o600) })
}

// If the cache file is a symbolic link, its target is written and the link stays.
func TestSymbolicLink(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server()})
	target := filepath.Join(t.TempDir(), "target.json")
	if err := os.Symlink(target, h.cachePath()); err != nil { // the target of the link is created too
		t.Fatal(err)
	}
	g := h.serveReady(t)
	await.Until(t, "the target is written", func() bool { return cacheEntry(t, target, "m").Exists() })
	m.restartWith(t, g, "echo", "new")
	await.Until(t, "the target is written again", func() bool { return len(toolNames(cacheEntry(t, target, "m"))) == 2 })
	if to, err := os.Readlink(h.cachePath()); to != target || err != nil {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	stopGateway(t, g)
	g = h.serve(t)
	wantNames(t, dialLegacy(t, g), "m__echo", "m__new")
	h.wantRunning(t, 0)
}

// If somebody else replaces the cache file, a valid one is read, and an invalid one is ignored with a warning.
func TestReplacedWhileRunning(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), twoServers[1]})
	h.fillCache(t)
	m.setTools(t, "echo", "new")
	g := h.serve(t)
	c := dialLegacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	good := readCacheText(t, h.cachePath())

	replaceFile(t, h.cachePath(), []byte("invalid json"))
	await.Until(t, "there is a warning", func() bool { return len(linesWith(g.Stderr(), "line 1 column 1")) > 0 })
	wantNames(t, c, "m__echo", "b__echo")
	if got, err := os.ReadFile(h.cachePath()); string(got) != "invalid json" || err != nil {
		t.Errorf("the file is %q, %v: it was taken away from whoever edits it", got, err)
	}

	replaceFile(t, h.cachePath(), []byte(good))
	if out, stderr, code := h.run(t, "call", "m", "echo", "--local"); code != 0 { // another process, which learns the new list and writes it
		t.Fatalf("call: exit code %d: %s%s", code, out, stderr)
	}
	await.Until(t, "another process has written it", func() bool { return len(toolNames(cacheEntry(t, h.cachePath(), "m"))) == 2 })
	await.Until(t, "the gateway has read it", func() bool { return len(listNames(t, c)) == 3 })
	if st := g.Servers(t)["m"]; st.Starts != 0 {
		t.Errorf("m: %+v", st)
	}
}

// If the cache file is deleted, the next change writes it again with all entries.
func TestDeletedWhileRunning(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), twoServers[1]})
	h.fillCache(t)
	g := h.serve(t)
	c := dialLegacy(t, g)
	if err := os.Remove(h.cachePath()); err != nil {
		t.Fatal(err)
	}
	await.Moment(300 * time.Millisecond) // for the gateway to notice the deletion, of which there is no sign
	wantNames(t, c, "m__echo", "b__echo")
	m.restartWith(t, g, "echo", "new")
	await.Until(t, "it is there again", func() bool { return len(toolNames(cacheEntry(t, h.cachePath(), "m"))) == 2 })
	if got := toolNames(cacheEntry(t, h.cachePath(), "b")); !slices.Equal(got, []string{"echo"}) {
		t.Errorf("of the server that was not used it has %q", got)
	}
	verifyCache(t, h.cachePath())
}
