package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
	"collie/test/await"
)

// TestRemovedDocumentIsKeptWithThoseBelow checks that the history holds a removed document and the documents below it.
func TestRemovedDocumentIsKeptWithThoseBelow(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	child := v.createDocument(box, "/Top/Child", "text")
	top := v.Ask("filetree/getIDsByHPath", object{"notebook": box, "path": "/Top"}).Get("0").Str
	v.Ask("filetree/removeDocByID", object{"id": top})
	want := []string{"delete/" + box + "/" + top + ".sy", "delete/" + box + "/" + top + "/" + child + ".sy"}
	if diff := cmp.Diff(want, v.historyPaths()); diff != "" {
		t.Error(diff)
	}
	if v.Text(child) != "(none)" {
		t.Error("the document below is still there")
	}
	v.wantRefused("filetree/removeDocByID", object{"id": box}, "cannot be removed")
}

// TestDepth checks that creation, moves and conversions allow seven levels at most, and that a refused one changes nothing.
func TestDepth(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	v.wantRefused("filetree/createDocWithMd", object{"notebook": box, "path": "/1/2/3/4/5/6/7/8", "markdown": ""}, "7 levels")
	if n := len(v.Ask("filetree/listDocsByPath", object{"notebook": box, "path": "/"}).Get("files").Array()); n != 0 {
		t.Errorf("%d documents are left of what was refused", n)
	}
	seventh := v.createDocument(box, "/1/2/3/4/5/6/7", "# h")
	two := v.createDocument(box, "/a/b", "")
	a := v.Ask("filetree/getIDsByHPath", object{"notebook": box, "path": "/a"}).Get("0").Str
	sixth := v.Ask("filetree/getIDsByHPath", object{"notebook": box, "path": "/1/2/3/4/5/6"}).Get("0").Str
	v.wantRefused("filetree/moveDocsByID", object{"fromIDs": []string{two}, "toID": seventh}, "7 levels")
	v.wantRefused("filetree/moveDocsByID", object{"fromIDs": []string{a}, "toID": sixth}, "7 levels")
	v.Ask("filetree/moveDocsByID", object{"fromIDs": []string{two}, "toID": sixth})
	at := v.Ask("filetree/getPathByID", object{"id": seventh}).Get("path").Str
	v.wantRefused("filetree/heading2Doc", object{"srcHeadingID": v.blockWithText(seventh, "h"), "targetNoteBook": box, "targetPath": at}, "7 levels")
}

func TestDuplicateCopiesTextUnderNewIDs(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	doc := v.createDocument(box, "/Doc", "- a\n  - b\n\n| t |\n|---|\n| 表 |")
	v.Update(func(tx *workspace.Tx) {
		attrs := tx.Document(doc).Root.Attrs
		attrs["icon"], attrs["custom-x"], attrs["custom-dailynote-20240101"] = "1f4d4", "y", "20240101"
	})
	copied := v.Ask("filetree/duplicateDoc", object{"id": doc}).Get("id").Str
	if got, want := v.Text(copied), v.Text(doc); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	v.View(func(tx *workspace.Tx) {
		ids := map[string]bool{}
		for _, id := range []string{doc, copied} {
			tx.Document(id).Root.Walk(func(b *tree.Block) {
				if ids[b.ID] || b.Attrs["id"] != b.ID {
					t.Errorf("%s is there twice or has the attribute %q", b.ID, b.Attrs["id"])
				}
				ids[b.ID] = true
			})
		}
		attrs := tx.Document(copied).Root.Attrs
		if attrs["icon"] != "1f4d4" || attrs["custom-x"] != "y" || attrs["custom-dailynote-20240101"] != "" {
			t.Errorf("the copy has %v", attrs)
		}
	})
}

func TestSortOrders(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	paths := map[string]string{}
	for _, title := range []string{"b", "C", "a"} {
		paths[title] = "/" + v.createDocument(box, "/"+title, "") + ".sy"
	}
	list := func(sort int) (titles string) {
		for _, f := range v.Ask("filetree/listDocsByPath", object{"notebook": box, "path": "/", "sort": sort}).Get("files.#.name").Array() {
			titles += f.Str
		}
		return titles
	}
	v.Ask("filetree/changeSort", object{"notebook": box, "paths": []string{paths["C"], paths["a"]}})
	for sort, want := range map[int]string{0: "abC", 1: "Cba", 6: "Cab", 15: "Cab"} {
		if got := list(sort); got != want {
			t.Errorf("order %d is %s, want %s", sort, got, want)
		}
	}
}

