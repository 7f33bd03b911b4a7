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

// File is a log file that is rotated: before Path grows beyond MaxSize it becomes Path.1,
// that Path.2, and so on. Several processes may write one, whole lines at a time. It is
// opened for each write, so that every process sees at once what another one has rotated,
// and so that a quiet log holds no descriptor.
//
// It is an [io.Writer] and safe for concurrent use. Files have mode 0600, new folders 0700.
type File struct {
	Path    string
	MaxSize int64 // bytes; default 5 MiB
	Files   int   // how many are kept, Path included; default 3

	mu sync.Mutex // one write at a time
}

// Write appends p, which is to be one or several lines with their breaks. A line that a
// crash has torn is ended first.
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

// Check makes the file and reports why it cannot be written.
func (f *File) Check() error {
	w, err := f.open()
	if err != nil {
		return err
	}
	return w.Close()
}

// writeLines writes lines in pieces that fit into a file.
func (f *File) writeLines(lines []byte) error {
	for len(lines) > 0 {
		n := len(lines)
		if limit := int(min(f.max(), maxBytes)); n > limit {
			if n = bytes.LastIndexByte(lines[:limit], '\n') + 1; n == 0 {
				n = bytes.IndexByte(lines, '\n') + 1 // a line that is longer than all
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
			_, _ = w.WriteString("\n") // what comes is written all the same
		}
	}
	return w, nil
}

// rotateFor makes room for n bytes. While another process rotates, or where the files cannot
// be renamed, the file grows.
func (f *File) rotateFor(n int) error {
	if f.fits(n) {
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
	if f.fits(n) { // another process was first
		return nil
	}
	if f.files() == 1 {
		return os.Truncate(f.Path, 0)
	}
	for i := f.files() - 1; i > 0; i-- {
		if err := os.Rename(f.name(i-1), f.name(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil // it may be open elsewhere; a line that is kept is worth more than a limit
		}
	}
	return nil
}

func (f *File) fits(n int) bool {
	info, err := os.Stat(f.Path)
	return err != nil || info.Size() == 0 || info.Size()+int64(n) <= f.max()
}

// name is the file of age i, 0 for the current one.
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
