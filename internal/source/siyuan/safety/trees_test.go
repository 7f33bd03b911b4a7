package safety_test

import (
	"strings"
	"testing"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/fs"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
)

// TestUndoOfATree removes a document with children by its human path and takes that back: it and
// its children are there again with their ids, and what was written elsewhere stays.
func TestUndoOfATree(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	writes := safety.Open(safety.Options{Dir: t.TempDir()})
	nb := kit.Notebook("Work")
	doc := kernel.ID(kit.Doc(nb, "/Idea", "the idea 想法"))
	child := kernel.ID(kit.Doc(nb, "/Idea/Detail", "a detail"))
	sibling := kernel.ID(kit.Doc(nb, "/Other", "other"))
	var rm *action.Action
	for _, a := range fs.Tool().Actions {
		if a.Name == "rm" {
			rm = a
		}
	}
	r := kit.Request(t, rm, `{"path":"/Work/Idea"}`)
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := writes.Do(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := kit.Client.Append(t.Context(), sibling, "markdown", "written in between"); err != nil {
		t.Fatal(err)
	}
	list, err := writes.List()
	if err != nil || len(list) != 1 || len(list[0].Before) != 2 {
		t.Fatalf("entries %+v, %v", list, err)
	}
	if err := writes.Restore(t.Context(), kit.Client, &list[0]); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[kernel.ID]string{doc: "the idea 想法", child: "a detail", sibling: "written in between"} {
		if got, err := kit.Client.Kramdown(t.Context(), id); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s has %q, %v; want %q", id, got, err, want)
		}
	}
	if path, err := kit.Client.HPathByID(t.Context(), child); err != nil || path != "/Idea/Detail" {
		t.Errorf("the child is at %q, %v", path, err)
	}
}
