package av

import (
	"path/filepath"
	"strings"
	"testing"

	"collie/internal/vault/workspace"
)

// TestDatabaseBlocksAreReadThroughTheirIndex checks by the query plan that SQLite finds database blocks through an index and
// does not read every block.
func TestDatabaseBlocksAreReadThroughTheirIndex(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	var plan []string
	err = w.View(t.Context(), func(tx *workspace.Tx) error {
		tx.Rows(func(row workspace.Row) bool {
			plan = append(plan, row.Text(3))
			return true
		}, "EXPLAIN QUERY PLAN "+selectDatabaseBlocks)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan) == 0 || !strings.Contains(plan[0], "INDEX node_databases") {
		t.Errorf("the plan is\n%s", strings.Join(plan, "\n"))
	}
	for _, step := range plan {
		if strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "node_databases") {
			t.Errorf("reads all of a table: %s", step)
		}
	}
}
