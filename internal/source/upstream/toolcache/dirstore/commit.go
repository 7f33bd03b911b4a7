package dirstore

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// Commit writes a new generation; see the package comment for how.
func (s *Store) Commit(ctx context.Context, base uint64, changes []toolcache.Change) (uint64, error) {
	for _, c := range changes {
		if c.Entry != nil && !json.Valid(c.Entry) {
			return 0, invalidEntry(c.Server)
		}
	}
	g, err := do(ctx, s, "commit to shared tool cache", func(ctx context.Context) (uint64, error) {
		return s.commit(ctx, base, changes)
	})
	if err == nil {
		s.seen.Store(g)
	}
	return g, err
}

func (s *Store) commit(ctx context.Context, base uint64, changes []toolcache.Change) (uint64, error) {
	n, err := s.generations.latest(ctx)
	if err != nil {
		return 0, err
	}
	if n != base {
		return 0, toolcache.ErrConflict
	}
	below, err := s.standing(ctx, n)
	if errors.Is(err, errMoved) {
		return 0, toolcache.ErrConflict
	}
	if err != nil {
		return 0, err
	}
	next, files := below.with(changes, filepath.Base(s.generations.path(n+1)))
	if files[head], err = json.Marshal(next); err != nil {
		return 0, err
	}
	folder, err := s.generations.stage(ctx, files)
	if errors.Is(err, errSwept) {
		return 0, toolcache.ErrConflict
	}
	if err != nil {
		return 0, err
	}
	won, err := s.generations.publish(ctx, folder, n+1, files[head])
	if won {
		won, err = s.confirm(ctx, n+1, next.ID)
	}
	if err == nil && !won {
		err = toolcache.ErrConflict
	}
	if err != nil {
		return 0, err
	}
	s.own.add(base, n+1)
	s.collect(ctx, n+1, next)
	return n + 1, nil
}

// with returns the manifest of the next generation, which lies in folder, and its files.
func (m manifest) with(changes []toolcache.Change, folder string) (next manifest, files map[string][]byte) {
	next = m.clone()
	next.Format, next.ID, next.Parent = format, randomID(), m.ID
	files = map[string][]byte{}
	for _, c := range changes {
		if c.Entry == nil {
			delete(next.Entries, c.Server)
			continue
		}
		name := slug(c.Server) + ".json"
		files[name] = c.Entry
		next.Entries[c.Server] = part{File: path.Join(folder, name), SHA256: digest(c.Entry)}
		next.TotalWrites++
	}
	return next, files
}

// confirm tells a commit from one that came so late that its number had been taken, used and
// collected: then there are higher ones, which do not descend from it, and cleaning takes it
// away.
func (s *Store) confirm(ctx context.Context, n uint64, id string) (bool, error) {
	latest, err := s.generations.latest(ctx)
	if err != nil || latest == n {
		return err == nil, err
	}
	above, found, err := s.manifest(n + 1)
	return found && above.Parent == id, err
}

// collect cleans up after a commit, now and then.
func (s *Store) collect(ctx context.Context, ours uint64, m manifest) {
	last, now := s.collected.Load(), time.Now().UnixNano()
	if now-last < int64(s.opts.Keep/10) || !s.collected.CompareAndSwap(last, now) {
		return
	}
	err := s.clean(ctx, ours, m)
	if err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) { // others clean too
		s.opts.Logger.Warn("shared tool cache: cleaning did not finish", "dir", s.generations.dir, "error", err)
	}
}
