package workspace_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"collie/internal/vault/markup"
	"collie/internal/vault/workspace"
)

// TestMoveBetweenOpenAndClosed moves documents between open and closed notebooks. The full text index must hold exactly the
// blocks of open notebooks.
func TestMoveBetweenOpenAndClosed(t *testing.T) {
	t.Parallel()
	w := open(t, filepath.Join(t.TempDir(), "vault.db"))
	var out, in, doc, below string
	update(t, w, func(tx *workspace.Tx) {
		from, to := tx.CreateNotebook("Open"), tx.CreateNotebook("Closed")
		d := tx.AddDocument(from, nil, "Doc", "", tx.Identify(markup.Parse("pineapple")))
		below = tx.AddDocument(from, d, "Below", "", tx.Identify(markup.Parse("pineapple below"))).ID()
		out, in, doc = from.ID, to.ID, d.ID()
	})
	update(t, w, func(tx *workspace.Tx) { tx.Notebook(in).Conf.Closed = true })
	hits := func(want int64) {
		t.Helper()
		view(t, w, func(tx *workspace.Tx) {
			n := int64(0)
			tx.Rows(func(row workspace.Row) bool { n = row.Int(0); return false }, "SELECT count(*) FROM blocks_fts WHERE blocks_fts MATCH 'content : pineapple'")
			if n != want {
				t.Errorf("the index has %d, want %d", n, want)
			}
		})
		if found, err := w.Check(t.Context(), nil); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	}
	hits(2)
	update(t, w, func(tx *workspace.Tx) {
		d := tx.Document(doc)
		d.Root.Children[0].Text = "pineapple pie"
		tx.Document(below).Root.Children[0].Text = "pineapple bread"
		tx.MoveDocument(d, tx.Notebook(in), nil)
		d.Root.Children[0].Text = "pineapple cake"
	})
	hits(0)
	update(t, w, func(tx *workspace.Tx) {
		tx.Notebook(in).Conf.Closed = false
	})
	hits(2)
	update(t, w, func(tx *workspace.Tx) { // in one transaction
		tx.Notebook(in).Conf.Closed = true
		tx.Notebook(out).Conf.Closed = true
	})
	hits(0)
	update(t, w, func(tx *workspace.Tx) {
		tx.Notebook(in).Conf.Closed = false
		tx.MoveDocument(tx.Document(doc), tx.Notebook(out), nil)
		tx.Notebook(out).Conf.Closed = false
	})
	hits(2)
}

// TestRenameMany checks that the time to rename a document does not grow with the number renamed in one transaction.
func TestRenameMany(t *testing.T) {
	t.Parallel()
	const few, many = 100, 2400
	each := func(count int) (fastest time.Duration) {
		w := open(t, filepath.Join(t.TempDir(), "vault.db"))
		var ids []string
		update(t, w, func(tx *workspace.Tx) {
			box := tx.CreateNotebook("Notes")
			for i := range count {
				ids = append(ids, tx.AddDocument(box, nil, fmt.Sprint(i), "", nil).ID())
			}
		})
		for round := range 3 {
			begin := time.Now()
			update(t, w, func(tx *workspace.Tx) {
				for i, id := range ids {
					tx.Document(id).Root.Attrs["title"] = fmt.Sprint("renamed ", round, " ", i)
				}
			})
			if took := time.Since(begin) / time.Duration(count); fastest == 0 || took < fastest {
				fastest = took
			}
		}
		if got := firstColumn(t, w, "SELECT count(*) FROM document WHERE hpath LIKE '/renamed 2 %'"); got[0] != fmt.Sprint(count) {
			t.Errorf("%v of %d paths follow", got, count)
		}
		return fastest
	}
	// Times vary, because other tests run in parallel. A factor of about twenty means that each document is compared with all.
	if one, other := each(few), each(many); other > 8*one {
		t.Errorf("%v a document where %d are renamed, %v where %d are", one, few, other, many)
	}
}
