package keypool

import (
	"strings"
	"time"

	"collie/internal/sorting"
)

// This file shows the state of keys to people.

// Status is the state of a key for people.
type Status struct {
	KeyState
	Weight   int      `json:"weight"`
	Allowed  []string `json:"onlyModels,omitempty"`
	Sessions int      `json:"sessions"` // number of conversations that use the key
}

// List returns all keys, sorted by provider and then in the order of the settings.
func (p *Pool) List() []Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now().UnixNano()
	bound := map[keyID]int{}
	for _, b := range p.bindings.all {
		if now-b.used <= int64(bindingTTL) {
			bound[keyID{b.provider, b.label}]++
		}
	}
	var out []Status
	for _, pr := range p.providers {
		for _, k := range pr.keys {
			s := Status{KeyState: k.state(now), Weight: k.Weight, Allowed: k.Models, Sessions: bound[keyID{pr.name, k.Label}]}
			if k.Disabled {
				s.State = Disabled
			}
			out = append(out, s)
		}
	}
	sorting.Stable(out, func(a, b Status) int { return strings.Compare(a.Provider, b.Provider) })
	return out
}

// Overloaded returns for how long a provider will count as overloaded for a model; 0 if it does not.
func (p *Pool) Overloaded(provider, model string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	pr := p.providers[provider]
	if pr == nil || pr.overload[model] == nil {
		return 0
	}
	return max(0, time.Duration(pr.overload[model].until-p.now().UnixNano()))
}

// state returns the state of the key at the time now: rests that are over are active. With now 0 it is the state to save.
func (k *key) state(now int64) KeyState {
	s := KeyState{
		Provider: k.provider, Label: k.Label, Rest: k.rest.export(now), Status: k.lastStatus,
		LastUsed: timeOf(k.lastUsed), Successes: k.successes, Errors: k.errors, Fingerprint: k.fingerprint,
	}
	if k.invalid {
		s.Rest = Rest{State: Invalid, Why: k.why}
	}
	for model, m := range k.models {
		if now == 0 || now < m.until {
			s.Models = append(s.Models, ModelState{model, m.export(now)})
		}
	}
	sorting.By(s.Models, func(a, b ModelState) int {
		return strings.Compare(a.Model, b.Model)
	})
	return s
}

// export returns the rest at the time now; see [key.state].
func (r *rest) export(now int64) Rest {
	switch {
	case r.until == 0:
		return Rest{State: Active}
	case now >= r.until:
		return Rest{State: Active, Level: r.levelAt(now), Why: r.why}
	}
	return Rest{r.state, r.level, timeOf(r.since), timeOf(r.until), timeOf(r.hint), r.why}
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
