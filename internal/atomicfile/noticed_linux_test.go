package atomicfile_test

import (
	"path/filepath"
	"testing"

	"collie/internal/atomicfile"
)

func TestNoticed(t *testing.T) {
	t.Parallel()
	if atomicfile.NotifiesChanges("/proc") {
		t.Error("changes of /proc are told to nobody")
	}
	if atomicfile.NotifiesChanges(filepath.Join(t.TempDir(), "missing")) {
		t.Error("so are those of a folder that is not there")
	}
	if !atomicfile.NotifiesChanges("/dev/shm") {
		t.Skip("no file system in memory here")
	}
}
