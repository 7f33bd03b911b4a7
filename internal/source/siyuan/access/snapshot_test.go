package access_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// newSnapshot returns a snapshot with levels of notebooks. The kernel lists the notebooks in listed.
func newSnapshot(levels map[kernel.ID]access.Level, listed ...kernel.ID) *access.Snapshot {
	return access.NewSnapshot(levels, access.Read, func(context.Context) ([]kernel.Notebook, error) {
		out := make([]kernel.Notebook, 0, 10) // with spare capacity, as a decoded answer may have
		for _, id := range listed {
			out = append(out, kernel.Notebook{ID: id})
		}
		return out, nil
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	levels := []access.Level{access.None, access.Read, access.Write, access.Delete}
	for _, have := range levels {
		for _, need := range levels[1:] {
			s := newSnapshot(map[kernel.ID]access.Level{nbA: have})
			err := s.Check(nbA, need, access.Document, "/日记/今天")
			switch {
			case have >= need:
				if err != nil {
					t.Errorf("%s for %s: %v", have, need, err)
				}
			case have == access.None:
				if diff := cmp.Diff(access.NotFound(access.Document, "/日记/今天").Error(), err.Error()); diff != "" || strings.Contains(err.Error(), string(nbA)) {
					t.Errorf("a hidden notebook is told from one that does not exist:\n%s", diff)
				}
			default:
				e, ok := errors.AsType[*tool.Error](err)
				if !ok || e.Kind != tool.Denied || e.Facts["current_permission"] != have.String() || e.Facts["required_permission"] != need.Verb() {
					t.Errorf("%s for %s: %v", have, need, err)
				}
			}
		}
	}
	if newSnapshot(nil).Readable("") {
		t.Error("what belongs to no notebook can be read")
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	s := newSnapshot(map[kernel.ID]access.Level{nbB: access.None, nbC: access.Delete}, nbA, nbB, nbC)
	visible, err := s.Visible(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []kernel.ID
	for _, n := range visible {
		got = append(got, n.ID)
	}
	if !slices.Equal(got, []kernel.ID{nbA, nbC}) {
		t.Errorf("visible %v", got)
	}
}

func TestRestricted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		s    *access.Snapshot
		want bool
	}{
		"no levels":                  {newSnapshot(nil, nbA), false},
		"only r":                     {newSnapshot(map[kernel.ID]access.Level{nbA: access.Read}, nbA), false},
		"none, left out by kernel":   {newSnapshot(map[kernel.ID]access.Level{nbB: access.None}, nbA), true},
		"none, listed by the kernel": {newSnapshot(map[kernel.ID]access.Level{nbA: access.None}, nbA), true},
	} {
		if got, err := tc.s.Restricted(t.Context()); got != tc.want || err != nil {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}

func TestEverywhere(t *testing.T) {
	t.Parallel()
	s := newSnapshot(map[kernel.ID]access.Level{nbA: access.Delete, nbC: access.Write, nbB: access.Read}, nbA, nbC)
	if err := s.Everywhere(t.Context(), access.Read); err != nil {
		t.Error(err)
	}
	err := s.Everywhere(t.Context(), access.Delete)
	e, ok := errors.AsType[*tool.Error](err)
	if !ok || e.Kind != tool.Denied || !cmp.Equal(e.Facts["notebooks"], []string{string(nbC)}) { // nbB is gone and does not count
		t.Errorf("%#v", err)
	}
	hidden := newSnapshot(map[kernel.ID]access.Level{nbB: access.None}, nbA)
	err = hidden.Everywhere(t.Context(), access.Read)
	if e, ok := errors.AsType[*tool.Error](err); !ok || strings.Contains(string(e.Payload()), string(nbB)) || !strings.Contains(string(e.Payload()), `"notebooks":[]`) {
		t.Errorf("with a hidden notebook: %v", err)
	}
}

// TestSnapshotIsShared uses one snapshot from many goroutines under the race detector.
func TestSnapshotIsShared(t *testing.T) {
	t.Parallel()
	asked := 0
	s := access.NewSnapshot(map[kernel.ID]access.Level{nbB: access.Read, nbC: access.Read}, access.Read, func(context.Context) ([]kernel.Notebook, error) {
		if asked++; asked == 1 {
			return nil, errors.New("away")
		}
		return append(make([]kernel.Notebook, 0, 8), kernel.Notebook{ID: nbA}), nil
	})
	if _, err := s.All(t.Context()); err == nil {
		t.Error("an error was lost")
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := s.Everywhere(t.Context(), access.Read); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if asked != 2 {
		t.Errorf("the notebooks were listed %d times, want once with success", asked)
	}
}

// A refusal names the notebook if its name is known already, and never requests it.
func TestDeniedNamesTheNotebook(t *testing.T) {
	t.Parallel()
	asked := 0
	s := access.NewSnapshot(map[kernel.ID]access.Level{nbA: access.Read}, access.Read, func(context.Context) ([]kernel.Notebook, error) {
		asked++
		return []kernel.Notebook{{ID: nbB, Name: "Other"}, {ID: nbA, Name: "工作"}}, nil
	})
	if err := s.Check(nbA, access.Write, access.Notebook, string(nbA)); !strings.Contains(err.Error(), "notebook "+string(nbA)+" allows r") || asked != 0 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if _, err := s.Visible(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := s.Check(nbA, access.Write, access.Notebook, string(nbA))
	if want := `notebook "工作" (` + string(nbA) + `) allows r, this needs rw`; !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}
