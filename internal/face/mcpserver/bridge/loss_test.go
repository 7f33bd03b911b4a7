package bridge_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/internal/face/mcpserver/bridge"
	"collie/internal/mcp"
	"collie/internal/tool"
	"collie/test/await"
)

// serveAt runs a bridge that starts at g and afterwards looks for gateways in h.
func serveAt(ctx context.Context, in *io.PipeReader, out io.Writer, g *gateway, h *home) error {
	return bridge.Serve(ctx, in, out, in.Close, g.address(), bridge.Options{Find: h.find, Open: h.open, LossWait: 300 * time.Millisecond})
}

// lossOutcomes are the ways in which a client can go on after its gateway has gone.
var lossOutcomes = map[string]func(h *home, next *gateway){
	"another comes back": func(h *home, next *gateway) { h.setFound(next, nil) },
	"none comes back":    func(h *home, next *gateway) { h.setFallback(next); h.setFound(nil, nil) },
	"it is not for us": func(h *home, next *gateway) {
		h.setFallback(next)
		h.setFound(nil, fmt.Errorf("%w: version 2", bridge.ErrOther))
	},
}

// forEachOutcome runs a test for each entry of lossOutcomes. lose ends the gateway one; the client then goes on with two.
func forEachOutcome(t *testing.T, test func(t *testing.T, h *home, c *client, one, two *gateway, lose func())) {
	t.Helper()
	for name, end := range lossOutcomes {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			one, two := newGateway(t, "one"), newGateway(t, "two")
			h := new(home)
			c := h.startClient(t, one)
			test(t, h, c, one, two, func() {
				end(h, two)
				one.crash()
			})
		})
	}
}

// A legacy session is restored at another gateway, with everything the client has set up. The client is told
// that lists may have changed. Requests in flight fail or are sent again.
func TestSessionGoesOn(t *testing.T) {
	t.Parallel()
	forEachOutcome(t, func(t *testing.T, h *home, c *client, one, two *gateway, lose func()) {
		c.openSession()
		for _, r := range []string{
			`"id":1,"method":"resources/subscribe","params":{"uri":"s://a"}`,
			`"id":2,"method":"resources/subscribe","params":{"uri":"s://b"}`,
			`"id":3,"method":"resources/unsubscribe","params":{"uri":"s://b"}`,
			`"id":4,"method":"logging/setLevel","params":{"level":"warning"}`,
		} {
			c.send(`{"jsonrpc":"2.0",%s}`, r)
			c.awaitLine(`"result":{}`)
		}
		c.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"s__hang","arguments":{}}}`)
		c.send(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"s__ask","arguments":{}}}`)
		c.awaitLine(`"elicitation/create"`, `"id":1,`)
		await.Until(t, "the call runs", func() bool { return one.running.Load() > 0 })

		lose()
		const failed = `"error":{"code":-32603,"message":"tools/call: the gateway went away before it answered, and the request may have taken effect`
		first := c.awaitLines(nil, `{"jsonrpc":"2.0","id":5,`+failed)
		c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`)
		all := c.awaitLines(first, // in any order
			`{"jsonrpc":"2.0","id":6,`+failed,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
			`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"s://a"}}`,
			`{"jsonrpc":"2.0","id":7,"result":{"content":[],"who":"two"}}`,
		)
		if text := strings.Join(all, "\n"); strings.Count(text, `"type":"server_crashed"`) != 2 || strings.Count(text, `"outcomeUnknown":true`) != 2 {
			t.Errorf("the errors do not say what happened:\n%s", text)
		}
		if text := strings.Join(all, "\n"); strings.Contains(text, "protocolVersion") || strings.Contains(text, "collie-again") {
			t.Errorf("the client sees what was said for it:\n%s", text)
		}
		if got := two.fake.Subscribed(); !slices.Equal(got, []string{"s://a"}) {
			t.Errorf("subscribed %q", got)
		}
		two.fake.Report(tool.Change{Kind: tool.LogMessage, Method: "notifications/message", Level: "error", Params: []byte(`{"level":"error","n":1}`)})
		c.awaitLine("notifications/message", `"n":1`)

		// A question of the new gateway has a new id; an answer to the old gateway is dropped.
		c.send(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"s__ask","arguments":{}}}`)
		m, err := mcp.Parse([]byte(c.awaitLine(`"elicitation/create"`)))
		if err != nil || m.ID == "1" {
			t.Errorf("asked again as %s: %v", m.Raw, err)
		}
		c.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","late":true}}`)
		c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, string(m.ID))
		c.awaitLine(`"id":8,"result":{"content":[],"answer":{"action":"decline"}}`)

		_ = c.in.Close()
		await.Until(t, "the session is over", func() bool { return two.handler().Sessions() == 0 })
		if h.fallback != nil {
			await.Until(t, "what was opened is closed", func() bool {
				h.mu.Lock()
				defer h.mu.Unlock()
				return h.opened == 1 && h.closed == 1
			})
		}
	})
}

