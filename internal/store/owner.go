package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"collie/internal/atomicfile"
)

// This file tells apart the open stores of several processes, so that work which a dead process left is noticed.

// Owner returns the id of this open store. Work in progress that is stored in the file names it.
func (s *Store) Owner() string { return s.owner }

// Alive reports whether the store with the id owner is open, in this process or another. In doubt it returns true.
func (s *Store) Alive(owner string) bool {
	if owner == s.owner {
		return true
	}
	path := s.lockFile(owner)
	if _, err := os.Stat(path); err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	unlock, free, err := atomicfile.TryLock(path)
	if err != nil || !free {
		return true
	}
	_ = os.Remove(path) // ids are not reused, so nobody else locks it
	unlock()
	return false
}

func (s *Store) lockFile(owner string) string {
	return filepath.Join(s.dir, "owners", filepath.Base(owner)+".lock")
}
