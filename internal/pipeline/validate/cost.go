package validate

import (
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits for the cost of a check. A schema is a graph: a few hundred bytes of references to references can
// require more steps than there is time for. A step is one schema applied to one value.
const (
	minSteps      = 100_000
	stepsPerValue = 256
	maxSteps      = 10_000_000 // a few seconds
	// maxSchemas is the maximum number of schemas in one schema: the time to compile them grows with its square.
	maxSchemas = 5000
)

// stepLimit returns the maximum number of steps to check arguments with this many values.
func stepLimit(values int) int { return min(minSteps+stepsPerValue*values, maxSteps) }

// checkAcyclic returns an error if a schema leads back to itself for the same value: the meaning of that is
// undefined (JSON Schema Core 2020-12, "Guarding Against Infinite Recursion").
func checkAcyclic(all []*jsonschema.Schema) error {
	const open, done = 1, 2
	state := make(map[*jsonschema.Schema]int, len(all))
	var loops func(*jsonschema.Schema) bool
	loops = func(s *jsonschema.Schema) bool {
		if state[s] != 0 {
			return state[s] == open
		}
		state[s] = open
		found := false
		eachInPlace(s, func(sub *jsonschema.Schema) { found = found || loops(sub) })
		state[s] = done
		return found
	}
	if slices.ContainsFunc(all, loops) {
		return errors.New("a $ref leads back to itself")
	}
	return nil
}
