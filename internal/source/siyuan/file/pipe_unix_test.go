//go:build unix

package file_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"collie/internal/tool"
)

// TestUploadPipe: what is not a regular file is not opened, which might never return.
func TestUploadPipe(t *testing.T) {
	w := newWorkspace(t)
	if err := syscall.Mkfifo(filepath.Join(w.localDir, "pipe"), 0o600); err != nil {
		t.Skip("no pipes here")
	}
	w.wantRefused("upload_asset", args("localFilePath", "pipe"), tool.Invalid)
}
