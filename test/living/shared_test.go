package living_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collie/internal/tool"
	"collie/test/gateway"
)

// neighbours are houses with the same settings and the same key, as machines of one team are,
// which share a place.
func neighbours(t *testing.T, n int, servers []gateway.Server, shared func(i int) string) (all []*house) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "shared.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("5e", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		h := newHouse(t, nil)
		h.configure(t, servers, fmt.Sprintf(`"cache":{"shared":%q,"sharedKeyFile":%q}`, shared(i), key))
		all = append(all, h)
	}
	return all
}

// What one gateway has learned, others offer without asking; they are told of what changes; and
// what nobody has signed is used by nobody.
func TestPromise51SharedFolder(t *testing.T) {
	t.Parallel()
	place := "dir://" + filepath.ToSlash(t.TempDir())
	far := newRemote(t, "--offer", "echo,change")
	all := neighbours(t, 3, []gateway.Server{{Name: "r", Entry: far.entry()}}, func(int) string { return place })
	first := all[0].settled(t)
	wantNames(t, legacy(t, first), "r__echo", "r__change")
	eventually(t, "it is shared", func() bool {
		st := cacheStats(t, first)
		return st.Shared != nil && st.Shared.Pushed > 0
	})
	asked := far.count("tools/list")
	var others []*gateway.Gateway
	for _, h := range all[1:] {
		g := h.settled(t)
		wantNames(t, legacy(t, g), "r__echo", "r__change")
		if st := g.Servers(t)["r"]; st.Freshness != tool.FreshHit || st.Starts != 0 {
			t.Errorf("r, elsewhere: %+v", st)
		}
		others = append(others, g)
	}
	if n := far.count("tools/list"); n != asked {
		t.Errorf("the server was asked %d times more", n-asked)
	}
	call(t, legacy(t, first), "r__change", "{}")
	for _, g := range others {
		c := legacy(t, g)
		within(t, adopted, "the others offer the new tool", func() bool { return len(names(t, c)) == 3 })
	}
}

// A place that is dead costs a moment at the start, and nothing else.
func TestPromise51DeadPlace(t *testing.T) {
	t.Parallel()
	h := neighbours(t, 1, two, func(int) string { return "http://127.0.0.1:1/" })[0]
	h.warm(t)
	begun := time.Now()
	g := h.serve(t)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("listening after %v", took)
	}
	c := legacy(t, g)
	wantNames(t, c, "a__echo", "a__pid", "b__echo")
	h.wantChildren(t, 0)
	works(t, c, "a")
	if status, _ := g.Ask(t, http.MethodGet, "/toolcache/stats", ""); status != http.StatusOK {
		t.Errorf("stats: status %d", status)
	}
}
