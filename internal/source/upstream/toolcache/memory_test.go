package toolcache_test

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

// memoryPlace is a shared place in memory. The zero value is empty and ready. It is safe for concurrent use and needs no
// Close.
type memoryPlace struct {
	mu      sync.Mutex
	kept    map[string]json.RawMessage
	leases  map[string]lease
	handles map[*handle]bool
}

// lease says who may refresh a server's list, and until when.
type lease struct {
	holder string
	until  time.Time
}

// Open returns another handle on the place.
func (p *memoryPlace) Open() toolcache.Shared {
	h := &handle{place: p, closed: make(chan struct{}), news: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handles == nil {
		p.handles, p.kept, p.leases = map[*handle]bool{}, map[string]json.RawMessage{}, map[string]lease{}
	}
	p.handles[h] = true
	h.signalNews()
	return h
}

// handle is one gateway's handle on a memory.
type handle struct {
	place  *memoryPlace
	closed chan struct{}
	once   sync.Once
	news   chan struct{} // holds a value at first, and if others have committed since the last Load
}

// signalNews makes Watch call its function, once however often signalNews is called before that.
func (h *handle) signalNews() {
	select {
	case h.news <- struct{}{}:
	default:
	}
}

var errClosed = errors.New("the place is closed")

// lock locks the place for a call, unless it is too late for one.
func (h *handle) lock(ctx context.Context) error {
	select {
	case <-h.closed:
		return errClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	h.place.mu.Lock()
	return nil
}

func (h *handle) Load(ctx context.Context) (toolcache.Snapshot, error) {
	if err := h.lock(ctx); err != nil {
		return toolcache.Snapshot{}, err
	}
	defer h.place.mu.Unlock()
	select {
	case <-h.news:
	default:
	}
	return toolcache.Snapshot{Entries: maps.Clone(h.place.kept)}, nil
}

// Commit makes all changes or, if one of them conflicts, none, and tells the other handles.
func (h *handle) Commit(ctx context.Context, changes []toolcache.Change) (toolcache.Snapshot, error) {
	if err := h.lock(ctx); err != nil {
		return toolcache.Snapshot{}, err
	}
	p := h.place
	defer p.mu.Unlock()
	for _, c := range changes {
		if !bytes.Equal(p.kept[c.Server], c.Old) {
			return toolcache.Snapshot{Entries: maps.Clone(p.kept)}, toolcache.ErrConflict
		}
	}
	for _, c := range changes {
		if c.Entry == nil {
			delete(p.kept, c.Server)
		} else {
			p.kept[c.Server] = bytes.Clone(c.Entry)
		}
	}
	for other := range p.handles {
		if other != h {
			other.signalNews()
		}
	}
	return toolcache.Snapshot{Entries: maps.Clone(p.kept)}, nil
}

func (h *handle) Watch(ctx context.Context, f func()) error {
	for {
		select {
		case <-h.news:
			f()
		case <-ctx.Done():
			return ctx.Err()
		case <-h.closed:
			return errClosed
		}
	}
}

func (h *handle) Lease(ctx context.Context, server, holder string, d time.Duration) (bool, error) {
	if err := h.lock(ctx); err != nil {
		return false, err
	}
	p := h.place
	defer p.mu.Unlock()
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
