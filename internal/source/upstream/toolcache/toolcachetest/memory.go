package toolcachetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// Place is a kept place in memory, for tests. The zero value is empty and ready; it is safe
// for concurrent use and needs no Close.
type Place struct {
	mu       sync.Mutex
	kept     toolcache.Snapshot
	leases   map[string]lease
	watchers map[*handle]map[chan struct{}]bool
}

type lease struct {
	holder string
	until  time.Time
}

// Open returns another handle on the place. It passes [RunBackend].
func (p *Place) Open() toolcache.Backend { return &handle{place: p, closed: make(chan struct{})} }

type handle struct {
	place  *Place
	closed chan struct{}
	once   sync.Once
	seen   uint64 // generation last loaded or committed; guarded by place.mu
}

// enter locks the place for a call that may still begin.
func (h *handle) enter(ctx context.Context) error {
	select {
	case <-h.closed:
		return errors.New("toolcachetest: closed")
	default:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	h.place.mu.Lock()
	return nil
}

func (h *handle) Load(ctx context.Context) (toolcache.Snapshot, error) {
	if err := h.enter(ctx); err != nil {
		return toolcache.Snapshot{}, err
	}
	defer h.place.mu.Unlock()
	s := h.place.kept
	s.Entries = maps.Clone(s.Entries)
	if s.Entries == nil {
		s.Entries = map[string]json.RawMessage{}
	}
	h.seen = s.Generation
	return s, nil
}

func (h *handle) Commit(ctx context.Context, base uint64, changes []toolcache.Change) (uint64, error) {
	if err := h.enter(ctx); err != nil {
		return 0, err
	}
	p := h.place
	defer p.mu.Unlock()
	if base != p.kept.Generation {
		return 0, toolcache.ErrConflict
	}
	if p.kept.Entries == nil {
		p.kept.Entries = map[string]json.RawMessage{}
	}
	for _, c := range changes {
		if c.Entry == nil {
			delete(p.kept.Entries, c.Server)
			continue
		}
		p.kept.Entries[c.Server] = bytes.Clone(c.Entry)
		p.kept.TotalWrites++
	}
	p.kept.Generation++
	h.seen = p.kept.Generation
	for other, calls := range p.watchers {
		if other == h {
			continue
		}
		for c := range calls {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
	return p.kept.Generation, nil
}

func (h *handle) Watch(ctx context.Context, f func()) error {
	if err := h.enter(ctx); err != nil {
		return err
	}
	p, calls := h.place, make(chan struct{}, 1)
	if p.watchers == nil {
		p.watchers = map[*handle]map[chan struct{}]bool{}
	}
	if p.watchers[h] == nil {
		p.watchers[h] = map[chan struct{}]bool{}
	}
	p.watchers[h][calls] = true
	if h.seen != p.kept.Generation {
		calls <- struct{}{}
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers[h], calls)
	}()
	for {
		select {
		case <-calls:
			f()
		case <-ctx.Done():
			return ctx.Err()
		case <-h.closed:
			return errors.New("toolcachetest: closed")
		}
	}
}

func (h *handle) Lease(ctx context.Context, server, holder string, d time.Duration) (bool, error) {
	if err := h.enter(ctx); err != nil {
		return false, err
	}
	p := h.place
	defer p.mu.Unlock()
	if p.leases == nil {
		p.leases = map[string]lease{}
	}
	now := time.Now()
	if l, held := p.leases[server]; held && l.holder != holder && now.Before(l.until) {
		return false, nil
	}
	p.leases[server] = lease{holder, now.Add(d)}
	return true, nil
}

func (h *handle) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}
