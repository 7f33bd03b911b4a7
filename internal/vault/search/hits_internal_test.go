package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFirstHits compares the hits that a hitCollector keeps with the first ones of all hits after sorting. The orders
// of results are random, and hits arrive sorted, reversed or at random.
func TestFirstHits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		order := r.IntN(orderRank + 2)
		compare := comparisonFor(order)
		all := make([]hit, r.IntN(4000))
		for i := range all {
			all[i] = hit{n: int64(i), number: r.Int64N(3), stamp: r.Uint64N(1 + r.Uint64N(5000))}
			if r.IntN(4) == 0 {
				all[i].text = string(rune('a' + r.IntN(5)))
			}
		}
		sorted := slices.SortedFunc(slices.Values(all), func(a, b hit) int { return compare(&a, &b) })
		switch round % 3 {
		case 0:
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		case 1:
			all = slices.Clone(sorted)
			slices.Reverse(all)
		}
		most := r.IntN(2000)
		f := hitCollector{compare: compare, limit: most}
		for i := range all {
			f.add(all[i])
		}
		f.sort()
		want := sorted
		if most > 0 {
			want = sorted[:min(most, len(sorted))]
		}
		if !slices.Equal(f.first, want) {
			t.Fatalf("round %d: the first %d of %d hits in order %d are not those of a sort", round, most, len(all), order)
		}
	}
}

// TestFirstHitsAskLittle limits the comparisons and allocations for hits of which each is better than all before, as in a search
// for a frequent word that lists new notes first. It does not run in parallel, because allocations of other tests would count.
func TestFirstHitsAskLittle(t *testing.T) { //nolint:paralleltest // see above
	const found = 33000
	asked, compare := 0, comparisonFor(orderKind)
	var f hitCollector
	made := testing.AllocsPerRun(1, func() {
		asked = 0
		f = hitCollector{limit: defaultPageSize, compare: func(a, b *hit) int {
			asked++
			return compare(a, b)
		}}
		for n := range int64(found) {
			f.add(hit{n: n, stamp: uint64(n)})
		}
		f.sort()
	})
	if asked > 6*found {
		t.Errorf("%d comparisons of %d hits, expected at most six of each", asked, found)
	}
	if made > 1000 {
		t.Errorf("%.0f objects for %d hits", made, found)
	}
	if len(f.first) != defaultPageSize || f.first[0].n != found-1 {
		t.Errorf("%d hits, the first %+v", len(f.first), f.first[:1])
	}
}
