package validate

import (
	"errors"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A schema is a graph: a few hundred bytes of references that lead to references can ask for
// more steps than there is time. Where the steps for one value have a low bound the schema
// is applied freely; else each check has a meter, and the checks of that schema take turns.
const (
	// free is how many schemas may apply to one value, within and beside each other.
	free = 4096
	// A metered check may take minSteps, stepsPerValue more for each value in the arguments,
	// and never more than maxSteps, which are some seconds.
	minSteps      = 100_000
	stepsPerValue = 32
	maxSteps      = 10_000_000
	// largest bounds the schemas in one schema: the time to compile them grows with its
	// square.
	largest = 5000
)

var errTooCostly = errors.New("checking takes too many steps")

// meter ends a check that takes too long. It is an extension of every schema of a form.
type meter struct {
	mu   sync.Mutex // held during a check
	left int
}

// Validate counts one step; it panics with errTooCostly, since an extension has no other way
// to end a check.
func (m *meter) Validate(*jsonschema.ValidatorContext, any) {
	if m.left--; m.left < 0 {
		panic(errTooCostly)
	}
}

// appraise returns how many schemas s can apply if each is followed wherever it leads, or
// more than free if that is not bounded. A schema that leads to itself for the same value
// is an error: its meaning is undefined (JSON Schema core 9.4.1).
func appraise(all []*jsonschema.Schema) (int, error) {
	loops := make(memo)
	for _, s := range all {
		if _, ok := loops.visit(s, beside); !ok {
			return 0, errors.New("a $ref leads back to itself")
		}
	}
	n, _ := make(memo).visit(all[0], func(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
		beside(s, f)
		within(s, f)
	})
	return n, nil
}

// memo keeps the size of what each schema leads to; open while it is being counted.
type memo map[*jsonschema.Schema]int

const open = -1

// visit counts s and what it leads to, each as often as it is reached, up to free+1. It is
// false if s leads to itself.
func (m memo) visit(s *jsonschema.Schema, next func(*jsonschema.Schema, func(*jsonschema.Schema))) (int, bool) {
	if n, ok := m[s]; ok {
		return max(n, 0), n != open
	}
	m[s] = open
	n, acyclic := 1, true
	next(s, func(sub *jsonschema.Schema) {
		size, ok := m.visit(sub, next)
		n = min(n+size, free+1)
		if !ok {
			n, acyclic = free+1, false
		}
	})
	m[s] = n
	return n, acyclic
}
