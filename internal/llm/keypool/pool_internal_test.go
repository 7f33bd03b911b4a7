package keypool

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawKeys draws up to maxKeys keys with weights.
func drawKeys(t *rapid.T, maxKeys int) []Key {
	var keys []Key
	for i, w := range rapid.SliceOfN(rapid.IntRange(1, 20), 2, maxKeys).Draw(t, "weights") {
		keys = append(keys, Key{Label: string(rune('A' + i)), Weight: w})
	}
	return keys
}

func newPool(keys ...Key) (*Pool, *provider) {
	p := New(Options{})
	p.Apply([]Provider{{"p", keys}})
	pr := p.providers["p"]
	pr.expire(0)
	return p, pr
}

func (pr *provider) counters() (sum int, all []int) {
	for _, t := range pr.slots {
		sum += t.counter
		all = append(all, t.counter)
	}
	return sum, all
}

func TestTurnsAreSmooth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := drawKeys(t, 12)
		_, pr := newPool(keys...)
		total := 0
		for _, k := range keys {
			total += k.Weight
		}
		counts := make([]int, len(keys))
		for n := 1; n <= 2*total; n++ {
			k := pr.pick(&Request{Provider: "p"}, 0)
			sum, all := pr.counters()
			if sum != 0 {
				t.Fatalf("after %d picks the counters are %v", n, all)
			}
			for i := range pr.keys {
				if pr.keys[i] == k {
					counts[i]++
				}
				if off := float64(counts[i]) - float64(n*keys[i].Weight)/float64(total); off > 1.5 || off < -1.5 {
					t.Fatalf("after %d picks key %d of %d was chosen %d times", n, i, keys[i].Weight, counts[i])
				}
			}
			if n%total != 0 {
				continue
			}
			for i := range keys {
				if counts[i] != n/total*keys[i].Weight || pr.slots[i].counter != 0 {
					t.Fatalf("after %d picks: %v, counters %v", n, counts, all)
				}
			}
		}
	})
}

// pickLabels returns the labels of the next n picks.
func pickLabels(pr *provider, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pr.pick(&Request{}, 0).Label)
	}
	return b.String()
}

func TestHeavyKeyDoesNotBurst(t *testing.T) {
	t.Parallel()
	_, pr := newPool(Key{Label: "A", Weight: 5}, Key{Label: "B", Weight: 1}, Key{Label: "C", Weight: 1})
	if got := pickLabels(pr, 14); got != "AABACAAAABACAA" {
		t.Error(got)
	}
}

// A key that cannot be used is never picked, and does not catch up when it can be used again.
func TestUnavailableKeysWait(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := drawKeys(t, 8)
		_, pr := newPool(keys...)
		for range rapid.IntRange(0, 30).Draw(t, "before") {
			pr.pick(&Request{}, 0)
		}
		out := pr.keys[rapid.IntRange(0, len(keys)-1).Draw(t, "out")]
		out.Disabled, pr.limited = true, true
		pr.expire(0)
		for range rapid.IntRange(1, 50).Draw(t, "while") {
			if pr.pick(&Request{}, 0) == out || pr.counterOf(out) != 0 {
				t.Fatalf("key %s, counter %d", out.Label, pr.counterOf(out))
			}
		}
		out.Disabled = false
		pr.expire(0)
		total := 0
		for _, k := range keys {
			total += k.Weight
		}
		got := 0
		for range total {
			if pr.pick(&Request{}, 0) == out {
				got++
			}
		}
		if got > out.Weight+1 {
			t.Fatalf("a key of %d of %d came back and was chosen %d times", out.Weight, total, got)
		}
	})
}

// pickFree picks the same keys as the general loop, from any state.
func TestPickFreeEqualsPick(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := drawKeys(t, 16)
		_, a := newPool(keys...)
		_, b := newPool(keys...)
		for n := range 100 {
			b.allFree = false
			r := Request{}
			if rapid.IntRange(0, 9).Draw(t, "another try") == 0 {
				r.tried[0], r.n = a.keys[n%len(keys)], 1 // a key of pool a
				_ = b.pick(&Request{tried: [MaxKeys]*key{b.keys[n%len(keys)]}, n: 1}, 0)
				_ = a.pick(&r, 0)
				continue
			}
			if x, y := a.pick(&r, 0), b.pick(&r, 0); x.Label != y.Label {
				t.Fatalf("pick %d: %s, and %s by the general loop", n, x.Label, y.Label)
			}
		}
	})
}

func TestSameHistorySameSequence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := drawKeys(t, 12)
		_, a := newPool(keys...)
		p, b := newPool(keys...)
		n := rapid.IntRange(1, 100).Draw(t, "n")
		if x, y := pickLabels(a, n), pickLabels(b, n); x != y {
			t.Fatalf("%s and %s", x, y)
		}
		_, before := b.counters()
		p.Apply([]Provider{{"p", append(keys, Key{Label: "new", Weight: 3})}})
		_, after := p.providers["p"].counters()
		for i := range before {
			if before[i] != after[i] {
				t.Fatalf("a further key makes %v of %v", after, before)
			}
		}
		if after[len(before)] != 0 {
			t.Fatal("the new key does not begin at 0")
		}
	})
}

// The number of bindings is limited; the one that was unused longest is removed first.
func TestBindingsAreBounded(t *testing.T) {
	t.Parallel()
	p, pr := newPool(Key{Label: "A", Weight: 1})
	bind := func(n, now int64) {
		session := strconv.FormatInt(n, 10)
		p.bind(p.bindings.find("p", session), session, pr.keys[0], now)
	}
	bound := func(n string) bool { return p.bindings.find("p", n) != nil }
	for n := range int64(maxBindings) {
		bind(n, n+1)
	}
	bind(0, maxBindings+1) // the oldest binding becomes the newest
	if !bound("1") {
		t.Error("the second is gone early")
	}
	bind(maxBindings, maxBindings+2)
	if len(p.bindings.all) != maxBindings || !bound("0") || bound("1") {
		t.Errorf("%d bindings, the first there: %v, the second: %v", len(p.bindings.all), bound("0"), bound("1"))
	}
}
