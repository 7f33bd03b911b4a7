package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"collie/internal/atomicfile"
)

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
