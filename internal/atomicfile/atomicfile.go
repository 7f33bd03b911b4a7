// Package atomicfile replaces whole files so that a reader, a crash or a second writer
// never sees half of one, and locks files between processes.
//
// The package knows bytes and paths only; the owner of a file decides what goes into it and when. [Write] is
// the entry point and [Replace] the same with more options. [File.Update] is for files that several processes
// change. [RemoveLeftovers] deletes the temporary files of processes that were killed.
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
// On an error the old content is still there and no temporary file is left. The one exception: if the folder
// cannot be synced, the new content stays in place.
//
// A file without write permission for its owner is not replaced, although a rename could do it; the error
// then matches [fs.ErrPermission]. A symbolic link is replaced, not followed.
//
// Write may be called concurrently, by several processes too; the last rename wins.
func Write(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, true)
}

// WriteNoSync is like [Write] without the syncs, for state that may be lost in a power cut. Readers always see a
// whole file, but after a power cut it may be the old one or, on some file systems, an empty one. On Windows
// WriteNoSync syncs like Write.
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
	// Before runs when the new file is complete, just before it replaces the old one. If Before returns an
	// error, the old file stays and Replace returns that error.
	Before func() error
}

// Replace is like [Write] with options. On a file system without modes or owners, the new file gets whatever that
// file system assigns.
func Replace(path string, data []byte, o Options) error {
	if o.Perm == 0 {
		o.Perm = 0o600
	}
	return replace(path, data, o, true)
}

func write(path string, data []byte, perm fs.FileMode, sync bool) error {
	return replace(path, data, Options{Perm: perm, NoSync: !sync}, false)
}

// replace does the work of Write, WriteNoSync and Replace. exact sets o.Perm regardless of the umask.
func replace(path string, data []byte, o Options, exact bool) error {
	if err := checkWritable(path); err != nil {
		return err
	}
	if err := makeParent(path); err != nil {
		return err
	}
	temp, err := writeTemp(path, data, o, exact)
	if err == nil && o.Before != nil {
		err = o.Before()
	}
	if err == nil {
		err = renameOver(temp, path, !o.NoSync)
	}
	if err != nil {
		if temp != "" {
			_ = os.Remove(temp) // the first error is the one to report
		}
		return fmt.Errorf("replace file %q: %w", path, err)
	}
	return nil
}

// writeTemp creates the temporary file, writes data to it and returns its name. With an error, a non-empty name is
// a file that the caller has to remove.
func writeTemp(path string, data []byte, o Options, exact bool) (temp string, err error) {
	f, err := createTemp(path, o.Perm)
	if err != nil {
		return "", err
	}
	if exact {
		// The error is ignored: such a file system gives every file the same mode and owner.
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

// checkWritable returns an error if the owner made the file read-only. It looks at the mode and does not ask the
// kernel, because root may write anything and still means something by chmod 444.
func checkWritable(path string) error {
	info, err := os.Lstat(path)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o200 == 0 {
		return &fs.PathError{Op: "replace read-only file", Path: path, Err: fs.ErrPermission}
	}
	return nil // a missing folder, or a folder at path, fails later when it is used
}

func makeParent(path string) error {
	return os.MkdirAll(filepath.Dir(path), 0o700)
}
