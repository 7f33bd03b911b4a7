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

// gateways is several gateways, each with a file that may be the same as another's, and one shared place.
type gateways struct {
	caches []*toolcache.Cache
	files  []int                         // for each gateway the number of its file, and of the first gateway with that file
	stored map[string][]int              // for each server the versions of its list that any gateway stored
	seen   []map[string]*toolcache.Entry // for each gateway what its last lookups returned, by server
}

// Gateways store lists, flush and read in random order. At every step each gateway returns only lists that were stored,
// and none goes back to an earlier revision. In the end, gateways with the same file return the same lists, one for each
// server for which any gateway stored a list, and so does a gateway that starts anew with that file.
func TestGatewaysConverge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var place memoryPlace
		w := gateways{stored: map[string][]int{}}
		benches := []*cacheFile{newCacheFile(t), newCacheFile(t)}
		for i := range rapid.IntRange(2, 4).Draw(rt, "gateways") {
			b := benches[i%2]
			c := b.open(t, func(o *toolcache.Options) { o.Shared, o.Key = place.Open(), sharedKey })
			defer c.Close()
			w.caches, w.files, w.seen = append(w.caches, c), append(w.files, i%2), append(w.seen, map[string]*toolcache.Entry{})
			defer c.Watch(func(string) {})()
			c.Configured([]toolcache.Want{newWant("a", 1), newWant("b", 2), newWant("c", 3)})
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			at := rapid.IntRange(0, len(w.caches)-1).Draw(rt, "gateway")
			c, b := w.caches[at], benches[w.files[at]]
			switch rapid.SampledFrom([]string{"store", "flush", "pass", "fail"}).Draw(rt, "step") {
			case "store":
				n := rapid.IntRange(0, 2).Draw(rt, "server")
				name := string(rune('a' + n))
				v := len(w.stored[name])
				w.stored[name] = append(w.stored[name], v)
				c.Store(name, newEntry(n+1, fmt.Sprintf("%s%d", name, v)))
			case "flush":
				mustFlush(t, c)
			case "pass":
				b.advance(time.Second)
			case "fail":
				c.Failed("a", "list_failed") // changes the entry without a new revision
			}
			for i := range w.caches {
				w.checkedLists(rt, i)
			}
		}
		w.wantAgreement(rt, t)
		w.wantKept(rt, t, benches)
	})
}

// checkedLists returns the lists of one gateway, after checking that each was stored and none is earlier than before.
func (w gateways) checkedLists(rt *rapid.T, gateway int) map[string]string {
	out := map[string]string{}
	for i, name := range []string{"a", "b", "c"} {
		e, _, _ := w.caches[gateway].Lookup(newWant(name, i+1))
		if e == nil {
			continue
		}
		if len(e.Tools) != 1 || !w.wasStored(name, string(e.Tools[0])) {
			rt.Fatalf("gateway %d has a list of %s that nobody stored: %s", gateway, name, e.Tools)
		}
		out[name] = string(e.Tools[0])
		if old := w.seen[gateway][name]; old != nil && (e.Rev < old.Rev || e.Rev == old.Rev && e.ValidatedAt.Before(old.ValidatedAt)) {
			rt.Fatalf("gateway %d has gone back from revision %d of %v to %d of %v", gateway, old.Rev, old.ValidatedAt, e.Rev, e.ValidatedAt)
		}
		w.seen[gateway][name] = e
	}
	return out
}

// wasStored reports whether any gateway stored a list with this tool.
func (w gateways) wasStored(server, tool string) bool {
	return slices.ContainsFunc(w.stored[server], func(v int) bool { return tool == string(definition(fmt.Sprintf("%s%d", server, v))) })
}

// wantAgreement flushes all gateways until those with the same file agree, and every gateway has a list of each server
// for which one was stored.
func (w gateways) wantAgreement(rt *rapid.T, t *testing.T) {
	t.Helper()
	await.Until(t, "those with one file agree", func() bool {
		for i, c := range w.caches {
			mustFlush(t, c)
			if got := w.checkedLists(rt, i); !w.isComplete(got) || !cmp.Equal(w.checkedLists(rt, w.files[i]), got) {
				return false
			}
		}
		return true
	})
}

// isComplete reports whether lists has exactly the servers for which lists were stored.
func (w gateways) isComplete(lists map[string]string) bool {
	for name := range w.stored {
		if lists[name] == "" {
			return false
		}
	}
	return len(lists) == len(w.stored)
}

// wantKept checks that the lists that gateways with the same file agreed on are in that file, where a gateway that starts
// anew finds them. A look-up may still take over a list from the shared place, which the next flush writes.
func (w gateways) wantKept(rt *rapid.T, t *testing.T, benches []*cacheFile) {
	t.Helper()
	for i, c := range w.caches {
		if w.files[i] != i {
			continue
		}
		await.Until(t, "the lists are in the file", func() bool {
			want := w.checkedLists(rt, i)
			mustFlush(t, c)
			return cmp.Equal(want, storedLists(t, benches[i]))
		})
	}
}

// storedLists returns the lists that a gateway has which starts anew with the file of b and no shared place.
func storedLists(t *testing.T, b *cacheFile) map[string]string {
	t.Helper()
	c := b.open(t)
	defer c.Close()
	c.Configured([]toolcache.Want{newWant("a", 1), newWant("b", 2), newWant("c", 3)})
	lists := map[string]string{}
	for i, name := range []string{"a", "b", "c"} {
		if e, _, _ := c.Lookup(newWant(name, i+1)); e != nil {
			lists[name] = string(e.Tools[0])
		}
	}
	return lists
}
