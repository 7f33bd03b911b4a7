package natsstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
)

// This file reads and writes entries in the bucket.

// The keys of the bucket.
const (
	listPrefix  = "list."
	leasePrefix = "lease."
)

const (
	maxInFlight   = 8         // messages in flight at once
	packAbove     = 4 << 10   // size in bytes from which an entry is compressed
	maxPlain      = 256 << 20 // largest unpacked entry in bytes
	headerReserve = 1 << 10   // bytes of a message reserved for headers
)

// bucketState is the last known content of the bucket; each Load updates it.
type bucketState struct {
	mu      sync.Mutex
	last    uint64 // revision up to which all changes are known; 0 before the first Load
	entries map[string]version
}

// version is an entry at a revision; raw is nil if it was deleted or is damaged.
type version struct {
	revision uint64
	raw      json.RawMessage
}

// set stores a version unless a later one is known.
func (k *bucketState) set(name string, v version) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries == nil {
		k.entries = map[string]version{}
	}
	if v.revision >= k.entries[name].revision {
		k.entries[name] = v
	}
}

func (k *bucketState) version(name string) version {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.entries[name]
}

func (k *bucketState) snapshot() toolcache.Snapshot {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := toolcache.Snapshot{Entries: make(map[string]json.RawMessage, len(k.entries))}
	for name, v := range k.entries {
		if v.raw != nil {
			out.Entries[name] = v.raw
		}
	}
	return out
}

func (k *bucketState) raiseLast(revision uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = max(k.last, revision)
}

func (k *bucketState) lastKnown() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// Load requests what has changed since the last Load. Damaged entries are left out.
func (s *Store) Load(ctx context.Context) (toolcache.Snapshot, error) {
	return runOnBucket(ctx, s, "load shared tool cache", s.load)
}

func (s *Store) load(ctx context.Context, b *bucket) (toolcache.Snapshot, error) {
	w, err := b.watch(ctx)
	if err != nil {
		return toolcache.Snapshot{}, err
	}
	defer s.stopWatch(w)
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return toolcache.Snapshot{}, errEnded
			case e == nil: // end of the current entries
				return b.known.snapshot(), nil
			}
			b.known.set(e.Key()[len(listPrefix):], s.unpack(e))
			b.known.raiseLast(e.Revision())
		case <-ctx.Done():
			return toolcache.Snapshot{}, context.Cause(ctx)
		}
	}
}

// errEnded is the error of a watch that the server ended.
var errEnded = errors.New("the server ended the watch")

// watch starts a watch on all entries that have changed since the last Load.
func (b *bucket) watch(ctx context.Context, more ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	if last := b.known.lastKnown(); last > 0 {
		more = append(more, jetstream.ResumeFromRevision(last+1))
	}
	return b.kv.Watch(ctx, listPrefix+">", more...)
}

// stopWatch ends a watch. It also drains what the watch has already delivered, which would otherwise block the connection.
func (s *Store) stopWatch(w jetstream.KeyWatcher) {
	_ = w.Stop() // fails only if the connection is gone, and the watch with it
	s.running.Go(func() {
		for range w.Updates() {
		}
	})
}

// unpack unpacks an entry.
func (s *Store) unpack(e jetstream.KeyValueEntry) version {
	v := version{revision: e.Revision()}
	if e.Operation() != jetstream.KeyValuePut {
		return v
	}
	raw, err := toolcache.Unpack(e.Value(), maxPlain)
	if err == nil && !json.Valid(raw) {
		err = errors.New("not JSON")
	}
	if err != nil {
		s.log.Warn("shared tool cache: an entry is damaged and left out", "bucket", s.address.bucket, "key", e.Key(), "error", err)
		return v
	}
	v.raw = raw
	return v
}

// Commit writes each entry on condition that it still has the revision to be replaced. An entry that is too large for
// a message is left out, with a warning.
func (s *Store) Commit(ctx context.Context, changes []toolcache.Change) (toolcache.Snapshot, error) {
	const op = "commit to shared tool cache"
	for _, c := range changes {
		if c.Entry != nil && !json.Valid(c.Entry) {
			return toolcache.Snapshot{}, &tool.Error{
				Op: op, Kind: tool.Invalid, Subject: "entry " + strconv.Quote(c.Server), Message: "is not JSON, expected an object",
			}
		}
	}
	return runOnBucket(ctx, s, op, func(ctx context.Context, b *bucket) (toolcache.Snapshot, error) {
		err := s.commit(ctx, b, changes)
		if !errors.Is(err, toolcache.ErrConflict) {
			return b.known.snapshot(), err
		}
		// The bucket may have been created again, with revisions that start over.
		s.forget(b)
		if b, err = s.bucket(ctx); err != nil {
			return toolcache.Snapshot{}, err
		}
		now, err := s.load(ctx, b)
		if err != nil {
			return toolcache.Snapshot{}, err
		}
		return now, toolcache.ErrConflict
	})
}

func (s *Store) commit(ctx context.Context, b *bucket, changes []toolcache.Change) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxInFlight)
	for _, c := range changes {
		group.Go(func() error {
			below := b.known.version(c.Server)
			if !bytes.Equal(below.raw, c.Old) {
				return toolcache.ErrConflict
			}
			next, err := s.writeEntry(ctx, b, listPrefix+c.Server, c.Entry, below)
			switch {
			case isConflict(err):
				return toolcache.ErrConflict
			case err == nil:
				b.known.set(c.Server, next)
			}
			return err
		})
	}
	return group.Wait()
}

// writeEntry writes an entry, or deletes it if nil, and returns the version after that.
func (s *Store) writeEntry(ctx context.Context, b *bucket, key string, entry json.RawMessage, below version) (version, error) {
	if entry == nil {
		if below.raw == nil {
			return below, nil
		}
		// The next Load reports the revision of the deletion.
		return version{revision: below.revision}, b.kv.Delete(ctx, key, jetstream.LastRevision(below.revision))
	}
	packed, err := toolcache.Pack(entry, packAbove)
	if err != nil {
		return below, err
	}
	if len(packed) > b.room {
		s.warnTooLarge(b, key, len(packed), "max_payload of the NATS server")
		return below, nil
	}
	next := version{raw: entry}
	if below.revision == 0 {
		next.revision, err = b.kv.Create(ctx, key, packed)
	} else {
		next.revision, err = b.kv.Update(ctx, key, packed, below.revision)
	}
	if errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum) { // a limit of the bucket, if another program created it
		s.warnTooLarge(b, key, len(packed), "the bucket's limit of a value")
		return below, nil
	}
	return next, err
}

// warnTooLarge warns that an entry is not shared, once for each connection, since every commit tries it again.
func (s *Store) warnTooLarge(b *bucket, key string, size int, limit string) {
	if _, again := b.leftOut.LoadOrStore(key, true); !again {
		s.log.Warn("shared tool cache: an entry is too large and is not shared", "key", key, "bytes", size, "raise", limit)
	}
}
