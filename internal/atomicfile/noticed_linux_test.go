package atomicfile_test

import (
	"path/filepath"
	"testing"

	"collie/internal/atomicfile"
)

func TestNoticed(t *testing.T) {
	t.Parallel()
	if atomicfile.Noticed("/proc") {
		t.Error("changes of /proc are told to nobody")
	}
	if atomicfile.Noticed(filepath.Join(t.TempDir(), "missing")) {
		t.Error("so are those of a folder that is not there")
	}
	if !atomicfile.Noticed("/dev/shm") {
		t.Skip("no file system in memory here")
	}
}
