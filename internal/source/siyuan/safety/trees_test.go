package safety_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/action/actiontest"
	"collie/internal/source/siyuan/fs"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/safety"
)

// TestUndoOfATree removes a document with children by its human path and undoes that: it and
// its children are there again with their ids, and what was written elsewhere stays.
func TestUndoOfATree(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	writes := safety.Open(safety.Options{Dir: t.TempDir()})
	nb := kit.Notebook("Work")
	doc := kernel.ID(kit.Doc(nb, "/Idea", "the idea 想法"))
	child := kernel.ID(kit.Doc(nb, "/Idea/Detail", "a detail"))
	grand := kernel.ID(kit.Doc(nb, "/Idea/Detail/Of it & <more>", ""))
	if err := kit.Client.SetAttrs(t.Context(), child, map[string]string{"icon": "1f600", "alias": "细节"}); err != nil {
		t.Fatal(err)
	}
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
	if err != nil || len(list) != 1 || len(list[0].Before) != 3 {
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
	for id, want := range map[kernel.ID]string{doc: "/Idea", child: "/Idea/Detail", grand: "/Idea/Detail/Of it & <more>"} {
		if path, err := kit.Client.HPathByID(t.Context(), id); err != nil || path != want {
			t.Errorf("%s is at %q, %v; want %q", id, path, err, want)
		}
	}
	for above, want := range map[string]kernel.ID{
		"/": doc, "/" + string(doc) + ".sy": child, "/" + string(doc) + "/" + string(child) + ".sy": grand,
	} { // a list shows what is on disk
		got, err := kit.Client.Documents(t.Context(), kernel.ID(nb), above)
		if err != nil || !slices.ContainsFunc(got, func(d kernel.Document) bool { return d.ID == want }) {
			t.Errorf("below %s there is %v, %v; want %s", above, got, err, want)
		}
	}
	if attrs, err := kit.Client.Attrs(t.Context(), child); err != nil || attrs["icon"] != "1f600" || attrs["alias"] != "细节" {
		t.Errorf("attributes of the child %v, %v", attrs, err)
	}
}

// A tree of which not all documents are kept cannot be undone, instead of being restored in part.
func TestTreeTooLargeToBeKept(t *testing.T) {
	t.Parallel()
	kit := actiontest.New(t)
	kit.NeedsVault("it makes a thousand documents")
	writes := safety.Open(safety.Options{Dir: t.TempDir()})
	nb := kit.Notebook("Work")
	for i := range 1001 {
		kit.Doc(nb, fmt.Sprintf("/Idea/%d", i), "")
	}
	rm := slices.IndexFunc(fs.Tool().Actions, func(a *action.Action) bool { return a.Name == "rm" })
	r := kit.Request(t, fs.Tool().Actions[rm], `{"path":"/Work/Idea"}`)
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := writes.Do(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	list, err := writes.List()
	if err != nil || len(list) != 1 || list[0].CanUndo() || !strings.Contains(list[0].NoUndo, "more than 1000 documents") {
		t.Errorf("the entries are %+v, %v", list, err)
	}
}
