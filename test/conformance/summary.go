package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Outcome is what a suite says about one of its scenarios.
type Outcome struct {
	Scenario string
	Passed   int // checks
	Failed   int // checks
	Mark     bool
}

// Passes reports whether the suite counts the scenario as passed. A scenario may pass with
// no check at all, where the server lacks what it is about.
func (o Outcome) Passes() bool { return o.Mark && o.Failed == 0 }

var (
	countLine   = regexp.MustCompile(`(?m)^Running .* \((\d+) scenarios\) (?:against|in parallel)`)
	outcomeLine = regexp.MustCompile(`(?m)^([✓✗]) (\S+): (\d+) passed, (\d+) failed(?:, \d+ warnings)?\r?$`)
)

// ParseSummary reads what a suite printed in either role and returns its scenarios in their order.
// In the client role a scenario with a warning is not marked as passed. It is an
// error if the summary is missing or has not as many scenarios as the suite said it would
// run: a run that broke off must not look like one that passed.
func ParseSummary(out []byte) ([]Outcome, error) {
	text := string(out)
	announced := countLine.FindStringSubmatch(text)
	if announced == nil {
		return nil, errors.New(`suite output: no line "Running … (n scenarios) against …" or "… in parallel"`)
	}
	_, summary, ok := strings.Cut(text, "SUMMARY ===")
	if !ok {
		return nil, errors.New("suite output: no summary, the run broke off")
	}
	var all []Outcome
	for _, m := range outcomeLine.FindAllStringSubmatch(summary, -1) {
		passed, err := strconv.Atoi(m[3])
		if err != nil {
			return nil, fmt.Errorf("suite output: %q: %w", m[0], err)
		}
		failed, err := strconv.Atoi(m[4])
		if err != nil {
			return nil, fmt.Errorf("suite output: %q: %w", m[0], err)
		}
		all = append(all, Outcome{Scenario: m[2], Passed: passed, Failed: failed, Mark: m[1] == "✓"})
	}
	if announced[1] != strconv.Itoa(len(all)) {
		return nil, fmt.Errorf("suite output: %s scenarios announced, %d in the summary", announced[1], len(all))
	}
	return all, nil
}

// Count returns how many of the scenarios pass.
func Count(all []Outcome) (n int) {
	for _, o := range all {
		if o.Passes() {
			n++
		}
	}
	return n
}
