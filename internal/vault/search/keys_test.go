package search_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/markup"
	"collie/internal/vault/search"
	"collie/internal/vault/tree"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// TestSearchesSeeEveryWrite writes at random through two handles on one file, and compares searches through both with the table
// of blocks. The same search is repeated, so that cached results must follow each write.
func TestSearchesSeeEveryWrite(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "notes.db")
			var handles []*vaulttest.Vault
			for range 2 {
				w, err := workspace.Open(t.Context(), path, workspace.Options{CheckTrees: true})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = w.Close() })
				handles = append(handles, vaulttest.Over(t, w, search.Register))
			}
			r := rand.New(rand.NewPCG(seed, 1))
			s := scribbler{Rand: r}
			for step := range 40 {
				fails := r.IntN(8) == 0
				err := handles[r.IntN(2)].Workspace.Update(t.Context(), func(tx *workspace.Tx) error {
					s.change(tx)
					if fails {
						return fmt.Errorf("taken back")
					}
					return nil
				})
				if fails != (err != nil) {
					t.Fatal(err)
				}
				for i, v := range handles {
					if r.IntN(3) == 0 {
						continue // without a search the cached keys of this handle become older
					}
					for order, clause := range clauseByOrder {
						if diff := cmp.Diff(scanIDs(v, clause), searchIDs(v, order)); diff != "" {
							t.Fatalf("step %d, handle %d, order %d: (-table +search)\n%s", step, i, order, diff)
						}
					}
				}
			}
		})
	}
}

// clauseByOrder has what SQL sorts by for numbers that a search takes as orderBy: 0 is by kind of block, 3 and 4 are by the time
// of the last change, and 9, as any number without a meaning, is the order of creation.
var clauseByOrder = map[int]string{0: "sort, updated DESC, n", 3: "updated, n", 4: "updated DESC, n", 9: "n"}

// searchIDs returns the ids of the hits of a search for "word", all on one page.
func searchIDs(v *vaulttest.Vault, order int) []string {
	ids := []string{}
	answer := v.Ask("/api/search/fullTextSearchBlock", object{"query": "word", "orderBy": order, "pageSize": 4096})
	for _, b := range answer.Get("blocks").Array() {
		ids = append(ids, b.Get("id").String())
	}
	if n := answer.Get("matchedBlockCount").Int(); int(n) != len(ids) {
		v.T.Errorf("%d hits are counted, %d are shown", n, len(ids))
	}
	return ids
}

// scanIDs returns the ids of the same blocks from a scan of the table of blocks.
func scanIDs(v *vaulttest.Vault, order string) []string {
	ids := []string{}
	v.View(func(tx *workspace.Tx) {
		tx.Rows(func(row workspace.Row) bool {
			ids = append(ids, row.Text(0))
			return true
		}, `SELECT node.id FROM node JOIN document ON document.n = node.doc JOIN notebook ON notebook.id = document.box
			WHERE notebook.closed = 0 AND document.id <> document.box AND node.content LIKE '%word%' AND node.type IN ('d', 'h', 'c', 'm', 't', 'p', 'html')
			ORDER BY node.`+strings.ReplaceAll(order, ", ", ", node."))
	})
	return ids
}

// scribbler changes notes at random.
type scribbler struct{ *rand.Rand }

// change makes some random changes in one transaction.
func (s scribbler) change(tx *workspace.Tx) {
	var docs []*tree.Document
	for _, box := range tx.Notebooks() {
		docs = append(docs, tx.Documents(box)...)
	}
	switch what := s.IntN(12); {
	case len(docs) < 3 || what == 0:
		box := tx.CreateNotebook("Notes")
		for range 3 {
			tx.AddDocument(box, nil, "word title", "", tx.Identify(markup.Parse(strings.Repeat("# word\n\nword text\n\nother\n\n", 1+s.IntN(4)))))
		}
		return
	case what == 1:
		boxes := tx.Notebooks()
		box := boxes[s.IntN(len(boxes))]
		box.Conf.Closed = !box.Conf.Closed
		return
	case what == 2:
		tx.RemoveDocument(docs[s.IntN(len(docs))])
		return
	case what == 3:
		d := docs[s.IntN(len(docs))]
		if !d.Hidden() && len(tx.Below(d)) == 1 {
			if box := tx.Notebooks()[s.IntN(len(tx.Notebooks()))]; box.Conf.Closed == d.Box.Conf.Closed { // no moves between open and closed ones
				tx.MoveDocument(d, box, nil)
			}
		}
		return
	}
	from, to := docs[s.IntN(len(docs))], docs[s.IntN(len(docs))]
	if from.Box.Conf.Closed || to.Box.Conf.Closed {
		return
	}
	tx.Load(from)
	tx.Load(to)
	for range 1 + s.IntN(3) {
		if len(from.Root.Children) < 2 {
			return
		}
		b := from.Root.Children[s.IntN(len(from.Root.Children))]
		switch s.IntN(5) {
		case 0:
			to.Root.Insert(0, tx.Identify(markup.Parse("```\nword\n```\n\na word"))...)
		case 1:
			b.Cut()
		case 2:
			b.Cut()
			to.Root.Insert(len(to.Root.Children), b)
		case 3:
			b.Text, b.Kind = []string{"word", "# word", "nothing"}[s.IntN(3)], tree.Paragraph
			if strings.HasPrefix(b.Text, "#") {
				b.Kind = tree.Heading
			}
		default:
			times := []string{"20240101000000", "20240101000000x", "2024", "", "abc", "20239999999999", "2024!", "2024:", "99999999999999", "20240101000001"}
			b.Attrs["updated"] = times[s.IntN(len(times))]
		}
	}
}
