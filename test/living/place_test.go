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

// mood is a server whose list of tools a test can change: it reads its definitions from a file when it starts.
type mood struct {
	h    *home
	name string
	path string
}

// moody writes the definitions file of a server that offers these tools.
func (h *home) moody(t *testing.T, name string, offer ...string) *mood {
	t.Helper()
	m := &mood{h: h, name: name, path: filepath.Join(h.dir, name+".definitions")}
	m.offers(t, offer...)
	return m
}

// server returns the entry for the settings. more are further members of it.
func (m *mood) server(more ...string) gateway.Server {
	return gateway.Server{Name: m.name, Flags: []string{"--definitions", m.path}, More: strings.Join(more, ",")}
}

// offers sets the tools that the server lists from its next start on.
func (m *mood) offers(t *testing.T, offer ...string) {
	t.Helper()
	m.h.file(t, filepath.Base(m.path), definitions(offer...))
}

// definitions returns the text of a definitions file with these tools.
func definitions(offer ...string) string {
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

// changes changes the tools of the server and restarts it in the running gateway.
func (m *mood) changes(t *testing.T, g *gateway.Gateway, offer ...string) {
	t.Helper()
	m.offers(t, offer...)
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

// readOnly checks what happens if the cache must not be written: it is used and left unchanged, one warning
// is logged, and once writing is allowed, the gateway writes again without a restart.
func readOnly(t *testing.T, forbid, allow func(t *testing.T, path string)) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "c.json")
	h := newHome(t, nil)
	m := h.moody(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), two[1]}, fmt.Sprintf(`"cache":{"file":%q}`, file))
	h.warmIn(t, file)
	forbid(t, file)
	t.Cleanup(func() { allow(t, file) })
	before := identify(t, file)

	g := h.serve(t)
	c := legacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	h.wantChildren(t, 0)
	for i := range 3 {
		m.changes(t, g, "echo", fmt.Sprintf("new%d", i))
		awaitNames(t, c, "m__echo", fmt.Sprintf("m__new%d", i), "b__echo")
		await.Never(t, 400*time.Millisecond, "the file was written", func() bool { return changed(before, identify(t, file)) })
	}
	wantSame(t, file, before)
	if got := linesWith(g.Stderr(), "read-only"); len(got) != 1 {
		t.Errorf("want one warning, got %q", got)
	}
	if st := cacheStats(t, g); st.Writable || st.Writes.Failed["read_only"] == 0 || st.Writes.OK != 0 {
		t.Errorf("stats: writable %t, writes %+v", st.Writable, st.Writes)
	}
	if left := temporaries(t, file); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	allow(t, file)
	m.changes(t, g, "echo", "last")
	await.Until(t, "it is written again", func() bool { return slices.Equal(tools(entry(t, file, "m")), []string{"echo", "last"}) })
	await.Until(t, "the statistics say so", func() bool { return cacheStats(t, g).Writable })
	verify(t, file)
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	onUnix(t)
	readOnly(t,
		func(t *testing.T, path string) { chmod(t, path, 0o444) },
		func(t *testing.T, path string) { chmod(t, path, 0o644) })
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	onUnix(t)
	readOnly(t,
		func(t *testing.T, path string) { chmod(t, filepath.Dir(path), 0o555) },
		func(t *testing.T, path string) { chmod(t, filepath.Dir(path), 0o700) })
}

// A missing folder is created, accessible to its owner only.
func TestMissingFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "er", "c.json")
	h := newHome(t, two, fmt.Sprintf(`"cache":{"file":%q}`, file))
	g := h.started(t)
	await.Until(t, "it is written", func() bool { return entry(t, file, "a").Exists() })
	wantMode(t, filepath.Dir(file), 0o700)
	wantMode(t, filepath.Dir(filepath.Dir(file)), 0o700)
	wantMode(t, file, 0o600)
	stop(t, g)
	if err := os.RemoveAll(filepath.Dir(filepath.Dir(file))); err != nil {
		t.Fatal(err)
	}
	stop(t, h.started(t))
	verify(t, file)
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
	readOnly(t,
		func(t *testing.T, path string) { chmod(t, path, 0o444) },
		func(t *testing.T, path string) { chmod(t, path, 0o600) })
}

// If the cache file is a symbolic link, its target is written and the link stays.
func TestSymbolicLink(t *testing.T) {
	t.Parallel()
	onUnix(t)
	h := newHome(t, nil)
	m := h.moody(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server()})
	target := filepath.Join(t.TempDir(), "target.json")
	if err := os.Symlink(target, h.cache()); err != nil { // the target of the link is created too
		t.Fatal(err)
	}
	g := h.started(t)
	await.Until(t, "the target is written", func() bool { return entry(t, target, "m").Exists() })
	m.changes(t, g, "echo", "new")
	await.Until(t, "the target is written again", func() bool { return len(tools(entry(t, target, "m"))) == 2 })
	if to, err := os.Readlink(h.cache()); to != target || err != nil {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	stop(t, g)
	g = h.serve(t)
	wantNames(t, legacy(t, g), "m__echo", "m__new")
	h.wantChildren(t, 0)
}

// If somebody else replaces the cache file, a valid one is read, and an invalid one is ignored with a warning.
func TestReplacedWhileRunning(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.moody(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), two[1]})
	h.warm(t)
	m.offers(t, "echo", "new")
	g := h.serve(t)
	c := legacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	good := stored(t, h.cache())

	replace(t, h.cache(), []byte("invalid json"))
	await.Until(t, "there is a warning", func() bool { return len(linesWith(g.Stderr(), "line 1 column 1")) > 0 })
	wantNames(t, c, "m__echo", "b__echo")
	if got, err := os.ReadFile(h.cache()); string(got) != "invalid json" || err != nil {
		t.Errorf("the file is %q, %v: it was taken away from whoever edits it", got, err)
	}

	replace(t, h.cache(), []byte(good))
	if out, stderr, code := h.run(t, "call", "m", "echo", "--local"); code != 0 { // another process, which learns the new list and writes it
		t.Fatalf("call: exit code %d: %s%s", code, out, stderr)
	}
	await.Until(t, "another process has written it", func() bool { return len(tools(entry(t, h.cache(), "m"))) == 2 })
	await.Until(t, "the gateway has read it", func() bool { return len(names(t, c)) == 3 })
	if st := g.Servers(t)["m"]; st.Starts != 0 {
		t.Errorf("m: %+v", st)
	}
}

// If the cache file is deleted, the next change writes it again with all entries.
func TestDeletedWhileRunning(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.moody(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), two[1]})
	h.warm(t)
	g := h.serve(t)
	c := legacy(t, g)
	if err := os.Remove(h.cache()); err != nil {
		t.Fatal(err)
	}
	await.Moment(300 * time.Millisecond) // for the gateway to notice the deletion, of which there is no sign
	wantNames(t, c, "m__echo", "b__echo")
	m.changes(t, g, "echo", "new")
	await.Until(t, "it is there again", func() bool { return len(tools(entry(t, h.cache(), "m"))) == 2 })
	if got := tools(entry(t, h.cache(), "b")); !slices.Equal(got, []string{"echo"}) {
		t.Errorf("of the server that was not used it has %q", got)
	}
	verify(t, h.cache())
}
