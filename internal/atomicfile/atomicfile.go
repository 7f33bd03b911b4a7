// Package atomicfile replaces whole files so that a reader, a crash or a second writer
// never sees half of one, and locks files between processes.
//
// What goes into a file, and when, is its owner's business: this package knows bytes and
// paths only. [Write] is the entry point; [File.Update] is for files that several
// processes change (architecture.md D10).
package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path with data: it writes a new file in the same folder,
// syncs it, renames it over path and, on Unix, syncs the folder. Missing folders are made
// with mode 0700. perm is that of the new file before the umask, as in [os.WriteFile];
// Windows keeps the mode of the file it replaces.
//
// On an error the old content is still there and no temporary file is left, except that a
// folder that does not sync leaves the new content in place. A file without write
// permission for its owner is not replaced, though a rename could: the error then matches
// [fs.ErrPermission]. A symbolic link is replaced, not followed.
//
// Write may be called concurrently, by several processes too; the last rename wins.
func Write(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, true)
}

// WriteNoSync is [Write] without the syncs, for state that may be lost when the machine
// stops: the file is whole for every reader, but may be old, or empty on some file
// systems, after a power cut. On Windows it syncs like Write.
func WriteNoSync(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, false)
}

func write(path string, data []byte, perm fs.FileMode, sync bool) error {
	if err := writable(path); err != nil {
		return err
	}
	if err := makeParent(path); err != nil {
		return err
	}
	if err := replace(path, data, perm, sync); err != nil {
		return fmt.Errorf("replace file %q: %w", path, err)
	}
	return nil
}

// writable refuses a file its owner made read-only. Only the mode is asked, not the
// kernel: root may write anything, and still means something by chmod 444.
func writable(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o200 != 0 {
		return nil // a missing folder or a folder at path shows when it is used
	}
	return &fs.PathError{Op: "replace read-only file", Path: path, Err: fs.ErrPermission}
}

func makeParent(path string) error {
	return os.MkdirAll(filepath.Dir(path), 0o700)
}
