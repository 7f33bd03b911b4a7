package access_test

import (
	"context"
	"testing"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
)

// TestUnder: for every level and every ceiling, listed or not, everything in the snapshot goes by the lower of the
// two.
func TestUnder(t *testing.T) {
	t.Parallel()
	levels := []access.Level{access.None, access.Read, access.Write, access.Delete}
	for _, own := range levels {
		for _, most := range levels {
			for _, c := range []struct {
				name    string
				listed  map[kernel.ID]access.Level
				ceiling access.Ceiling
				own     access.Level
			}{
				{name: "both listed", listed: map[kernel.ID]access.Level{nbA: own}, ceiling: access.Ceiling{Listed: map[kernel.ID]access.Level{nbA: most}, Others: access.Delete}, own: own},
				{name: "others", listed: map[kernel.ID]access.Level{nbA: own}, ceiling: access.Ceiling{Others: most}, own: own},
				{name: "no file", ceiling: access.Ceiling{Listed: map[kernel.ID]access.Level{nbA: most}}, own: access.Read},
				{name: "neither", ceiling: access.Ceiling{Others: most}, own: access.Read},
			} {
				reads := 0
				before := access.NewSnapshot(c.listed, access.Read, func(context.Context) ([]kernel.Notebook, error) {
					reads++
					return []kernel.Notebook{{ID: nbA}}, nil
				})
				s, want := before.Under(c.ceiling), min(c.own, most)
				if got := s.Of(nbA); got != want || before.Of(nbA) != c.own {
					t.Errorf("%s: %s under %s is %s, and %s before", c.name, c.own, most, got, before.Of(nbA))
				}
				for _, need := range levels[1:] {
					if err := s.Check(nbA, need, access.Notebook, string(nbA)); (err == nil) != (want >= need) {
						t.Errorf("%s: %s under %s for %s: %v", c.name, c.own, most, need, err)
					}
					if err := s.Everywhere(t.Context(), need); (err == nil) != (want >= need) && c.ceiling.Others > access.None {
						t.Errorf("%s: %s under %s for %s everywhere: %v", c.name, c.own, most, need, err)
					}
				}
				visible, err := s.Visible(t.Context())
				if err != nil || (len(visible) == 1) != (want > access.None) {
					t.Errorf("%s: %s under %s shows %v, %v", c.name, c.own, most, visible, err)
				}
				restricted, err := s.Restricted(t.Context())
				if err != nil || !restricted && want == access.None {
					t.Errorf("%s: %s under %s is restricted: %v, %v", c.name, c.own, most, restricted, err)
				}
				if _, err := before.All(t.Context()); err != nil || reads != 1 {
					t.Errorf("the notebooks were read %d times: %v", reads, err)
				}
			}
		}
	}
	all := newSnapshot(map[kernel.ID]access.Level{nbA: access.Delete}, nbA, nbB).Under(access.Ceiling{})
	if visible, err := all.Visible(t.Context()); err != nil || len(visible) > 0 || all.Everywhere(t.Context(), access.Read) == nil {
		t.Errorf("the zero ceiling shows %v, %v", visible, err)
	}
}
