package keypool

import (
	"math"
	"path"
)

// This file picks the key for a request, in turn and by weight. It is on the path of every request, so it avoids
// allocations.

// If all keys are free, pickFree compares each counter together with the index of its key as one number.
const (
	indexBits = 16
	maxIndex  = 1<<indexBits - 1
	maxWeight = 1 << 40 // sum of all keys
)

// slot is the part of a key that each pick reads. It is kept by value, so that a pick follows no pointers.
type slot struct {
	weight, counter int
	free            bool // the key can be used for every model
}

// pick chooses a key by smooth weighted round robin over the keys that can be used; nil if there is none.
func (pr *provider) pick(r *Request, now int64) *key {
	if pr.allFree && r.n == 0 {
		return pr.pickFree()
	}
	best, highest, total := -1, 0, 0
	for i := range pr.slots {
		t := &pr.slots[i]
		if !t.free {
			k := pr.keys[i]
			if t.weight == 0 || !k.isAvailable(now) {
				t.counter = 0 // so that it does not catch up later
				continue
			}
			if !k.serves(r.Model, now) {
				continue
			}
		}
		if r.n > 0 && r.hasTried(pr.keys[i]) {
			continue
		}
		t.counter += t.weight
		total += t.weight
		if best < 0 || t.counter > highest {
			best, highest = i, t.counter
		}
	}
	if best < 0 {
		return nil
	}
	pr.slots[best].counter -= total
	return pr.keys[best]
}

// pickFree is like pick for the case that all keys are free. The loop has no branch, because a processor would often mispredict
// which key is ahead.
func (pr *provider) pickFree() *key {
	top := math.MinInt
	for i := range pr.slots {
		t := &pr.slots[i]
		t.counter += t.weight
		top = max(top, t.counter<<indexBits|(maxIndex-i)) // the first of equal ones wins
	}
	best := maxIndex - top&maxIndex
	pr.slots[best].counter -= pr.total
	return pr.keys[best]
}

// isAvailable reports whether the key can be used for some model now.
func (k *key) isAvailable(now int64) bool {
	return !k.Disabled && !k.invalid && (k.rest.until == 0 || k.rest.isOver(now))
}

// serves reports whether the key is allowed for model and does not rest for it.
func (k *key) serves(model string, now int64) bool {
	if len(k.models) > 0 {
		if m := k.models[model]; m != nil && !m.isOver(now) {
			return false
		}
	}
	return len(k.Models) == 0 || k.allows(model)
}

// allows reports whether the settings allow the key for a model.
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

// isUsable reports whether r can use k now.
func (pr *provider) isUsable(k *key, r *Request, now int64) bool {
	return k.isAvailable(now) && !r.hasTried(k) && k.serves(r.Model, now)
}

// lastResort returns a resting key for which the wait that the provider requested is over; nil if there is none.
func (pr *provider) lastResort(r *Request, now int64) *key {
	for _, k := range pr.keys {
		if k.Weight == 0 || k.Disabled || k.invalid || r.hasTried(k) || !k.allows(r.Model) {
			continue
		}
		m := k.models[r.Model]
		if at := max(k.rest.endsAt(), m.endsAt()); at <= now && !k.rest.isProbing(now) && !m.isProbing(now) {
			return k
		}
	}
	return nil
}

// expire ends the rests of all keys that are over, and updates limited, allFree, total and the slots.
func (pr *provider) expire(now int64) {
	limited := false
	pr.total, pr.allFree = 0, true
	for i, k := range pr.keys {
		k.rest.expire(now)
		for model, m := range k.models {
			if m.expire(now); m.until == 0 {
				delete(k.models, model)
			}
		}
		pr.slots[i].free = k.Weight > 0 && !k.Disabled && !k.invalid && k.rest.until == 0 && len(k.models) == 0 && len(k.Models) == 0
		pr.allFree = pr.allFree && pr.slots[i].free
		pr.total += k.Weight
		limited = limited || k.rest.until != 0 || len(k.models) > 0 || k.invalid
	}
	pr.limited = limited
	pr.allFree = pr.allFree && len(pr.keys) <= maxIndex && pr.total <= maxWeight
}
