package client

import (
	"cmp"
	"maps"
	"sync"

	"collie/internal/llm"
	"collie/internal/sorting"
)

// This file counts the requests to each model, their tokens and their cost.

// answered is the outcome of a request that was answered to its end.
const answered = "ok"

// maxCounted is how many models have figures of their own, because callers may ask for any number of names. All further
// models of a provider are counted together, under an empty name.
const maxCounted = 200

// Figures sum up the requests to one model since the client was made.
type Figures struct {
	Provider, Model string
	Requests        map[string]uint64 // by outcome: ok, or the class of the failure
	Usage           llm.Usage
	Cost            int64 // in millionths of a dollar; requests without a known price count as 0
}

// figures counts requests. The zero value is ready.
type figures struct {
	mu sync.Mutex
	of map[counted]*Figures
}

type counted struct{ provider, model string }

// countRequest adds a request that has ended, with its outcome and usage, to the figures of its model.
func (c *Client) countRequest(t *target, outcome string, u llm.Usage) {
	cost := int64(0)
	if p := t.metadata.Price; p != nil {
		cost = p.Cost(u)
	}
	f := &c.figures
	f.mu.Lock()
	defer f.mu.Unlock()
	name := counted{t.Name, t.model}
	if f.of[name] == nil && len(f.of) >= maxCounted {
		name.model = ""
	}
	one := f.of[name]
	if one == nil {
		if f.of == nil {
			f.of = map[counted]*Figures{}
		}
		one = &Figures{Provider: name.provider, Model: name.model, Requests: map[string]uint64{}}
		f.of[name] = one
	}
	one.Requests[outcome]++
	one.Usage.Add(u)
	one.Cost += cost
}

// Figures returns what has been counted so far, by provider and model.
func (c *Client) Figures() []Figures {
	c.figures.mu.Lock()
	defer c.figures.mu.Unlock()
	out := make([]Figures, 0, len(c.figures.of))
	for _, f := range c.figures.of {
		one := *f
		one.Requests = maps.Clone(f.Requests)
		out = append(out, one)
	}
	sorting.By(out, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
	return out
}
