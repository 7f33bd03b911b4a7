package keypool

import (
	"context"
	"time"

	"collie/internal/sorting"
)

// This file saves the state of keys between runs.

// Store keeps the state of keys and bindings between runs, by provider and label. A Pool uses it from one goroutine at a
// time.
type Store interface {
	// Load returns everything that was saved.
	Load(ctx context.Context) (Saved, error)
	// Save replaces the rows that changed and deletes those with Gone set, all or nothing.
	Save(ctx context.Context, changed Saved) error
}

// Saved is the content of a [Store], or a change of it.
type Saved struct {
	Keys     []KeyState
	Bindings []Binding
}

// KeyState is the state of a key.
type KeyState struct {
	Provider string `json:"provider"`
	Label    string `json:"label"`
	Rest
	Models      []ModelState `json:"models,omitempty"` // that rest
	LastUsed    time.Time    `json:"lastUsed,omitzero"`
	Status      int          `json:"lastStatus,omitempty"` // HTTP status of the last failure; 0 after a success
	Successes   int64        `json:"successes"`
	Errors      int64        `json:"errors"`
	Fingerprint string       `json:"-"` // of the secret that was refused; see fingerprintOf
	Gone        bool         `json:"-"` // the key was removed
}

// Rest is the state of a key or of one model of it.
type Rest struct {
	State State     `json:"state"`
	Level int       `json:"level,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	Hint  time.Time `json:"retryAt,omitzero"` // when the provider said to retry
	Why   string    `json:"why,omitempty"`
}

// ModelState is a model that the key cannot be used for now.
type ModelState struct {
	Model string `json:"model"`
	Rest
}

// Binding says which key a conversation uses. Session is a hash of its id.
type Binding struct {
	Provider, Session, Label string
	Used                     time.Time
	Gone                     bool
}

const (
	saveAfter   = time.Second // changes are collected for this long
	retryAfter  = 10 * time.Second
	saveTimeout = 5 * time.Second
)

// saver saves changes in the goroutine of a timer.
type saver struct {
	timer     *time.Timer
	scheduled bool
	closed    bool
	keys      []*key
	bindings  []*binding
	turn      chan struct{} // semaphore: held while the store is used
}

// Load reads the state of a former run from the store. It must be called before the first [Pool.Apply].
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
		p.saved[keyID{s.Provider, s.Label}] = s
	}
	sorting.By(saved.Bindings, func(a, b Binding) int { return a.Used.Compare(b.Used) })
	for _, b := range saved.Bindings {
		if id, ok := parseSession(b.Session); ok && p.bindings.all[id] == nil {
			used := b.Used.UnixNano()
			p.bindings.add(&binding{id: id, provider: b.Provider, label: b.Label, used: used, stored: used})
		}
	}
	return nil
}

// markDirty schedules k to be saved. p.mu must be held.
func (p *Pool) markDirty(k *key) {
	if p.store == nil || k.dirty {
		return
	}
	k.dirty = true
	p.saver.keys = append(p.saver.keys, k)
	p.scheduleSave(saveAfter)
}

// markBindingDirty schedules b to be saved. p.mu must be held.
func (p *Pool) markBindingDirty(b *binding) {
	if p.store == nil || b.dirty {
		return
	}
	b.dirty = true
	p.saver.bindings = append(p.saver.bindings, b)
	p.scheduleSave(saveAfter)
}

func (p *Pool) scheduleSave(after time.Duration) {
	s := &p.saver
	if s.scheduled || s.closed {
		return
	}
	s.scheduled = true
	if s.timer == nil {
		s.timer = time.AfterFunc(after, p.save)
		return
	}
	s.timer.Reset(after)
}

// save is run by the timer of the saver.
func (p *Pool) save() {
	ctx, cancel := context.WithTimeout(context.Background(), saveTimeout)
	defer cancel()
	if err := p.Flush(ctx); err != nil {
		p.log.Warn("the state of keys was not saved", "error", err)
	}
}

// Flush saves all changes now. If that fails, it is tried again later.
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
	s.scheduled = false
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
		b.dirty, b.stored = false, b.used
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
		p.scheduleSave(retryAfter)
		for _, k := range keys {
			p.markDirty(k)
		}
		for _, b := range bound {
			p.markBindingDirty(b)
		}
	}
	return err
}

// Close saves all changes and stops saving. The pool can still be used.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.saver.closed = true
	if p.saver.timer != nil {
		p.saver.timer.Stop()
	}
	p.mu.Unlock()
	return p.Flush(ctx)
}

// restore sets the state of k to the saved one.
func (k *key) restore(s KeyState) {
	if s.Label != "" || s.Provider != "" {
		k.lastStatus, k.successes, k.errors, k.fingerprint = s.Status, s.Successes, s.Errors, s.Fingerprint
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
