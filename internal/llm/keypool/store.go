package keypool

import (
	"context"
	"time"

	"collie/internal/sorting"
)

// Store keeps what is learned of keys between runs, joined with the settings by provider and label. It is used by one
// goroutine at a time.
type Store interface {
	// Load returns all that was saved.
	Load(ctx context.Context) (Saved, error)
	// Save replaces, all or nothing, the rows that changed, and deletes those that are Gone.
	Save(ctx context.Context, changed Saved) error
}

// Saved is what a [Store] keeps.
type Saved struct {
	Keys     []KeyState
	Bindings []Binding
}

// KeyState is what is known of a key.
type KeyState struct {
	Provider string `json:"provider"`
	Label    string `json:"label"`
	Rest
	Models    []ModelState `json:"models,omitempty"` // those that rest
	LastUsed  time.Time    `json:"lastUsed,omitzero"`
	Status    int          `json:"lastStatus,omitempty"` // of HTTP, of the last failure since the last success
	Successes int64        `json:"successes"`
	Errors    int64        `json:"errors"`
	Mark      string       `json:"-"` // tells the secret that was refused from another one
	Gone      bool         `json:"-"`
}

// Rest is how a key, or a model of it, is.
type Rest struct {
	State State     `json:"state"`
	Level int       `json:"level,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	Hint  time.Time `json:"retryAt,omitzero"` // when the provider said to come back
	Why   string    `json:"why,omitempty"`
}

// ModelState is a model that a key cannot be used for now.
type ModelState struct {
	Model string `json:"model"`
	Rest
}

// Binding is the key that a conversation uses. Session is a hash.
type Binding struct {
	Provider, Session, Label string
	Used                     time.Time
	Gone                     bool
}

// saveAfter is how long changes are gathered; retryAfter how long after one that failed.
const (
	saveAfter  = time.Second
	retryAfter = 10 * time.Second
	saveTime   = 5 * time.Second
)

// saver writes what has changed, in a goroutine of its timer.
type saver struct {
	timer    *time.Timer
	armed    bool
	closed   bool
	keys     []*key
	bindings []*binding
	turn     chan struct{} // held while the store is used
}

// Load takes up what the store has kept. It is called before the first [Pool.Apply].
func (p *Pool) Load(ctx context.Context) error {
	if p.store == nil {
		return nil
	}
	saved, err := p.store.Load(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range saved.Keys {
		p.saved[place{s.Provider, s.Label}] = s
	}
	sorting.By(saved.Bindings, func(a, b Binding) int { return a.Used.Compare(b.Used) })
	for _, b := range saved.Bindings {
		if id, ok := parseSession(b.Session); ok && p.bindings.all[id] == nil {
			used := b.Used.UnixNano()
			p.bindings.add(&binding{id: id, provider: b.Provider, label: b.Label, used: used, kept: used})
		}
	}
	return nil
}

// touch has a key saved. The caller holds p.mu.
func (p *Pool) touch(k *key) {
	if p.store == nil || k.dirty {
		return
	}
	k.dirty = true
	p.saver.keys = append(p.saver.keys, k)
	p.arm(saveAfter)
}

func (p *Pool) touchBinding(b *binding) {
	if p.store == nil || b.dirty {
		return
	}
	b.dirty = true
	p.saver.bindings = append(p.saver.bindings, b)
	p.arm(saveAfter)
}

func (p *Pool) arm(after time.Duration) {
	s := &p.saver
	if s.armed || s.closed {
		return
	}
	s.armed = true
	if s.timer == nil {
		s.timer = time.AfterFunc(after, p.save)
		return
	}
	s.timer.Reset(after)
}

// save writes what has changed, in time.
func (p *Pool) save() {
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	if err := p.Flush(ctx); err != nil {
		p.log.Warn("the state of keys was not saved", "error", err)
	}
}

// Flush saves what has changed. What could not be saved is tried again later.
func (p *Pool) Flush(ctx context.Context) error {
	if p.store == nil {
		return nil
	}
	select {
	case p.saver.turn <- struct{}{}:
		defer func() { <-p.saver.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.mu.Lock()
	s := &p.saver
	s.armed = false
	keys, bound := s.keys, s.bindings
	s.keys, s.bindings = nil, nil
	var changed Saved
	for _, k := range keys {
		k.dirty = false
		row := KeyState{Provider: k.provider, Label: k.Label, Gone: true}
		if !k.gone {
			row = k.state(0)
		}
		changed.Keys = append(changed.Keys, row)
	}
	for _, b := range bound {
		b.dirty, b.kept = false, b.used
		changed.Bindings = append(changed.Bindings, Binding{b.provider, b.id.String(), b.label, time.Unix(0, b.used), b.gone})
	}
	p.mu.Unlock()
	if len(keys)+len(bound) == 0 {
		return nil
	}
	err := p.store.Save(ctx, changed)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.arm(retryAfter)
		for _, k := range keys {
			p.touch(k)
		}
		for _, b := range bound {
			p.touchBinding(b)
		}
	}
	return err
}

// Close saves what has changed. The pool can be used afterwards, but keeps nothing more.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.saver.closed = true
	if p.saver.timer != nil {
		p.saver.timer.Stop()
	}
	p.mu.Unlock()
	return p.Flush(ctx)
}

// restore takes up what was saved of a key.
func (k *key) restore(s KeyState) {
	if s.Label != "" || s.Provider != "" {
		k.lastStatus, k.successes, k.errors, k.mark = s.Status, s.Successes, s.Errors, s.Mark
		if !s.LastUsed.IsZero() {
			k.lastUsed = s.LastUsed.UnixNano()
		}
		if s.State == Invalid {
			k.invalid, k.why = true, s.Why
		} else {
			k.rest = s.restore()
		}
		for _, m := range s.Models {
			*k.model(m.Model) = m.restore()
		}
	}
}

func (r Rest) restore() rest {
	if r.Until.IsZero() {
		return rest{}
	}
	out := rest{state: r.State, level: r.Level, since: r.Since.UnixNano(), until: r.Until.UnixNano(), why: r.Why}
	if !r.Hint.IsZero() {
		out.hint = r.Hint.UnixNano()
	}
	return out
}
