//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// alwaysSync is true on systems where an unsynced file may be found empty after the rename.
const alwaysSync = false

// renameOver renames temp to path.
func renameOver(temp, path string, sync bool) error {
	if err := os.Rename(temp, path); err != nil || !sync {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the rename itself survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	// Some network and FUSE file systems cannot sync a folder; durability is then up to them.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// keepOwner gives f the owner and group of the file at path, if this process may do that.
func keepOwner(f *os.File, path string) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if old, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(old.Uid), int(old.Gid)) // only root may give files away
	}
}

// alive reports whether a process exists, ours or not.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
