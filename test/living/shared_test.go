package living_test

import (
	"net/http"
	"testing"
	"time"

	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// Gateways offer the list that one of them has fetched without asking the server themselves, and when the list changes,
// they offer the new one.
func TestSharedChange(t *testing.T) {
	t.Parallel()
	place := startSharedPlace(t)
	far := newRemote(t, "--offer", "echo,change")
	m := teamOf(t, gateway.Server{Name: "r", Entry: far.entry()})
	all := []*gateway.Gateway{m.startReader(t, place)}
	all[0].AwaitReady(t)
	wantNames(t, dialLegacy(t, all[0]), "r__echo", "r__change")
	awaitShared(t, all[0], 1)
	// The first gateway may fetch its list again once it hears of changes, but no other gateway opens a
	// connection.
	opened := func() int { return far.countRequests("initialize") + far.countRequests("server/discover") }
	before, apartBefore := opened(), m.apartStarts
	if before == 0 {
		t.Fatal("nobody has opened a connection")
	}
	for range 2 {
		g := m.startReader(t, place)
		g.AwaitReady(t)
		wantNames(t, dialLegacy(t, g), "r__echo", "r__change")
		if st := g.Servers(t)["r"]; st.Freshness != tool.FreshHit || st.Starts != 0 {
			t.Errorf("r, elsewhere: %+v", st)
		}
		all = append(all, g)
	}
	// A gateway that could not read the shared place in time has asked the server itself, and nobody else has.
	connections, startsApart := opened()-before, m.apartStarts-apartBefore
	if connections > 0 && startsApart == 0 {
		t.Errorf("gateways that know the list have opened %d connections", connections)
	}
	if connections == 0 && startsApart > 0 {
		t.Errorf("gateways that could not read the shared place have started the server %d times without a connection", startsApart)
	}
	callTool(t, dialLegacy(t, all[0]), "r__change", "{}")
	for _, g := range all[1:] {
		c := dialLegacy(t, g)
		await.Until(t, "the others offer the new tool", func() bool { return len(listNames(t, c)) == 3 })
	}
}

// A shared place that does not answer delays the start for a moment, and has no other effect.
func TestDeadSharedPlace(t *testing.T) {
	t.Parallel()
	h := teamOf(t, twoServers...).newMember(t, "nats://127.0.0.1:1")
	h.fillCache(t)
	begun := time.Now()
	g := h.serve(t)
	await.Within(t, "listening", time.Since(begun), 5*time.Second)
	c := dialLegacy(t, g)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
	h.wantRunning(t, 0)
	wantEcho(t, c, "a")
	if status, _ := g.Ask(t, http.MethodGet, "/toolcache/stats", ""); status != http.StatusOK {
		t.Errorf("stats: status %d", status)
	}
}
