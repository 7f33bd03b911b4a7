package toolcache_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
)

// world is several gateways, each with a file that may be the same as another's, and one shared place.
type world struct {
	caches []*toolcache.Cache
	files  []int            // which file each has
	told   map[string][]int // the lists of each server that were ever told
	seen   []map[string]*toolcache.Entry
}

// Gateways hear from servers, write and read in random order. In the end all agree with their file and with those who
// share: on lists that were told, with one for each server that anybody heard of. No gateway ever goes back to an
// earlier revision.
func TestGatewaysConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var place memory
		w := world{told: map[string][]int{}}
		benches := []*bench{newBench(t), newBench(t)}
		for i := range rapid.IntRange(2, 4).Draw(rt, "gateways") {
			b := benches[i%2]
			c := b.open(t, func(o *toolcache.Options) { o.Shared, o.Key = place.Open(), sharedKey })
			defer c.Close()
			w.caches, w.files, w.seen = append(w.caches, c), append(w.files, i%2), append(w.seen, map[string]*toolcache.Entry{})
			defer c.Watch(func(string) {})()
			c.Configured([]toolcache.Want{want("a", 1), want("b", 2), want("c", 3)})
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			at := rapid.IntRange(0, len(w.caches)-1).Draw(rt, "gateway")
			c, b := w.caches[at], benches[w.files[at]]
			switch rapid.SampledFrom([]string{"store", "flush", "pass", "forget"}).Draw(rt, "step") {
			case "store":
				n := rapid.IntRange(0, 2).Draw(rt, "server")
				name := string(rune('a' + n))
				v := len(w.told[name])
				w.told[name] = append(w.told[name], v)
				c.Store(name, entry(n+1, fmt.Sprintf("%s%d", name, v)))
			case "flush":
				flush(t, c)
			case "pass":
				b.pass(time.Second)
			case "forget":
				c.Failed("a", "list_failed") // a change that is not a new revision
			}
			for i := range w.caches {
				w.lists(rt, i)
			}
		}
		w.wantOne(rt, t)
	})
}

// lists returns the lists of one gateway, after checking that none is earlier than before.
func (w world) lists(rt *rapid.T, gateway int) map[string]string {
	out := map[string]string{}
	for i, name := range []string{"a", "b", "c"} {
		e, _, _ := w.caches[gateway].Lookup(want(name, i+1))
		if e == nil {
			continue
		}
		out[name] = string(e.Tools[0])
		if old := w.seen[gateway][name]; old != nil && (e.Rev < old.Rev || e.Rev == old.Rev && e.ValidatedAt.Before(old.ValidatedAt)) {
			rt.Fatalf("gateway %d has gone back from revision %d of %v to %d of %v", gateway, old.Rev, old.ValidatedAt, e.Rev, e.ValidatedAt)
		}
		w.seen[gateway][name] = e
	}
	return out
}

// wantOne lets all write and waits until they agree.
func (w world) wantOne(rt *rapid.T, t *testing.T) {
	t.Helper()
	await.Until(t, "those with one file agree", func() bool {
		for i, c := range w.caches {
			flush(t, c)
			if got := w.lists(rt, i); len(got) < len(w.told) || !cmp.Equal(w.lists(rt, w.files[i]), got) {
				return false
			}
		}
		return true
	})
	for name, got := range w.lists(rt, 0) {
		if !slices.ContainsFunc(w.told[name], func(v int) bool { return got == string(definition(fmt.Sprintf("%s%d", name, v))) }) {
			rt.Fatalf("%s has a list that nobody told: %s", name, got)
		}
	}
}
