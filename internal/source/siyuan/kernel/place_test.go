package kernel_test

import (
	"testing"

	"collie/internal/source/siyuan/kernel"
	"collie/internal/source/siyuan/kernel/kerneltest"
	"collie/internal/tool"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{})
	nb := kernel.ID(k.Notebook("N"))
	top := kernel.ID(k.Doc(string(nb), "/Top 顶", ""))
	doc := kernel.ID(k.Doc(string(nb), "/Top 顶/Below", "text"))
	blocks, err := c.ChildBlocks(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	path := "/" + string(top) + "/" + string(doc) + ".sy"
	want := kernel.Place{Notebook: nb, Path: path, Root: doc, Title: "Below"}
	for _, id := range []kernel.ID{doc, blocks[0].ID} {
		if got, err := c.Place(t.Context(), id); err != nil || got != want {
			t.Errorf("%v %v, want %v", got, err, want)
		}
	}
	if box, got, err := c.PathByID(t.Context(), doc); err != nil || box != nb || got != path {
		t.Errorf("%s %s %v", box, got, err)
	}
	if got, err := c.HPathByID(t.Context(), blocks[0].ID); err != nil || got != "/Top 顶/Below" {
		t.Errorf("%q %v", got, err)
	}
	if got, err := c.IDsByHPath(t.Context(), nb, "/Top 顶/Below"); err != nil || len(got) != 1 || got[0] != doc {
		t.Errorf("%v %v", got, err)
	}
	if got, err := c.IDsByHPath(t.Context(), nb, "/none"); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
	if raw, err := c.BlockInfo(t.Context(), doc); err != nil || len(raw) == 0 {
		t.Errorf("%s %v", raw, err)
	}
}

// TestUnknownPlaces: each endpoint has its own answer for an id that does not exist; the client returns one error for
// all.
func TestUnknownPlaces(t *testing.T) {
	t.Parallel()
	k := kerneltest.New(t)
	c := newClient(t, k.URL(), kernel.Options{})
	const nowhere = "20990101000000-zzzzzzz"
	_, place := c.Place(t.Context(), nowhere)
	_, _, byID := c.PathByID(t.Context(), nowhere)
	_, hpath := c.HPathByID(t.Context(), nowhere)
	for _, err := range []error{place, byID, hpath} {
		wantToolError(t, err, tool.NotFound)
	}
	for _, wrong := range []kernel.ID{"", "x", "'--"} {
		if _, err := c.Place(t.Context(), wrong); err == nil {
			t.Errorf("%q has a place", wrong)
		}
	}
}