// TestListsAgreeOnDraws checks that both lists have the same order for documents that were created in the same second and
// have the same place.
func TestListsAgreeOnDraws(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	box := v.createNotebook("N")
	top := v.createDocument(box, "/Top", "")
	for _, end := range []string{"bbbbbbb", "ccccccc", "aaaaaaa"} {
		id := v.Ask("filetree/createDocWithMd", object{"notebook": box, "path": "/Top/" + end, "markdown": "", "id": "20240101000000-" + end}).Str
		v.Update(func(tx *workspace.Tx) { tx.Document(id).Sort = 1 })
	}
	ids := func(list []gjson.Result) (out []string) {
		for _, id := range list {
			out = append(out, id.Str)
		}
		return out
	}
	path := "/" + top + ".sy"
	listed := ids(v.Ask("filetree/listDocsByPath", object{"notebook": box, "path": path, "sort": 6}).Get("files.#.id").Array())
	if tree := ids(v.Ask("filetree/listDocTree", object{"notebook": box, "path": "/" + top}).Get("tree.#.id").Array()); len(tree) != 3 || !slices.Equal(tree, listed) {
		t.Errorf("the tree is %v, the list %v", tree, listed)
	}
}

// TestListsAreFast checks that each request that lists 1,000 documents is faster than a request for the path of each.
func TestListsAreFast(t *testing.T) {
	v := newVault(t)
	box := v.createNotebook("N")
	top := v.createDocument(box, "/Top", "")
	var ids []string
	for from := 0; from < 1000; from += 100 {
		v.Update(func(tx *workspace.Tx) {
			parent := tx.Document(top)
			for i := range 100 {
				blocks := tx.Identify([]*tree.Block{{Kind: tree.Paragraph, Text: strings.Repeat("text 文 ", 20)}})
				d := tx.AddDocument(parent.Box, parent, fmt.Sprint("doc ", from+i), "", blocks)
				ids = append(ids, d.ID())
				if i%50 == 0 { // the next ones lie below this one
					parent = d
				}
			}
		})
	}
	path := "/" + top + ".sy"
	start := time.Now()
	for _, id := range ids {
		v.Ask("filetree/getHPathByID", object{"id": id})
	}
	floor := time.Since(start)
	t.Logf("%d paths: %v", len(ids), floor)
	for _, ask := range []struct {
		path string
		body object
	}{
		{"filetree/listDocTree", object{"notebook": box, "path": path}},
		{"filetree/listDocsByPath", object{"notebook": box, "path": path}},
		{"filetree/searchDocs", object{"k": "doc 9"}},
		{"filetree/getIDsByHPath", object{"notebook": box, "path": "/Top/doc 9"}},
		{"notebook/lsNotebooks", object{}},
	} {
		took := time.Hour
		for range 3 { // the shortest time counts, because other work disturbs
			start := time.Now()
			v.Ask(ask.path, ask.body)
			took = min(took, time.Since(start))
		}
		t.Logf("%s: %v", ask.path, took)
		if took > floor && !await.Race {
			t.Errorf("%s takes %v, %d single paths %v", ask.path, took, len(ids), floor)
		}
	}
	if n := strings.Count(v.Ask("filetree/listDocTree", object{"notebook": box, "path": path}).Raw, `"id"`); n != 1000 {
		t.Errorf("the tree has %d documents", n)
	}
	for _, ask := range []struct {
		path string
		body object
	}{
		{"filetree/moveDocsByID", object{"fromIDs": []string{top}, "toID": v.createDocument(box, "/Elsewhere", "")}},
		{"filetree/renameDocByID", object{"id": top, "title": "Another"}},
		{"filetree/removeDocByID", object{"id": top}},
	} {
		start := time.Now()
		v.Ask(ask.path, ask.body)
		t.Logf("%s: %v", ask.path, time.Since(start))
	}
}
