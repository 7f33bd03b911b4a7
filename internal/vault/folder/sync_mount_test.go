package folder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// mountFolder returns an empty folder that is a file system of its own, in memory, with the given mount options.
func mountFolder(t *testing.T, options string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root on Linux mounts a file system")
	}
	dir := filepath.Join(t.TempDir(), "notes")
	err := os.Mkdir(dir, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "collie-test", dir).CombinedOutput(); err != nil {
		t.Skipf("a file system cannot be mounted here: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}

// remount changes the options of a mounted folder.
func remount(t *testing.T, dir, options string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,"+options, dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %s", out)
	}
}
