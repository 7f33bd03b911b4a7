package conformance

// Lost returns the scenarios that pass without the gateway (alone) but not behind it, in order. If a scenario passed at
// least one check alone, it must also pass one behind the gateway: if all its checks were skipped, it counts
// as lost.
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

// Union joins two runs of one suite: the better outcome of each scenario counts. A server on stdio has no run
// of its own, because the suites only speak HTTP; it is compared with what it passes over HTTP in either
// mode.
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
