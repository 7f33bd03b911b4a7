package dirstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// clean removes what no generation needs that is newest or was replaced less than Keep ago.
// All times are those of the file server, as its folder shows them. A generation that is to go
// may still hold entries that were not changed since: these stay, and with them its folder.
//
// Two may clean at once, beside readers and writers: files of the kept generations are all
// that a later one can name, and a reader that finds a file gone begins again.
func (s *Store) clean(ctx context.Context, newest uint64) error {
	now, err := s.born(newest)
	if err != nil {
		return err
	}
	s.generations.sweep(now.Add(-s.opts.Keep))
	all, err := s.generations.numbers()
	if err != nil {
		return err
	}
	kept, needed := map[uint64]bool{}, map[string]bool{}
	replaced := now // when the generation below the one looked at was
	for _, n := range slices.Backward(all) {
		if n > newest || n < newest && now.Sub(replaced) >= s.opts.Keep {
			continue
		}
		m, found, err := s.manifest(n)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		kept[n] = true
		for _, p := range m.Entries {
			needed[s.path(p)] = true
		}
		if replaced, err = s.born(n); err != nil {
			return err
		}
	}
	for _, n := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n < newest && !kept[n] {
			if err := s.strip(n, needed); err != nil {
				return err
			}
		}
	}
	return nil
}

// born tells when a generation was written.
func (s *Store) born(n uint64) (time.Time, error) {
	info, err := os.Stat(filepath.Join(s.generations.path(n), head))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// strip removes a generation but for the entries that are needed.
func (s *Store) strip(n uint64, needed map[string]bool) error {
	folder := s.generations.path(n)
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var spare []string
	for _, f := range files {
		if path := filepath.Join(folder, f.Name()); !needed[path] {
			spare = append(spare, path)
		}
	}
	if len(spare) == len(files) {
		s.generations.remove(folder)
		return nil
	}
	for _, path := range spare {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
