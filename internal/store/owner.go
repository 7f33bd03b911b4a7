package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"collie/internal/atomicfile"
)

// Owner is the id of this open store, which what it works on carries.
func (s *Store) Owner() string { return s.owner }

// Alive reports whether the store with the id owner is open, in this process or in another one. Where that cannot be found
// out it is taken to be.
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
	_ = os.Remove(path) // nobody takes it again: ids are used once
	unlock()
	return false
}

func (s *Store) lockFile(owner string) string {
	return filepath.Join(s.dir, "owners", filepath.Base(owner)+".lock")
}
