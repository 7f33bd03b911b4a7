package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
)

// File is a small file that several processes change. It holds no state: copies are the
// same file, and all methods are safe for concurrent use.
type File struct {
	Path string
	Perm fs.FileMode // 0 means 0600
	// NoSync chooses [WriteNoSync].
	NoSync bool
}

// Update replaces the content with what edit makes of it, under the lock Path+".lock", so
// that no other Update is lost. edit gets nil where there is no file yet; it must not
// keep old. When it returns an error, or the content as it was (nil for no file), nothing
// is written.
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
