package natsstore

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"
)

// purge removes blobs without leaving the markers that deleting their keys would. Whatever it
// fails to remove, the sweep of another Store does.
func (s *Store) purge(ctx context.Context, b *bucket, ids []string) {
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, id := range ids {
		if id == "" {
			continue
		}
		group.Go(func() error {
			return b.stream.Purge(ctx, jetstream.WithPurgeSubject(b.prefix+entryPrefix+id+".*"))
		})
	}
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		s.opts.Logger.Debug("shared tool cache: purging did not finish", "bucket", s.address.bucket, "error", err)
	}
}

// sweep purges, once per Store, the blobs that the manifest of revision does not name and that
// came before it: a commit that may still want one builds on an older manifest and so fails.
func (s *Store) sweep(ctx context.Context, b *bucket, m manifest, revision uint64) {
	if s.swept.Swap(true) {
		return
	}
	ids, err := b.orphans(ctx, m, revision)
	if err != nil {
		s.swept.Store(false)
		s.opts.Logger.Debug("shared tool cache: sweeping did not finish", "bucket", s.address.bucket, "error", err)
		return
	}
	s.purge(ctx, b, ids)
}

func (b *bucket) orphans(ctx context.Context, m manifest, revision uint64) (ids []string, err error) {
	w, err := b.kv.Watch(ctx, entryPrefix+">", jetstream.MetaOnly(), jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Stop() }()
	found := map[string]bool{}
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok || e == nil { // nil follows the last one
				return ids, nil
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(e.Key(), entryPrefix), ".")
			if e.Revision() < revision && !found[id] && !m.names(id) {
				found[id] = true
				ids = append(ids, id)
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
