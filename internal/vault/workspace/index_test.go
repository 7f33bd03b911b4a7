package workspace_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"collie/internal/vault/workspace"
)

// wantIndexed compares the full text index, term by term, with the trigrams of the blocks of open notebooks.
func wantIndexed(t testing.TB, w *workspace.Workspace) {
	t.Helper()
	got, want := map[string]int{}, map[string]int{}
	err := w.View(t.Context(), func(tx *workspace.Tx) error {
		tx.Rows(func(r workspace.Row) bool {
			got[fmt.Sprintf("%d %s %q", r.Int(0), r.Text(1), r.Text(2))]++
			return true
		}, "SELECT doc, col, term FROM block_terms")
		columns := []string{"name", "alias", "memo", "tag", "content"}
		tx.Rows(func(r workspace.Row) bool {
			for i, column := range columns {
				text := r.Text(1 + i)
				if text == "" {
					continue
				}
				letters := []rune(strings.ToLower(text) + "  ")
				for at := range len(letters) - 2 {
					want[fmt.Sprintf("%d %s %q", r.Int(0), column, string(letters[at:at+3]))]++
				}
			}
			return true
		}, "SELECT n, name, alias, memo, tag, content FROM open_row")
		return nil
	})
	if err != nil {
		t.Errorf("%v", err)
	}
	if maps.Equal(got, want) {
		return
	}
	lines := func(terms map[string]int) []string {
		var list []string
		for term, n := range terms {
			list = append(list, fmt.Sprint(term, " ", n))
		}
		slices.Sort(list)
		return list
	}
	t.Errorf("the index is not that of the blocks: %s", cmp.Diff(lines(want), lines(got)))
}
