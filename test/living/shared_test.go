package living_test

import (
	"net/http"
	"testing"
	"time"

	"collie/internal/tool"
	"collie/test/await"
	"collie/test/gateway"
)

// Gateways offer the list that one of them has fetched without asking the server themselves, and they take over its
// changes.
func TestSharedChange(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	far := newRemote(t, "--offer", "echo,change")
	m := teamOf(t, gateway.Server{Name: "r", Entry: far.entry()})
	all := []*gateway.Gateway{m.reader(t, place)}
	all[0].Started(t)
	wantNames(t, legacy(t, all[0]), "r__echo", "r__change")
	awaitShared(t, all[0], 1)
	// The first gateway may fetch its list again once it hears of changes, but no other gateway opens a
	// connection.
	opened := func() int { return far.count("initialize") + far.count("server/discover") }
	before, apart := opened(), m.apart
	if before == 0 {
		t.Fatal("nobody has opened a connection")
	}
	for range 2 {
		g := m.reader(t, place)
		g.Started(t)
		wantNames(t, legacy(t, g), "r__echo", "r__change")
		if st := g.Servers(t)["r"]; st.Freshness != tool.FreshHit || st.Starts != 0 {
			t.Errorf("r, elsewhere: %+v", st)
		}
		all = append(all, g)
	}
	if n := opened() - before; (n > 0) != (m.apart > apart) {
		t.Errorf("%d connections were opened more by gateways that know the list, and %d starts by those that do not", n, m.apart-apart)
	}
	call(t, legacy(t, all[0]), "r__change", "{}")
	for _, g := range all[1:] {
		c := legacy(t, g)
		await.Until(t, "the others offer the new tool", func() bool { return len(names(t, c)) == 3 })
	}
}

// A shared place that does not answer delays the start for a moment, and has no other effect.
func TestDeadSharedPlace(t *testing.T) {
	t.Parallel()
	h := teamOf(t, two...).member(t, "nats://127.0.0.1:1")
	h.warm(t)
	begun := time.Now()
	g := h.serve(t)
	await.Within(t, "listening", time.Since(begun), 5*time.Second)
	c := legacy(t, g)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
	h.wantChildren(t, 0)
	works(t, c, "a")
	if status, _ := g.Ask(t, http.MethodGet, "/toolcache/stats", ""); status != http.StatusOK {
		t.Errorf("stats: status %d", status)
	}
}
