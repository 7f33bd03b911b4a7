//go:build stories

package clients_test

import (
	"bytes"
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"collie/test/binary"
	"collie/test/gateway"
)

const (
	// sessionLimit bounds a session of a client, which takes seconds.
	sessionLimit = 2 * time.Minute
	// leavingLimit bounds how long processes live on after their client.
	leavingLimit = 30 * time.Second
	note         = "milk and 面包"
)

// allCombinations makes the stories connect all clients in both ways, and use every view with each SDK in each era. Without it they
// cover only some of these combinations.
var allCombinations = flag.Bool("full", false, "also what a change seldom breaks")

// connections are the ways to connect a client: with the servers' tools known before its first session, or not.
var connections = []struct {
	name  string
	known bool
	args  []string
}{{name: "learnt by connect", known: true}, {name: "never seen", args: []string{"--no-warm"}}}

// TestClients has each client work in a new home. It checks which tools the model is shown in the first session, what
// their calls return, and that a second session finds the notes of the first.
func TestClients(t *testing.T) {
	modules, tools := binary.Packages(t, "."), binary.Packages(t, filepath.Join("..", "conformance"))
	node := binary.Node(t, tools)
	names := listTools(t, serverSettings(node, tools, t.TempDir()))
	for _, c := range clients {
		for i, way := range connections {
			if i > 0 && !*allCombinations {
				continue
			}
			t.Run(c.name+", "+way.name, func(t *testing.T) {
				t.Parallel()
				h := newHome(t, c, modules, node)
				config := filepath.Join(h.dir, "servers.json")
				writeSettings(t, config, serverSettings(node, tools, filepath.Join(h.dir, "work")))
				h.mustRun(t, h.Collie, append([]string{"connect", c.name, "--config", config}, way.args...)...)
				h.checkSession(t, way.known, names, c.withSearch(firstTurns), "42", note)
				h.checkSession(t, true, names, c.withSearch(secondTurns), note, "list.txt")
				h.AwaitNone(t, leavingLimit)
				for _, host := range h.requestedHosts() {
					if !slices.Contains(c.asks, host) {
						t.Errorf("the client asked for %s; the story is to need 127.0.0.1 alone", host)
					}
				}
			})
		}
	}
}

// home is a home with one client in it.
type home struct {
	gateway.Programs
	client client
	argv   []string // the client
	dir    string

	outside *httptest.Server // a proxy that refuses every connection
	mu      sync.Mutex
	hosts   []string
}

// newHome makes a home for a client, with the settings that it needs and a proxy that refuses and records connections
// to other machines.
func newHome(t *testing.T, c client, modules, node string) *home {
	t.Helper()
	h := &home{Programs: gateway.LinkPrograms(t), client: c, argv: []string{filepath.Join(modules, c.program)}}
	if _, err := os.Stat(h.argv[0]); err != nil {
		t.Fatalf("%s is not installed: %v; npm ci in test/clients does it, on linux x64", c.name, err)
	}
	if c.script {
		h.argv = append([]string{node}, h.argv...)
	}
	var err error
	if h.dir, err = os.MkdirTemp("", "collie-client-"); err != nil { //nolint:usetesting // sockets lie below, whose paths are short
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(h.dir) })
	if err := os.MkdirAll(filepath.Join(h.dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.outside = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.hosts = append(h.hosts, r.Host)
		h.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(h.outside.Close)
	if c.prepare != nil {
		c.prepare(t, h.dir)
	}
	return h
}

// requestedHosts returns the hosts that the proxy was asked to reach.
func (h *home) requestedHosts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(h.hosts)))
}

// serverSettings returns the settings of Collie's servers.
func serverSettings(node, modules, files string) map[string]any {
	entry := func(name string, args ...string) map[string]any {
		main := filepath.Join(modules, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
		return map[string]any{"command": node, "args": append([]string{main}, args...)}
	}
	return map[string]any{"mcpServers": map[string]any{"everything": entry("everything"), "filesystem": entry("filesystem", files)}}
}

// mustRun runs a program in the home and returns what it wrote to stdout.
func (h *home) mustRun(t *testing.T, name string, args ...string) string {
	t.Helper()
	return h.mustRunWith(t, nil, name, args...)
}

func (h *home) mustRunWith(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), sessionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(h.dir, "work")
	cmd.Env = h.env(env...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", filepath.Base(name), args[0], err, stderr.String(), stdout.String())
	}
	return stdout.String()
}

// env returns the environment of programs in the home, with the proxy and more.
func (h *home) env(more ...string) []string {
	env := []string{
		"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + h.dir, "LANG=C.UTF-8", "TERM=dumb",
		"HTTP_PROXY=" + h.outside.URL, "HTTPS_PROXY=" + h.outside.URL, "NO_PROXY=127.0.0.1,localhost",
		"http_proxy=" + h.outside.URL, "https_proxy=" + h.outside.URL, "no_proxy=127.0.0.1,localhost",
	}
	return append(env, more...)
}
