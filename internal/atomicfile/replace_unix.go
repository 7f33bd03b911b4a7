//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

func replace(path string, data []byte, perm fs.FileMode, sync bool) (err error) {
	// Without a fixed folder renameio tries the system's; a chmod after the creation
	// would fail on file systems without modes.
	f, err := renameio.NewPendingFile(path,
		renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(perm))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Cleanup() // the first error is the one to tell
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if !sync {
		if err := f.File.Close(); err != nil {
			return err
		}
		return os.Rename(f.Name(), path)
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
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
	// Some network and FUSE file systems cannot sync a folder; they promise nothing then.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
