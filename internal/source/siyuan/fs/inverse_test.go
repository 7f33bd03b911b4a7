package fs_test

import (
	"slices"
	"strings"
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
			mv := findAction(t, "mv")
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

// TestMoveByOtherWordsCanBeTakenBack: the inverse call names places as they are, however the call named them. twin is
// the path of a second document, which may be the same as that of another.
func TestMoveByOtherWordsCanBeTakenBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hpath, from, to, twin string }{
		"with an id":         {"/Plan", "/Work/Plan#ID", "/Work/Other/New", "/Plan"},
		"id, same folder":    {"/Plan", "/Work/Plan#ID", "/Work/New", "/Plan"},
		"without notebook":   {"/Plan", "/Plan", "/Other/New", ""},
		"twin of the parent": {"/Other/Plan", "/Work/Other/Plan", "/Attic", "/Other"},
		"into a twin":        {"/Plan", "/Work/Plan", "/Work/Other#TWIN/New", "/Other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := actiontest.New(t)
			work, _ := kit.Notebook("Work"), kit.Notebook("Attic")
			other := kit.Doc(work, "/Other", "other")
			id, twin := kit.Doc(work, c.hpath, "text"), ""
			if c.twin != "" {
				twin = kit.Doc(work, c.twin, "twin")
			}
			before := pathOf(t, kit, id)
			mv := findAction(t, "mv")
			words := strings.NewReplacer("#ID", "#"+id, "#TWIN", "#"+twin)
			r := kit.Request(t, mv, actiontest.Args("from", words.Replace(c.from), "to", words.Replace(c.to)))
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
			if now := pathOf(t, kit, id); now == before {
				t.Fatalf("it did not move: %v", now)
			}
			kit.Must(t, mv, string(inverse.Args))
			if now := pathOf(t, kit, id); now != before {
				t.Errorf("after both moves it is at %v, want %v", now, before)
			}
			if now := pathOf(t, kit, other); now[2] != "/Other" {
				t.Errorf("another document has become %v", now)
			}
		})
	}
}

// pathOf returns notebook, storage path and human path of a document.
func pathOf(t *testing.T, kit *actiontest.Kit, id string) [3]string {
	t.Helper()
	notebook, path, err := kit.Client.PathByID(t.Context(), kernel.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	hpath, err := kit.Client.HPathByID(t.Context(), kernel.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	return [3]string{string(notebook), path, hpath}
}

// TestOrderCanBeTakenBack orders documents and runs the inverse call.
func TestOrderCanBeTakenBack(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	work := kit.Notebook("Work")
	for _, hpath := range []string{"/乙", "/B", "/Twice", "/Twice"} {
		kit.Doc(work, hpath, "x")
	}
	before := stringsAt(kit.Must(t, findAction(t, "ls"), args("path", "/Work")), "items.#.path")
	order := slices.Clone(before)
	slices.Reverse(order)
	reorder := findAction(t, "reorder")
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
	now := func() []string {
		return stringsAt(kit.Must(t, findAction(t, "ls"), args("path", "/Work")), "items.#.path")
	}
	if diff := cmp.Diff(order, now()); diff != "" {
		t.Errorf("ordered: -want +got:\n%s", diff)
	}
	kit.Must(t, reorder, string(inverse.Args))
	if diff := cmp.Diff(before, now()); diff != "" {
		t.Errorf("taken back: -want +got:\n%s", diff)
	}
}
