package natsstore

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/nats-io/nuid"
	"golang.org/x/sync/errgroup"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// Commit writes the entries and then the manifest; see the package comment.
func (s *Store) Commit(ctx context.Context, base uint64, changes []toolcache.Change) (generation uint64, err error) {
	const op = "commit to shared tool cache"
	for _, c := range changes {
		if c.Entry != nil && !json.Valid(c.Entry) {
			return 0, &tool.Error{
				Op: op, Kind: tool.Invalid, Subject: "entry " + strconv.Quote(c.Server),
				Message: "is no JSON, expected an object",
			}
		}
	}
	landed := s.own.Begin(base)
	defer func() { landed(generation) }()
	generation, err = call(ctx, s, op, func(ctx context.Context, b *bucket) (uint64, error) {
		return s.commit(ctx, b, base, changes)
	})
	if err == nil {
		s.seen.Store(generation)
	}
	return generation, err
}

func (s *Store) commit(ctx context.Context, b *bucket, base uint64, changes []toolcache.Change) (uint64, error) {
	below, revision, taken, err := b.manifest(ctx)
	if err != nil {
		return 0, err
	}
	if revision != base {
		return 0, toolcache.ErrConflict
	}
	next, spare := below.next(taken, s.opts.Keep)
	fresh, err := b.store(ctx, changes)
	if err != nil {
		return 0, err // what came in is swept by a later writer
	}
	for i, c := range changes {
		if old, ok := next.Entries[c.Server]; ok && !slices.ContainsFunc(fresh, func(e blob) bool { return e.ID == old.ID }) {
			next.Retired = append(next.Retired, retired{ID: old.ID})
		}
		delete(next.Entries, c.Server)
		if c.Entry != nil {
			next.Entries[c.Server] = fresh[i]
			next.TotalWrites++
		}
	}
	revision, err = b.replace(ctx, next, base)
	if conflict(err) {
		s.purge(ctx, b, ids(fresh))
		return 0, toolcache.ErrConflict
	}
	if err != nil {
		return 0, err
	}
	s.purge(ctx, b, spare)
	s.sweep(ctx, b, next, revision)
	return revision, nil
}

func ids(blobs []blob) []string {
	out := make([]string, len(blobs))
	for i, e := range blobs {
		out[i] = e.ID
	}
	return out
}

// store writes the entries of changes under new keys. The blob of a deletion is empty.
func (b *bucket) store(ctx context.Context, changes []toolcache.Change) ([]blob, error) {
	out := make([]blob, len(changes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, c := range changes {
		if c.Entry == nil {
			continue
		}
		packed, err := pack(c.Entry, 4<<10)
		if err != nil {
			return nil, err
		}
		out[i] = blob{ID: nuid.Next(), Size: len(c.Entry), SHA256: digest(c.Entry)}
		for piece := range slices.Chunk(packed, b.chunk) {
			key := chunkKey(out[i].ID, out[i].Chunks)
			out[i].Chunks++
			group.Go(func() error {
				_, err := b.kv.Put(ctx, key, piece)
				return err
			})
		}
	}
	return out, group.Wait()
}

// replace writes the manifest on top of a revision.
func (b *bucket) replace(ctx context.Context, m manifest, base uint64) (revision uint64, err error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	if raw, err = pack(raw, b.chunk); err != nil { // one that a message holds is nicer to look at
		return 0, err
	}
	if base == 0 {
		return b.kv.Create(ctx, manifestKey, raw)
	}
	return b.kv.Update(ctx, manifestKey, raw, base)
}
