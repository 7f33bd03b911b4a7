package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
)

// Backup writes a consistent, compacted copy of the file to path. Others may read and write meanwhile. Only the owner
// can read the new file. If path exists, the error wraps [os.ErrExist]. After an error no file is left at path.
func (w *Workspace) Backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		if err == nil {
			err = os.ErrExist
		}
		return fmt.Errorf("back up the vault to %s: %w", path, err)
	}
	dir, cleanup, err := TempDir(filepath.Dir(path), ".collie-backup-")
	if err != nil {
		return fmt.Errorf("back up the vault: %w", err)
	}
	defer cleanup()
	part := filepath.Join(dir, "vault.db")
	err = w.withConn(ctx, w.readers, false, func(conn *sqlite.Conn) error {
		tx := newTx(w, conn, false)
		tx.exec("VACUUM INTO ?", part)
		return tx.err
	})
	if err != nil {
		return fmt.Errorf("back up the vault to %s: %w", path, err)
	}
	if err := os.Chmod(part, 0o600); err != nil {
		return fmt.Errorf("back up the vault to %s: %w", path, err)
	}
	if err := syncFile(part); err != nil {
		return fmt.Errorf("back up the vault to %s: %w", path, err)
	}
	if err := os.Link(part, path); err != nil { // fails if the file was created meanwhile
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("back up the vault to %s: %w", path, err)
		}
		if err := os.Rename(part, path); err != nil {
			return fmt.Errorf("back up the vault to %s: %w", path, err)
		}
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil { // makes the name survive a crash of the machine
		_ = d.Sync() // not supported on every system
		_ = d.Close()
	}
	return nil
}

// syncFile flushes a file to the disk, since a backup must survive a crash of the machine.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
