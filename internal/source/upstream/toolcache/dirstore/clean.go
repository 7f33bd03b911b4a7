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
// Two may clean at once, beside readers and writers, and one may sleep in the middle of it:
// what lies below our generation and is still needed is named by our manifest, which we hold,
// as every later one descends from it; and a reader that finds a file gone begins again.
func (s *Store) clean(ctx context.Context, ours uint64, m manifest) error {
	now, err := s.born(ours)
	if err != nil {
		return err
	}
	s.generations.sweep(now.Add(-s.opts.Keep))
	all, err := s.generations.numbers()
	if err != nil || len(all) == 0 || all[len(all)-1] < ours { // emptied, and filled anew
		return err
	}
	needed := map[string]bool{}
	s.mark(needed, m)
	below, _ := slices.BinarySearch(all, ours)
	all = all[:below]
	kept, err := s.keep(all, now, needed)
	if err != nil {
		return err
	}
	for _, n := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !kept[n] {
			if err := s.strip(n, needed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) mark(needed map[string]bool, m manifest) {
	for _, p := range m.Entries {
		needed[s.path(p)] = true
	}
}

// keep chooses those of the generations that slow readers may still want, and marks what they
// need. The one above them was written now.
func (s *Store) keep(all []uint64, now time.Time, needed map[string]bool) (kept map[uint64]bool, err error) {
	kept = map[uint64]bool{}
	replaced := now // when the generation looked at was
	for _, n := range slices.Backward(all) {
		if now.Sub(replaced) >= s.opts.Keep {
			break
		}
		m, found, err := s.manifest(n)
		if err != nil {
			return nil, err
		}
		if !found {
			continue // stripped before, or damaged
		}
		if replaced, err = s.born(n); err != nil {
			return nil, err
		}
		kept[n] = true
		s.mark(needed, m)
	}
	return kept, nil
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
