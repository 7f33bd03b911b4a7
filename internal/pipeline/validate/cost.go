package validate

import (
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a check may cost. A schema is a graph: a few hundred bytes of references that lead to references can ask for more
// steps than there is time. A step is a schema that is applied to a value.
const (
	minSteps      = 100_000
	stepsPerValue = 256
	maxSteps      = 10_000_000 // some seconds
	// largest bounds the schemas in one schema: the time to compile them grows with its
	// square.
	largest = 5000
)

// steps is how many a check of arguments may take in which there are so many values.
func steps(values int) int { return min(minSteps+stepsPerValue*values, maxSteps) }

// acyclic returns an error if one of the schemas leads to itself for the same value: its meaning is undefined
// (JSON Schema Core 2020-12, "Guarding Against Infinite Recursion").
func acyclic(all []*jsonschema.Schema) error {
	const open, done = 1, 2
	state := make(map[*jsonschema.Schema]int, len(all))
	var loops func(*jsonschema.Schema) bool
	loops = func(s *jsonschema.Schema) bool {
		if state[s] != 0 {
			return state[s] == open
		}
		state[s] = open
		found := false
		beside(s, func(sub *jsonschema.Schema) { found = found || loops(sub) })
		state[s] = done
		return found
	}
	if slices.ContainsFunc(all, loops) {
		return errors.New("a $ref leads back to itself")
	}
	return nil
}
