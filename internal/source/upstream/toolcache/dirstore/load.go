package dirstore

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"collie/internal/source/upstream/toolcache"
)

// Load reads the newest generation. An entry whose file is damaged is left out.
func (s *Store) Load(ctx context.Context) (toolcache.Snapshot, error) {
	snap, err := do(ctx, s, "load shared tool cache", s.load)
	if err == nil {
		s.seen.Store(snap.Generation)
	}
	return snap, err
}

func (s *Store) load(ctx context.Context) (toolcache.Snapshot, error) {
	for {
		n, err := s.generations.latest(ctx)
		if err != nil {
			return toolcache.Snapshot{}, err
		}
		m, err := s.standing(ctx, n)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return toolcache.Snapshot{}, err
		}
		snap := toolcache.Snapshot{Generation: n, TotalWrites: m.TotalWrites}
		var damaged []string
		if snap.Entries, damaged, err = s.entries(ctx, m); err != nil {
			return toolcache.Snapshot{}, err
		}
		if len(damaged) == 0 {
			return snap, nil
		}
		// A reader that slept for long finds files collected: what is kept now has all of its own.
		if now, err := s.generations.latest(ctx); err != nil || now != n {
			if err != nil {
				return toolcache.Snapshot{}, err
			}
			continue
		}
		s.opts.Logger.Warn("shared tool cache: entries are missing or damaged, leaving them out",
			"dir", s.generations.dir, "generation", n, "servers", damaged)
		return snap, nil
	}
}

// entries reads the files of a manifest, several at a time: on a network drive each costs a
// few round trips. Those that the last Load has read are not read again.
func (s *Store) entries(ctx context.Context, m manifest) (entries map[string]json.RawMessage, damaged []string, err error) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	entries = make(map[string]json.RawMessage, len(m.Entries))
	read := make(map[string]json.RawMessage, len(m.Entries))
	var mu sync.Mutex
	var files errgroup.Group
	files.SetLimit(8)
	for server, p := range m.Entries {
		if raw, ok := known[p.SHA256]; ok {
			mu.Lock()
			entries[server], read[p.SHA256] = raw, raw
			mu.Unlock()
			continue
		}
		files.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			raw, err := os.ReadFile(s.path(p))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil || digest(raw) != p.SHA256 {
				damaged = append(damaged, server)
				return nil
			}
			entries[server], read[p.SHA256] = raw, raw
			return nil
		})
	}
	if err = files.Wait(); err == nil {
		s.mu.Lock()
		s.known = read
		s.mu.Unlock()
	}
	return entries, damaged, err
}
