package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"collie/internal/sorting"
)

type item struct{ key, at int }

func byKey(a, b item) int { return cmp.Compare(a.key, b.key) }

func TestSorts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		made := make([]item, n)
		for i := range made {
			made[i] = item{r.IntN(1 + n/4), i}
		}
		want, stable, by := slices.Clone(made), slices.Clone(made), slices.Clone(made)
		slices.SortStableFunc(want, byKey)
		sorting.Stable(stable, byKey)
		if !slices.Equal(stable, want) {
			t.Fatalf("stable order of %v is %v", made, stable)
		}
		sorting.By(by, byKey)
		if !slices.IsSortedFunc(by, byKey) {
			t.Fatalf("%v is not sorted", by)
		}
	}
}
