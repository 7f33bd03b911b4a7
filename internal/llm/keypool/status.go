package keypool

import (
	"strings"
	"time"

	"collie/internal/sorting"
)

// Status is a key as people are shown it.
type Status struct {
	KeyState
	Weight   int      `json:"weight"`
	Allowed  []string `json:"onlyModels,omitempty"`
	Sessions int      `json:"sessions"` // that use it
}

// List is all keys, by provider, in the order of the settings.
func (p *Pool) List() []Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now().UnixNano()
	bound := map[place]int{}
	for _, b := range p.bindings.all {
		if now-b.used <= int64(bindingTime) {
			bound[place{b.provider, b.label}]++
		}
	}
	var out []Status
	for _, pr := range p.providers {
		for _, k := range pr.keys {
			s := Status{KeyState: k.state(now), Weight: k.Weight, Allowed: k.Models, Sessions: bound[place{pr.name, k.Label}]}
			if k.Disabled {
				s.State = Disabled
			}
			out = append(out, s)
		}
	}
	sorting.Stable(out, func(a, b Status) int { return strings.Compare(a.Provider, b.Provider) })
	return out
}

// Overloaded says for how long a provider is known to be overloaded with a model; 0 if it is not.
func (p *Pool) Overloaded(provider, model string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	pr := p.providers[provider]
	if pr == nil || pr.overload[model] == nil {
		return 0
	}
	return max(0, time.Duration(pr.overload[model].until-p.now().UnixNano()))
}

// state is what is known of a key. With now, rests that are over are active again; else it is what is saved.
func (k *key) state(now int64) KeyState {
	s := KeyState{
		Provider: k.provider, Label: k.Label, Rest: k.rest.shown(now), Status: k.lastStatus,
		LastUsed: moment(k.lastUsed), Successes: k.successes, Errors: k.errors, Mark: k.mark,
	}
	if k.invalid {
		s.Rest = Rest{State: Invalid, Why: k.why}
	}
	for model, m := range k.models {
		if now == 0 || now < m.until {
			s.Models = append(s.Models, ModelState{model, m.shown(now)})
		}
	}
	sorting.By(s.Models, func(a, b ModelState) int {
		return strings.Compare(a.Model, b.Model)
	})
	return s
}

func (r *rest) shown(now int64) Rest {
	switch {
	case r.until == 0:
		return Rest{State: Active}
	case now >= r.until:
		return Rest{State: Active, Level: r.levelAt(now), Why: r.why}
	}
	return Rest{r.state, r.level, moment(r.since), moment(r.until), moment(r.hint), r.why}
}

func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
