package salvage

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collie/internal/vault/tree"
	"collie/internal/vault/workspace"
)

// Damage may give the root of a document the number of another document, or the id of a notebook. Each root becomes a document
// of its own then, and no text is lost.
func TestDocumentsThatClaimOneID(t *testing.T) {
	t.Parallel()
	const box, other, page = "20240101000000-aaaaaaa", "20240101000000-bbbbbbb", "20240101000001-ccccccc"
	f := &Found{
		notebooks: map[string]tree.Conf{box: tree.NewConf("A"), other: tree.NewConf("B")},
		documents: map[int64]*document{1: {n: 1, id: page, box: box, hpath: "/p"}, 2: {n: 2, id: other, box: box, hpath: "/q"}},
		nodes: map[int64]*node{
			1: {n: 1, doc: 9, id: page, kind: tree.Doc},
			2: {n: 2, doc: 1, id: "20240101000002-ddddddd", kind: "p", text: "one"},
			3: {n: 3, doc: 8, id: box, kind: tree.Doc},
			4: {n: 4, doc: 8, id: "20240101000004-eeeeeee", kind: "p", text: "two"},
		},
	}
	f.byID = map[string]*document{page: f.documents[1], other: f.documents[2]}
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "new.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := f.Fill(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	if err := w.View(t.Context(), func(tx *workspace.Tx) error {
		for _, d := range tx.Documents(nil) {
			for _, b := range tx.Peek(d.ID()).Children {
				found[b.Text] = true
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !found["one"] || !found["two"] {
		t.Errorf("not all is there: %v", found)
	}
}

// Documents that lie below each other, in a circle, are written too, and the report names the one that was moved to the top.
func TestDocumentsBelowEachOther(t *testing.T) {
	t.Parallel()
	const box = "20240101000000-aaaaaaa"
	f := &Found{
		notebooks: map[string]tree.Conf{box: tree.NewConf("A")},
		documents: map[int64]*document{
			1: {n: 1, id: "20240101000001-ccccccc", box: box, hpath: "/one", parent: 2},
			2: {n: 2, id: "20240101000002-ddddddd", box: box, hpath: "/two", parent: 1},
		},
		nodes: map[int64]*node{},
		byID:  map[string]*document{},
	}
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "new.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	lost, err := f.Fill(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(lost, func(l Lost) bool { return l.Where == "/one" && strings.Contains(l.What, "lies at the top") }) {
		t.Errorf("nothing says that a document was moved: %v", lost)
	}
}
