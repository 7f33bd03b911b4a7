package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Baseline lists the scenarios that are not passed without Collie: by the server alone in runs named "suite,
// backend", by the client alone in runs named "suite, client". It may only shrink; `-update` shrinks it.
type Baseline map[string][]string

// ReadBaseline reads a file that [Baseline.Write] wrote.
func ReadBaseline(file string) (Baseline, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var b Baseline
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, fmt.Errorf("read baseline %s: %w", file, err)
	}
	return b, nil
}

// Write replaces the file.
func (b Baseline) Write(file string) error {
	raw, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}

// Check compares a run without Collie with its list and returns a line for each difference. A scenario
// that is listed but passes is a difference too, because Collie could lose it unnoticed.
func (b Baseline) Check(run string, alone []Outcome) (problems []string) {
	listed, known := b[run]
	if !known {
		return []string{fmt.Sprintf("%s: not in the baseline", run)}
	}
	failing := Failing(alone)
	for _, s := range failing {
		if !slices.Contains(listed, s) {
			problems = append(problems, fmt.Sprintf("%s: %s fails alone and is not in the baseline", run, s))
		}
	}
	for _, s := range listed {
		if !slices.Contains(failing, s) {
			problems = append(problems, fmt.Sprintf("%s: %s is in the baseline and does not fail alone: take it out", run, s))
		}
	}
	return problems
}

// Lost returns, sorted, the scenarios that fail in a run with Collie and are not in the baseline.
func (b Baseline) Lost(run string, behind []Outcome) []string {
	return slices.DeleteFunc(Failing(behind), func(s string) bool { return slices.Contains(b[run], s) })
}

// Failing returns the failing scenarios, sorted; it never returns nil.
func Failing(all []Outcome) []string {
	failing := []string{}
	for _, o := range all {
		if !o.Passes() {
			failing = append(failing, o.Scenario)
		}
	}
	slices.Sort(failing)
	return failing
}
