package serverlog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"collie/internal/atomicfile"
)

// This file writes rotated log files.

// File is a rotated log file: before Path would exceed MaxSize it is renamed to Path.1, the former Path.1 to Path.2,
// and so on. Several processes may write to it, each whole lines at a time. The file is opened for each write, so
// that every process sees a rotation by another one at once, and a quiet log keeps no descriptor open.
//
// It is an [io.Writer] and safe for concurrent use. Files have mode 0600, new folders 0700.
type File struct {
	Path    string
	MaxSize int64 // bytes; default 5 MiB
	Files   int   // number of files kept, Path included; default 3

	mu sync.Mutex // held during a write
}

// Write appends p, which must be whole lines. If the file ends in the middle of a line, after a crash, that line is
// ended first.
func (f *File) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.rotateFor(len(p)); err != nil {
		return 0, err
	}
	w, err := f.open()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(p)
	return n, errors.Join(err, w.Close())
}

// Check creates the file and returns an error if it cannot be written.
func (f *File) Check() error {
	w, err := f.open()
	if err != nil {
		return err
	}
	return w.Close()
}

// writeLines writes lines in pieces that each fit into one file.
func (f *File) writeLines(lines []byte) error {
	for len(lines) > 0 {
		n := len(lines)
		if limit := int(min(f.max(), maxBytes)); n > limit {
			if n = bytes.LastIndexByte(lines[:limit], '\n') + 1; n == 0 {
				n = bytes.IndexByte(lines, '\n') + 1 // a line longer than a whole file
			}
		}
		if _, err := f.Write(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

func (f *File) open() (*os.File, error) {
	const flags = os.O_APPEND | os.O_CREATE | os.O_RDWR
	w, err := os.OpenFile(f.Path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return nil, err
		}
		w, err = os.OpenFile(f.Path, flags, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if info, err := w.Stat(); err == nil && info.Size() > 0 {
		var end [1]byte
		if _, err := w.ReadAt(end[:], info.Size()-1); err == nil && end[0] != '\n' {
			_, _ = w.WriteString("\n") // even if this fails, the next lines are written
		}
	}
	return w, nil
}

// rotateFor makes room for n bytes. If another process is rotating, or the files cannot be renamed, the file exceeds
// its limit.
func (f *File) rotateFor(n int) error {
	if f.hasRoom(n) {
		return nil
	}
	unlock, ok, err := atomicfile.TryLock(filepath.Join(filepath.Dir(f.Path), ".rotate.lock"))
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	defer unlock()
	if f.hasRoom(n) { // another process was faster
		return nil
	}
	if f.files() == 1 {
		return os.Truncate(f.Path, 0)
	}
	for i := f.files() - 1; i > 0; i-- {
		if err := os.Rename(f.name(i-1), f.name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil // it may be open elsewhere; keeping a line matters more than the limit
		}
	}
	return nil
}

func (f *File) hasRoom(n int) bool {
	info, err := os.Stat(f.Path)
	return err != nil || info.Size() == 0 || info.Size()+int64(n) <= f.max()
}

// name returns the name of file i, where 0 is the current one.
func (f *File) name(i int) string {
	if i == 0 {
		return f.Path
	}
	return f.Path + "." + strconv.Itoa(i)
}

func (f *File) max() int64 {
	if f.MaxSize > 0 {
		return f.MaxSize
	}
	return 5 << 20
}

func (f *File) files() int {
	if f.Files > 0 {
		return f.Files
	}
	return 3
}
