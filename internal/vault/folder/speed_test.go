//go:build stories

package folder_test

import (
	"testing"
	"time"

	"collie/internal/vault/folder"
)

// TestManyFiles imports 5,000 files; the bar is well under two minutes.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	dir := generated(2, 5000).write(t)
	w := newVault(t)
	began := time.Now()
	r := imported(t, w, dir, folder.ImportOptions{})
	took := time.Since(began)
	t.Logf("%d documents, %d blocks in %v", r.Documents, r.Blocks, took)
	if took > 10*time.Minute { // five times the bar
		t.Errorf("the import took %v", took)
	}
}
