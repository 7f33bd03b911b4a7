package admin

import (
	"testing"
)

func TestLocalFolderIsNotRemote(t *testing.T) {
	t.Parallel()
	if dir := t.TempDir(); isRemote(dir) {
		t.Errorf("%s is taken for a network drive", dir)
	}
}
