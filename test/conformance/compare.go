package conformance

// Lost returns the scenarios that pass alone and do not pass behind the gateway, in their
// order. Behind it a scenario must also have passed a check if it did so alone: one whose
// every check was skipped has lost what it was about.
func Lost(alone, behind []Outcome) (lost []string) {
	now := byScenario(behind)
	for _, was := range alone {
		is, ran := now[was.Scenario]
		kept := ran && is.Passes() && (is.Passed > 0 || was.Passed == 0)
		if was.Passes() && !kept {
			lost = append(lost, was.Scenario)
		}
	}
	return lost
}

// Union joins two runs of one suite: a scenario counts as its better outcome. A server on
// stdio has no run of its own, since the suites speak HTTP only, and is held to what it
// passes over HTTP in either mode.
func Union(a, b []Outcome) []Outcome {
	other := byScenario(b)
	joined := make([]Outcome, 0, len(a))
	for _, o := range a {
		if alt, ok := other[o.Scenario]; ok && better(alt, o) {
			o = alt
		}
		joined = append(joined, o)
	}
	return joined
}

func better(a, b Outcome) bool {
	if a.Passes() != b.Passes() {
		return a.Passes()
	}
	return a.Passed > b.Passed
}

func byScenario(all []Outcome) map[string]Outcome {
	m := make(map[string]Outcome, len(all))
	for _, o := range all {
		m[o.Scenario] = o
	}
	return m
}
