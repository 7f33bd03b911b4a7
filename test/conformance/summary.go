package conformance

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Outcome is the result of one scenario of a suite.
type Outcome struct {
	Scenario string
	Passed   int // checks
	Failed   int // checks
	Mark     bool
}

// Passes reports whether the suite counts the scenario as passed. A scenario can pass without any check, if
// the server lacks the feature it tests.
func (o Outcome) Passes() bool { return o.Mark && o.Failed == 0 }

var (
	countLine   = regexp.MustCompile(`(?m)^Running .* \((\d+) scenarios\) (?:against|in parallel)`)
	outcomeLine = regexp.MustCompile(`(?m)^([✓✗]) (\S+): (\d+) passed, (\d+) failed(?:, \d+ warnings)?\r?$`)
)

// ParseSummary parses the output of a suite in either role and returns its scenarios in order. In the client
// role a scenario with a warning does not count as passed. It is an error if the summary is missing or has a
// different number of scenarios than announced, because an aborted run must not look like a passed one.
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

// Count returns the number of scenarios that pass.
func Count(all []Outcome) (n int) {
	for _, o := range all {
		if o.Passes() {
			n++
		}
	}
	return n
}
