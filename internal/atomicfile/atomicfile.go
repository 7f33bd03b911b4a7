// Package atomicfile replaces whole files so that a reader, a crash or a second writer
// never sees half of one, and locks files between processes.
//
// What goes into a file, and when, is its owner's business: this package knows bytes and
// paths only. [Write] is the entry point, [Replace] the same with more choice;
// [File.Update] is for files that several processes change, and
// [RemoveLeftovers] clears away what a process that was killed has left.
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

// Options say how [Replace] replaces a file. The zero value is a private file, synced.
type Options struct {
	// Perm is the mode of the new file, whatever the umask says; 0 means 0600.
	Perm fs.FileMode
	// KeepOwner gives the new file the owner and group of the old one, where we may.
	KeepOwner bool
	// NoSync leaves out the syncs, as [WriteNoSync] does.
	NoSync bool
	// Before runs when the new file is complete and about to take the place of the old one.
	// Its error keeps the old one and is returned.
	Before func() error
}

// Replace is [Write] with a choice of how. Where the file system has no modes or owners, those
// of the new file are what it gives.
func Replace(path string, data []byte, o Options) error {
	if o.Perm == 0 {
		o.Perm = 0o600
	}
	return replace(path, data, o, true)
}

func write(path string, data []byte, perm fs.FileMode, sync bool) error {
	return replace(path, data, Options{Perm: perm, NoSync: !sync}, false)
}

// replace does the work of all; exact sets the mode in spite of the umask.
func replace(path string, data []byte, o Options, exact bool) error {
	if err := writable(path); err != nil {
		return err
	}
	if err := makeParent(path); err != nil {
		return err
	}
	temp, err := fill(path, data, o, exact)
	if err == nil && o.Before != nil {
		err = o.Before()
	}
	if err == nil {
		err = swap(temp, path, !o.NoSync)
	}
	if err != nil {
		if temp != "" {
			_ = os.Remove(temp) // the first error is the one to tell
		}
		return fmt.Errorf("replace file %q: %w", path, err)
	}
	return nil
}

// fill writes the new file and returns its name, also with an error if there is one to remove.
func fill(path string, data []byte, o Options, exact bool) (temp string, err error) {
	f, err := createTemp(path, o.Perm)
	if err != nil {
		return "", err
	}
	if exact {
		// A file system that refuses gives every file the same mode and owner.
		_ = f.Chmod(o.Perm)
	}
	if o.KeepOwner {
		keepOwner(f, path)
	}
	_, err = f.Write(data)
	if err == nil && (!o.NoSync || alwaysSync) {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return f.Name(), err
}

// writable refuses a file its owner made read-only. Only the mode is asked, not the
// kernel: root may write anything, and still means something by chmod 444.
func writable(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
		return &fs.PathError{Op: "replace read-only file", Path: path, Err: fs.ErrPermission}
	}
	return nil // a missing folder or a folder at path shows when it is used
}

func makeParent(path string) error {
	return os.MkdirAll(filepath.Dir(path), 0o700)
}
