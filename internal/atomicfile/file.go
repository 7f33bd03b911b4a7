package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
)

// File is a small file that several processes change. The struct holds no state: copies mean the same file.
// All methods are safe for concurrent use.
type File struct {
	Path string
	Perm fs.FileMode // 0 means 0600
	// NoSync chooses [WriteNoSync].
	NoSync bool
}

// Update replaces the content with what edit returns for it. It holds the lock Path+".lock" meanwhile, so
// that concurrent Updates do not overwrite each other. old is nil if the file does not exist; edit must not
// keep it. Nothing is written if edit returns an error or unchanged content (nil if there was no file).
func (f File) Update(ctx context.Context, edit func(old []byte) ([]byte, error)) error {
	unlock, err := Lock(ctx, f.Path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	old, err := os.ReadFile(f.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	data, err := edit(old)
	same := bytes.Equal(old, data) && (!missing || data == nil)
	if err != nil || same {
		return err
	}
	perm := f.Perm
	if perm == 0 {
		perm = 0o600
	}
	return write(f.Path, data, perm, !f.NoSync)
}