// Requests that only read are sent again; those that arrive while there is no gateway wait.
func TestReadsAreAskedAgain(t *testing.T) {
	t.Parallel()
	forEachOutcome(t, func(_ *testing.T, _ *home, c *client, _, _ *gateway, lose func()) {
		c.openSession()
		lose()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__who","arguments":{},%s}}`, modernMeta)
		got := c.awaitLine(`"id":`) + c.awaitLine(`"id":`)
		if !strings.Contains(got, `"name":"s__who"`) || !strings.Contains(got, `"who":"two"`) {
			c.tb.Error(got)
		}
	})
}

// A client that has not sent initialize yet starts at the next gateway.
func TestBeginsElsewhere(t *testing.T) {
	t.Parallel()
	forEachOutcome(t, func(_ *testing.T, _ *home, c *client, _, _ *gateway, lose func()) {
		lose()
		c.openSession()
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`)
		c.awaitLine(`"id":2,`, `"who":"two"`)
	})
}

// A modern client's subscription goes on without a second acknowledgement.
func TestListeningGoesOn(t *testing.T) {
	t.Parallel()
	forEachOutcome(t, func(t *testing.T, _ *home, c *client, one, two *gateway, lose func()) {
		c.send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["s://a"]},%s}}`, modernMeta)
		c.awaitLine("notifications/subscriptions/acknowledged")
		one.fake.Touch("s://a")
		c.awaitLine("notifications/resources/updated", `"s://a"`)
		lose()
		c.awaitLine("notifications/tools/list_changed", `subscriptionId":"l"`)
		c.awaitLine("notifications/resources/updated", `subscriptionId":"l"`, `"s://a"`)
		two.fake.Touch("s://a")
		c.awaitLine("notifications/resources/updated", `subscriptionId":"l"`, `"s://a"`)
		c.expectNone("acknowledged")
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
		await.Until(t, "nobody listens", func() bool { return len(two.fake.Subscribed()) == 0 })
		c.expectNone(`"id":"l"`)
	})
}

// If only the session is lost, it is opened again at the same gateway.
func TestSessionForgotten(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	h := new(home)
	c := h.startClient(t, g)
	c.openSession()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"s://a"}}`)
	c.awaitLine(`"id":1,"result":{}`)
	if err := g.handler().Close(); err != nil {
		t.Fatal(err)
	}
	g.replaceHandler()
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`)
	c.awaitLine(`"id":2,`, `"who":"one"`)
	await.Until(t, "the subscription is there again", func() bool { return len(g.fake.Subscribed()) == 1 })
}

// Without any gateway, requests fail and the error says why. The next request makes the bridge look again.
func TestNoGatewayAtAll(t *testing.T) {
	t.Parallel()
	one, two := newGateway(t, "one"), newGateway(t, "two")
	h := new(home)
	c := h.startClient(t, one)
	c.openSession()
	h.setFound(nil, nil)
	one.crash()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	c.awaitLine(`"id":1,"error"`, "none could be opened here", "the settings are broken")
	h.setFound(two, nil)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__who","arguments":{}}}`)
	c.awaitLine(`"id":2,`, `"who":"two"`)
}

// When ctx ends, everything ends soon, whatever is in flight.
func TestStop(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	c := new(home).startClient(t, g)
	c.openSession()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__hang","arguments":{}}}`)
	await.Until(t, "the call runs", func() bool { return g.running.Load() == 1 })
	begun := time.Now()
	c.cancel()
	c.awaitLine(`"id":1,"error"`)
	await.Until(t, "the session is over", func() bool { return g.handler().Sessions() == 0 && g.running.Load() == 0 })
	await.Within(t, "the end", time.Since(begun), 2*time.Second)
}
