package keypool

import (
	"math"
	"path"
)

// Where all keys are free, a counter and the place of its key are compared as one number.
const (
	placeBits = 16
	maxPlaces = 1<<placeBits - 1
	maxWeight = 1 << 40 // of all keys together
)

// turn is what choosing looks at of each key: it is the hot part, without a pointer to follow.
type turn struct {
	weight, counter int
	free            bool // nothing keeps the key from any model
}

// pick is smooth weighted round robin over the keys that can be used.
func (pr *provider) pick(r *Request, now int64) *key {
	if pr.calm && r.n == 0 {
		return pr.next()
	}
	best, most, total := -1, 0, 0
	for i := range pr.turns {
		t := &pr.turns[i]
		if !t.free {
			k := pr.keys[i]
			if t.weight == 0 || !k.fit(now) {
				t.counter = 0 // which catches nothing up when it returns
				continue
			}
			if !k.serves(r.Model, now) {
				continue
			}
		}
		if r.n > 0 && r.has(pr.keys[i]) {
			continue
		}
		t.counter += t.weight
		total += t.weight
		if best < 0 || t.counter > most {
			best, most = i, t.counter
		}
	}
	if best < 0 {
		return nil
	}
	pr.turns[best].counter -= total
	return pr.keys[best]
}

// next is pick where every key may be chosen. It goes through the keys without a branch: which one is ahead is what a
// processor cannot guess.
func (pr *provider) next() *key {
	top := math.MinInt
	for i := range pr.turns {
		t := &pr.turns[i]
		t.counter += t.weight
		top = max(top, t.counter<<placeBits|(maxPlaces-i)) // of equal ones the first
	}
	best := maxPlaces - top&maxPlaces
	pr.turns[best].counter -= pr.total
	return pr.keys[best]
}

// fit reports whether a key as a whole can be used.
func (k *key) fit(now int64) bool {
	return !k.Disabled && !k.invalid && (k.rest.until == 0 || k.rest.over(now))
}

// serves reports whether a key may be used for a model, and the model does not rest.
func (k *key) serves(model string, now int64) bool {
	if len(k.models) > 0 {
		if m := k.models[model]; m != nil && !m.over(now) {
			return false
		}
	}
	return len(k.Models) == 0 || k.allows(model)
}

func (k *key) allows(model string) bool {
	if len(k.Models) == 0 {
		return true
	}
	for _, pattern := range k.Models {
		if ok, _ := path.Match(pattern, model); ok || pattern == model {
			return true
		}
	}
	return false
}

func (pr *provider) usable(k *key, r *Request, now int64) bool {
	return k.fit(now) && !r.has(k) && k.serves(r.Model, now)
}

// lastResort is a key that would still rest, though the provider has said to come back by now.
func (pr *provider) lastResort(r *Request, now int64) *key {
	for _, k := range pr.keys {
		if k.Weight == 0 || k.Disabled || k.invalid || r.has(k) || !k.allows(r.Model) {
			continue
		}
		m := k.models[r.Model]
		if at := max(k.rest.returns(), m.returns()); at <= now && !k.rest.probing(now) && !m.probing(now) {
			return k
		}
	}
	return nil
}

// expire is expire of all keys, and finds out whether the time still matters.
func (pr *provider) expire(now int64) {
	trouble := false
	pr.total, pr.calm = 0, true
	for i, k := range pr.keys {
		k.rest.expire(now)
		for model, m := range k.models {
			if m.expire(now); m.until == 0 {
				delete(k.models, model)
			}
		}
		pr.turns[i].free = k.Weight > 0 && !k.Disabled && !k.invalid && k.rest.until == 0 && len(k.models) == 0 && len(k.Models) == 0
		pr.calm = pr.calm && pr.turns[i].free
		pr.total += k.Weight
		trouble = trouble || k.rest.until != 0 || len(k.models) > 0 || k.invalid
	}
	pr.troubled = trouble
	pr.calm = pr.calm && len(pr.keys) <= maxPlaces && pr.total <= maxWeight
}
