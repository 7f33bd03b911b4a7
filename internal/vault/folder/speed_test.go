//go:build stories

package folder_test

import (
	"fmt"
	"testing"
	"time"

	"collie/internal/vault/folder"
	"collie/test/await"
)

// TestManyFiles imports 5,000 files. The goal is well under two minutes.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	dir := generateFolder(2, await.Fewer(5000)).write(t)
	w := newVault(t)
	began := time.Now()
	r := importFolder(t, w, dir, folder.ImportOptions{})
	await.Within(t, fmt.Sprintf("to import %d documents with %d blocks", r.Documents, r.Blocks), time.Since(began), 10*time.Minute) // five times the goal
}
