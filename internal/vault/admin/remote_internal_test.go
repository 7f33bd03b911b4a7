package admin

import (
	"path/filepath"
	"testing"
)

func TestLocalFolderIsNotRemote(t *testing.T) {
	t.Parallel()
	if isRemote(t.TempDir()) {
		t.Skip("the folder for temporary files is on a network drive here")
	}
	if isRemote(filepath.Join(t.TempDir(), "missing")) {
		t.Error("a folder that does not exist is on a network drive")
	}
}
