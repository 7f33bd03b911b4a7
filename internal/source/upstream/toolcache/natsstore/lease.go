package natsstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// lease is the value of a lease key. One gateway at a time holds the lease of an MCP server, and only that one may
// refresh the server's lists.
type lease struct {
	Server  string `json:"server"` // the name of the MCP server in the shared cache
	Holder  string `json:"holder"` // the gateway; empty: the lease was given back
	ForNano int64  `json:"forNano"`
}

// Lease implements [toolcache.Shared]. The NATS server's clock decides when a lease ends, since those of the gateways
// may differ.
func (s *Store) Lease(ctx context.Context, server, holder string, d time.Duration) (bool, error) {
	return runOnBucket(ctx, s, "lease in shared tool cache", func(ctx context.Context, b *bucket) (bool, error) {
		for {
			ok, err := b.tryLease(ctx, server, holder, d)
			if !isConflict(err) {
				return ok, err
			}
		}
	})
}

// tryLease tries once. If another was faster, [isConflict] is true of the error.
func (b *bucket) tryLease(ctx context.Context, server, holder string, d time.Duration) (bool, error) {
	sum := sha256.Sum256([]byte(server))
	key := leasePrefix + hex.EncodeToString(sum[:16])
	stored, err := b.kv.Get(ctx, key)
	var now lease
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
	case err != nil:
		return false, err
	case json.Unmarshal(stored.Value(), &now) != nil:
		now = lease{} // a damaged lease counts as free
	}
	free, mine := now.Holder == "", now.Holder == holder
	if d <= 0 && !mine {
		return free, nil // not ours, so there is nothing to give back
	}
	if !free && !mine {
		if ended, err := b.hasEnded(ctx, stored, now); err != nil || !ended {
			return false, err
		}
	}
	next := lease{Server: server, Holder: holder, ForNano: int64(d)}
	if d <= 0 {
		next.Holder = ""
	}
	raw, err := json.Marshal(next)
	if err != nil {
		return false, err
	}
	if stored == nil {
		_, err = b.kv.Create(ctx, key, raw)
	} else {
		_, err = b.kv.Update(ctx, key, raw, stored.Revision())
	}
	return err == nil, err
}

// hasEnded reports whether a lease has expired. Both times come from the NATS server: what its clock says now, and when it
// stored the lease.
func (b *bucket) hasEnded(ctx context.Context, stored jetstream.KeyValueEntry, l lease) (bool, error) {
	stream, err := b.js.Stream(ctx, "KV_"+b.kv.Bucket())
	if err != nil {
		return false, err
	}
	now := stream.CachedInfo().TimeStamp // as of the request just made
	if now.IsZero() {
		now = time.Now() // servers before 2.10 do not tell the time
	}
	return now.Sub(stored.Created()) >= time.Duration(l.ForNano), nil
}
