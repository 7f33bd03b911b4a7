package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"collie/internal/source/upstream/toolcache"
)

// errDamaged means that a blob is missing or is not what the manifest says.
var errDamaged = errors.New("missing or damaged")

// parallel is how many messages are on their way at once.
const parallel = 8

// Load reads what the newest manifest names. An entry that is damaged is left out.
func (s *Store) Load(ctx context.Context) (toolcache.Snapshot, error) {
	snap, err := call(ctx, s, "load shared tool cache", s.loadAgain)
	if err == nil {
		s.seen.Store(snap.Generation)
	}
	return snap, err
}

// loadAgain is load, asked again where no answer comes: a question that was on its way when the
// server went has none, and the connection that stands again does not tell.
func (s *Store) loadAgain(ctx context.Context, b *bucket) (toolcache.Snapshot, error) {
	for limit := firstAnswer; ; limit *= 2 {
		asking, cancel := context.WithTimeout(ctx, limit)
		snap, err := s.load(asking, b)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return snap, err
		}
	}
}

// firstAnswer is how long the first question waits for its answer.
const firstAnswer = 2 * time.Second

func (s *Store) load(ctx context.Context, b *bucket) (toolcache.Snapshot, error) {
	const patience = 4 // looks at a manifest whose blobs are not all there
	for look, last := 1, uint64(0); ; look++ {
		m, revision, _, err := b.manifest(ctx)
		if err != nil {
			return toolcache.Snapshot{}, err
		}
		if revision != last {
			look, last = 1, revision
		}
		entries, damaged, err := s.entries(ctx, b, m)
		if err != nil {
			return toolcache.Snapshot{}, err
		}
		if len(damaged) > 0 && look < patience {
			// Purged behind a newer manifest, or not yet at this server of the cluster.
			if err := pause(ctx, time.Duration(look)*20*time.Millisecond); err != nil {
				return toolcache.Snapshot{}, err
			}
			continue
		}
		if len(damaged) > 0 {
			s.opts.Logger.Warn("shared tool cache: entries are missing or damaged, leaving them out",
				"bucket", s.address.bucket, "generation", revision, "servers", damaged)
		}
		return toolcache.Snapshot{Generation: revision, Entries: entries, TotalWrites: m.TotalWrites}, nil
	}
}

// entries reads the blobs of a manifest but for those that the last Load has read.
func (s *Store) entries(ctx context.Context, b *bucket, m manifest) (entries map[string]json.RawMessage, damaged []string, err error) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	entries = make(map[string]json.RawMessage, len(m.Entries))
	read := make(map[string]json.RawMessage, len(m.Entries))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for server, e := range m.Entries {
		if raw, ok := known[e.SHA256]; ok {
			mu.Lock()
			entries[server], read[e.SHA256] = raw, raw
			mu.Unlock()
			continue
		}
		group.Go(func() error {
			raw, err := b.fetch(ctx, e)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, errDamaged) {
				damaged = append(damaged, server)
				return nil
			}
			entries[server], read[e.SHA256] = raw, raw
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = read
	return entries, damaged, nil
}

// fetch reads a blob.
func (b *bucket) fetch(ctx context.Context, e blob) ([]byte, error) {
	var packed []byte
	for i := range e.Chunks {
		got, err := b.kv.Get(ctx, chunkKey(e.ID, i))
		if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
			return nil, errDamaged
		}
		if err != nil {
			return nil, err
		}
		if packed = append(packed, got.Value()...); len(packed) > maxPlain {
			return nil, errDamaged
		}
	}
	raw, err := unpack(packed, min(e.Size, maxPlain))
	if err != nil || digest(raw) != e.SHA256 {
		return nil, errDamaged
	}
	return raw, nil
}

func chunkKey(id string, i int) string { return fmt.Sprintf("%s%s.%d", entryPrefix, id, i) }

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
