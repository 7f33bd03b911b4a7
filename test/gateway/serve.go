package gateway

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/face/cli/home"
	"collie/internal/pipeline/audit"
)

// Gateway is a running `collie serve`.
type Gateway struct {
	*Process
	// URL of the gateway, without a path.
	URL string
}

// Serve runs `collie serve` with the settings, on a free port, in a new home, and returns when it listens.
// Its servers may still be starting.
func (p Programs) Serve(tb testing.TB, settings string, args ...string) *Gateway {
	tb.Helper()
	return p.ServeIn(tb, tb.TempDir(), settings, args...)
}

// ServeIn is Serve in an existing home.
func (p Programs) ServeIn(tb testing.TB, home, settings string, args ...string) *Gateway {
	tb.Helper()
	run := p.start(tb, home, append([]string{"serve", "--config", settings, "--http", "127.0.0.1:0"}, args...)...)
	url := strings.TrimSuffix(run.AwaitStderr(tb, `https?://127\.0\.0\.1:\d+/mcp`), "/mcp")
	return &Gateway{run, url}
}

// AwaitReady waits until every server is ready, has failed or waits for its first use, and returns the line that says so.
func (g *Gateway) AwaitReady(tb testing.TB) string {
	tb.Helper()
	return g.AwaitStderr(tb, `ready: .*\n`)
}

// Keys returns the token of the token file, and the control and bridge keys of gateway.json.
func (g *Gateway) Keys(tb testing.TB) (token, control, bridge string) {
	tb.Helper()
	keys := g.readAnnouncement(tb)
	secret, err := os.ReadFile(filepath.Join(g.Home, "state", "token"))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(secret)), keys.Control, keys.Bridge
}

// Control returns the key that manages the gateway.
func (g *Gateway) Control(tb testing.TB) string {
	tb.Helper()
	return g.readAnnouncement(tb).Control
}

// readAnnouncement returns the content of gateway.json.
func (g *Gateway) readAnnouncement(tb testing.TB) (keys home.Gateway) {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(g.Home, "state", "gateway.json"))
	if err == nil {
		err = json.Unmarshal(raw, &keys)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return keys
}

// Records returns the audit records of a home, without those about the audit log's own hash chains.
func Records(tb testing.TB, home string) []audit.Entry {
	tb.Helper()
	var out []audit.Entry
	for e, err := range audit.Query(tb.Context(), filepath.Join(home, "state", "audit"), audit.Filter{}) {
		if err != nil {
			tb.Fatal(err)
		}
		if !strings.HasPrefix(e.Kind, "chain.") {
			out = append(out, e)
		}
	}
	return out
}
