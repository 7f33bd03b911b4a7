package gateway

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"collie/internal/mcp"
	"collie/test/await"
)

// Subscriber is a modern client that subscribes to the gateway's notifications about changes of the tool list, and counts them.
type Subscriber struct {
	deaf
	mu       sync.Mutex
	received map[string]int // by method
}

// Subscribe opens a subscription and returns once it is active.
func (g *Gateway) Subscribe(tb testing.TB, token string) *Subscriber {
	tb.Helper()
	s := &Subscriber{received: map[string]int{}}
	c := connect(tb, g.dialHTTP(token, s), Modern)
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
	await.Until(tb, "the gateway takes the listener", func() bool { return s.Received("notifications/subscriptions/acknowledged") > 0 })
	return s
}

// Received returns how often the client has received a notification.
func (s *Subscriber) Received(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received[method]
}

// ListChanges returns how often the client was told that the list of tools has changed.
func (s *Subscriber) ListChanges() int { return s.Received("notifications/tools/list_changed") }

// Notification implements [mcp.Handler].
func (s *Subscriber) Notification(m mcp.Message, _ any) {
	s.mu.Lock()
	s.received[m.Method]++
	s.mu.Unlock()
}
