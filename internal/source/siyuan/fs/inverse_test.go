package fs_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/kernel"
)

// TestMoveCanBeTakenBack moves a document and runs the inverse call.
func TestMoveCanBeTakenBack(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"renamed": "/Work/Other/New 新", "into a notebook": "/Attic"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := actiontest.New(t)
			work, _ := kit.Notebook("Work"), kit.Notebook("Attic")
			id := kit.Doc(work, "/Plan", "text")
			kit.Doc(work, "/Other", "other")
			mv := act(t, "mv")
			r := kit.Request(t, mv, actiontest.Args("from", "/Work/Plan", "to", to))
			if err := r.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			inverse, err := mv.Inverse(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			kit.Must(t, mv, string(inverse.Args))
			ids, err := kit.Client.IDsByHPath(t.Context(), kernel.ID(work), "/Plan")
			if err != nil || len(ids) != 1 || string(ids[0]) != id {
				t.Errorf("after both moves /Plan is %v, %v; want %s", ids, err, id)
			}
		})
	}
}

// TestOrderCanBeTakenBack orders documents and runs the inverse call.
func TestOrderCanBeTakenBack(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := kit.Notebook("Work")
	for _, hpath := range []string{"/乙", "/B", "/Twice", "/Twice"} {
		kit.Doc(work, hpath, "x")
	}
	before := texts(kit.Must(t, act(t, "ls"), args("path", "/Work")), "items.#.path")
	order := slices.Clone(before)
	slices.Reverse(order)
	reorder := act(t, "reorder")
	r := kit.Request(t, reorder, args("path", "/Work", "orderedPaths", order))
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	inverse, err := reorder.Inverse(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := func() []string { return texts(kit.Must(t, act(t, "ls"), args("path", "/Work")), "items.#.path") }
	if diff := cmp.Diff(order, now()); diff != "" {
		t.Errorf("ordered: -want +got:\n%s", diff)
	}
	kit.Must(t, reorder, string(inverse.Args))
	if diff := cmp.Diff(before, now()); diff != "" {
		t.Errorf("taken back: -want +got:\n%s", diff)
	}
}
