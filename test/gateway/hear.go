package gateway

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"collie/internal/mcp"
	"collie/test/await"
)

// Ears is a modern client that subscribes to the gateway's notifications about changes of the tool list, and counts them.
type Ears struct {
	deaf
	mu    sync.Mutex
	heard map[string]int // by method
}

// Hear opens a subscription and returns once it is active.
func (g *Gateway) Hear(tb testing.TB, token string) *Ears {
	tb.Helper()
	e := &Ears{heard: map[string]int{}}
	c := connect(tb, g.link(token, e), Modern)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { // ends with ctx
		params := c.Own(json.RawMessage(`{"notifications":{"toolsListChanged":true}}`))
		_, _ = c.Call(ctx, &mcp.Request{Method: "subscriptions/listen", Params: params})
	})
	tb.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	await.Until(tb, "the gateway takes the listener", func() bool { return e.Heard("notifications/subscriptions/acknowledged") > 0 })
	return e
}

// Heard returns how often the client has received a notification.
func (e *Ears) Heard(method string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard[method]
}

// ListChanges returns how often the client was told that the list of tools has changed.
func (e *Ears) ListChanges() int { return e.Heard("notifications/tools/list_changed") }

// Notification implements [mcp.Handler].
func (e *Ears) Notification(m mcp.Message, _ any) {
	e.mu.Lock()
	e.heard[m.Method]++
	e.mu.Unlock()
}
