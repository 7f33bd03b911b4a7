package agent

import (
	"crypto/sha256"

	"collie/internal/llm"
)

// How often a call may be repeated before the model is advised to stop, and before the turn ends.
const (
	tellAfter    = 3  // identical calls that failed or found nothing, in a row
	stopAfter    = 5  // the same, to end the turn
	sameInWindow = 5  // identical calls with identical results that the last steps may have
	window       = 10 // number of the last steps that count
)

// repeats detects a model that repeats itself.
type repeats struct {
	last   [32]byte     // hash of the last call
	failed int          // how often in a row that call failed or found nothing
	steps  [][][32]byte // for each step, hashes of its calls with their results
}

// addStep records the calls of one step. It returns advice for the model, or stop if the turn should end.
func (r *repeats) addStep(calls []*call, results []llm.Part) (advice string, stop bool) {
	var step [][32]byte
	for i, c := range calls {
		asked := sha256.Sum256([]byte(c.name + "\x00" + string(c.args)))
		step = append(step, sha256.Sum256([]byte(string(asked[:])+results[i].Text)))
		empty := results[i].IsError || results[i].Text == "" || results[i].Text == "[]" || results[i].Text == "{}"
		switch {
		case !empty:
			r.failed = 0
		case asked == r.last:
			r.failed++
		default:
			r.failed = 1
		}
		r.last = asked
		if r.failed >= stopAfter {
			return "", true
		}
		if r.failed == tellAfter {
			advice = "The same call has failed or found nothing three times. Change its arguments, use another tool, or answer with what is known."
		}
	}
	r.steps = append(r.steps, step)
	if len(r.steps) > window {
		r.steps = r.steps[1:]
	}
	seen := map[[32]byte]int{}
	for _, s := range r.steps {
		for _, h := range s {
			if seen[h]++; seen[h] > sameInWindow {
				return "", true
			}
		}
	}
	return advice, false
}
