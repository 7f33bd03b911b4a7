package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"collie/internal/atomicfile"
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

// staleAfter is how long a folder without a lock must be unchanged before its process counts as dead.
const staleAfter = 10 * time.Minute

// TempDir creates a folder below dir for temporary work; cleanup removes it. First it removes folders with the same
// prefix whose process has died: nobody holds the lock in them.
func TempDir(dir, prefix string) (path string, cleanup func(), err error) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			removeIfStale(filepath.Join(dir, entry.Name()))
		}
	}
	for {
		if path, err = os.MkdirTemp(dir, prefix); err != nil {
			return "", nil, err
		}
		lock := filepath.Join(path, lockName)
		unlock, free, err := atomicfile.TryLock(lock)
		if err != nil {
			return "", nil, errors.Join(err, os.RemoveAll(path))
		}
		if !free {
			continue // another caller took the lock before us, and removes the folder
		}
		if _, err := os.Lstat(lock); err != nil { // removed before there was a lock
			unlock()
			continue
		}
		return path, func() {
			unlock()
			_ = os.RemoveAll(path)
		}, nil
	}
}

// lockName is the lock in a folder of [TempDir].
const lockName = "lock"

// removeIfStale removes a folder that no process works in any more.
func removeIfStale(part string) {
	f, err := os.Lstat(part)
	if err != nil || !f.IsDir() {
		return
	}
	lock := filepath.Join(part, lockName)
	if f, err := os.Lstat(lock); err == nil && f.Mode().IsRegular() {
		if unlock, free, err := atomicfile.TryLock(lock); err == nil && free {
			_ = os.RemoveAll(part) // before unlocking: a process that has just created it might take the lock and go on
			unlock()
			_ = os.RemoveAll(part) // for systems where an open file cannot be removed
		}
		return
	}
	lastChange := f.ModTime() // no lock: just created, or written by an older Collie
	entries, _ := os.ReadDir(part)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().After(lastChange) {
			lastChange = info.ModTime()
		}
	}
	if time.Since(lastChange) > staleAfter {
		_ = os.RemoveAll(part)
	}
}

// syncFile flushes a file to the disk, since a backup must survive a crash of the machine.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Info describes the content of a workspace.
type Info struct {
	Path string `json:"path"`
	// Size is that of the file and its log, in bytes.
	Size      int64 `json:"size"`
	Version   int   `json:"version"`
	Notebooks int   `json:"notebooks"`
	Documents int   `json:"documents"` // without the pages of notebooks
	Blocks    int   `json:"blocks"`    // without documents
	Files     int   `json:"files"`
	FileBytes int64 `json:"fileBytes"`
	// Changed is the time of the last change to a document, the zero time if there is none.
	Changed time.Time `json:"changed,omitzero"`
}

// Info counts what is in the workspace.
func (w *Workspace) Info(ctx context.Context) (Info, error) {
	info := Info{Path: w.path, Version: w.version}
	for _, suffix := range []string{"", "-wal"} {
		if f, err := os.Stat(w.path + suffix); err == nil {
			info.Size += f.Size()
		}
	}
	err := w.View(ctx, func(tx *Tx) error {
		count := func(statement string) int64 {
			n, _ := tx.number(statement)
			return n
		}
		info.Notebooks = int(count("SELECT count(*) FROM notebook"))
		info.Documents = int(count("SELECT count(*) FROM document WHERE id <> box"))
		info.Blocks = int(count("SELECT count(*) FROM node WHERE parent <> 0"))
		info.Files = int(count("SELECT count(*) FROM file WHERE dir = 0"))
		info.FileBytes = count("SELECT coalesce(sum(size), 0) FROM file")
		if at := count("SELECT coalesce(max(changed), 0) FROM document"); at > 0 {
			info.Changed = time.UnixMilli(at)
		}
		return nil
	})
	return info, err
}
