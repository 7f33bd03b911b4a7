package dirstore

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// lease is the head of a version of a lease.
type lease struct {
	ID      string `json:"id"`
	Parent  string `json:"parent,omitempty"`
	Server  string `json:"server"`
	Holder  string `json:"holder"` // empty: given back
	ForNano int64  `json:"forNano"`
}

// sight is when this process first saw a lease, by its own clock.
type sight struct {
	id    string
	since time.Time
}

// spareLeases is how many replaced versions stay, so that a listing never misses them all.
const spareLeases = 8

// Lease implements [toolcache.Backend]. A lease has ended when its time has passed between
// the file of the lease and one written now, both as the file server dates them, or when
// this process has seen it unchanged for that long: no clock is compared with another's.
func (s *Store) Lease(ctx context.Context, server, holder string, d time.Duration) (bool, error) {
	return do(ctx, s, "lease in shared tool cache", func(ctx context.Context) (bool, error) {
		line := series{filepath.Join(s.leases, slug(server)), s.opts.Mode}
		for {
			ok, again, err := s.lease(ctx, line, server, holder, d)
			if !again {
				return ok, err
			}
		}
	})
}

// lease tries once; again is true if another was faster.
func (s *Store) lease(ctx context.Context, line series, server, holder string, d time.Duration) (ok, again bool, err error) {
	n, err := line.latest(ctx)
	if err != nil {
		return false, false, err
	}
	now, since := readLease(line, n)
	free, mine := now.Holder == "", now.Holder == holder
	if d <= 0 && !mine {
		return free, false, nil // nothing to give back
	}
	next := lease{ID: randomID(), Parent: now.ID, Server: server, Holder: holder, ForNano: int64(d)}
	if d <= 0 {
		next.Holder = ""
	}
	raw, err := json.Marshal(next)
	if err != nil {
		return false, false, err
	}
	folder, err := line.stage(ctx, map[string][]byte{head: raw})
	if err != nil {
		return false, errors.Is(err, errSwept), err
	}
	if !free && !mine && !s.ended(line.dir, now, since, folder) {
		return false, false, os.RemoveAll(folder)
	}
	won, err := line.publish(ctx, folder, n+1, raw)
	if won {
		won, err = confirmLease(ctx, line, n+1, next.ID)
	}
	if err != nil || !won {
		return false, err == nil, err
	}
	s.cleanLeases(line, n+1)
	return true, false, nil
}

// readLease reads version n of a lease and when it was written; one that is missing or
// damaged is free.
func readLease(line series, n uint64) (l lease, written time.Time) {
	path := filepath.Join(line.path(n), head)
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &l) != nil {
		return lease{}, time.Time{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return lease{}, time.Time{}
	}
	return l, info.ModTime()
}

// ended reports whether a lease written at since has run out. staged is a folder that has
// just been written beside it.
func (s *Store) ended(dir string, l lease, since time.Time, staged string) bool {
	d := time.Duration(l.ForNano)
	if info, err := os.Stat(filepath.Join(staged, head)); err == nil && info.ModTime().Sub(since) >= d {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.observed[dir]
	if seen.id != l.ID {
		s.observed[dir] = sight{l.ID, time.Now()}
		return false
	}
	return time.Since(seen.since) >= d
}

// confirmLease is confirm for leases.
func confirmLease(ctx context.Context, line series, n uint64, id string) (bool, error) {
	latest, err := line.latest(ctx)
	if err != nil || latest == n {
		return err == nil, err
	}
	above, _ := readLease(line, n+1)
	return above.Parent == id, nil
}

func (s *Store) cleanLeases(line series, newest uint64) {
	all, err := line.numbers()
	if err != nil {
		return
	}
	for _, n := range all {
		if n+spareLeases < newest {
			line.remove(line.path(n))
		}
	}
	if info, err := os.Stat(filepath.Join(line.path(newest), head)); err == nil {
		line.sweep(info.ModTime().Add(-s.opts.Keep))
	}
}
