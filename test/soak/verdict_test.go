//go:build unix

package soak_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// callLimit bounds every call and every wait; what takes longer counts as stuck.
	callLimit = 30 * time.Second
	// backWithin is when a killed server must answer again: five times the promised time.
	backWithin = 10 * time.Second
	// aftermath is how long calls may still fail after a disturbance is over: a server of both eras has two processes, and
	// only one of them has answered again.
	aftermath = 2 * time.Second
	// perDisturbance bounds how many calls may fail for each disturbance.
	perDisturbance = 8
)

// crashKinds are the errors with which a call may fail around a disturbance of its server.
var crashKinds = []string{"server_crashed", "server_unavailable", "timeout", "cancelled"}

// verdict collects what happened. It is safe for concurrent use.
type verdict struct {
	mu           sync.Mutex
	wrong        []string       // things that must never happen, the first 20
	wrongs       int            // how many there were
	answers      map[string]int // operations by what was done
	worst        time.Duration
	worstWhat    string
	slowestBack  time.Duration // the longest time until a disturbed server answered
	faults       []fault
	disturbances map[string][]disturbance // by server
	steps        map[string]int
}

// fault is a call that failed in a way that a crash can explain.
type fault struct {
	server, what, kind string
	begun, ended       time.Time
}

// disturbance is something that was done to a server. It is over when the server has answered again.
type disturbance struct {
	what        string
	begun, over time.Time
}

func newVerdict() *verdict {
	return &verdict{answers: map[string]int{}, disturbances: map[string][]disturbance{}, steps: map[string]int{}}
}

// recordWrongf records something that must never happen.
func (v *verdict) recordWrongf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.wrongs++; v.wrongs <= 20 {
		v.wrong = append(v.wrong, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

// recordDuration records an operation and its duration.
func (v *verdict) recordDuration(what, where string, d time.Duration) {
	v.mu.Lock()
	v.answers[what]++
	if d > v.worst {
		v.worst, v.worstWhat = d, what+" "+where
	}
	v.mu.Unlock()
	if d >= callLimit {
		v.recordWrongf("stuck: %s %s took %v", what, where, d)
	}
}

// fault records a call that failed.
func (v *verdict) fault(f fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = append(v.faults, f)
}

// beginDisturbance records that a server is being disturbed; over ends that.
func (v *verdict) beginDisturbance(server, what string) (over func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.steps[what]++
	i := len(v.disturbances[server])
	v.disturbances[server] = append(v.disturbances[server], disturbance{what: what, begun: time.Now()})
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.disturbances[server][i].over = time.Now()
	}
}

// countStep records an operation that disturbs no server.
func (v *verdict) countStep(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.steps[what]++
}

// recordRecovery records how long a server took to answer after a disturbance.
func (v *verdict) recordRecovery(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.slowestBack = max(v.slowestBack, d)
}

// explained reports whether a fault happened during a disturbance of its server.
func (v *verdict) explained(f fault) bool {
	return slices.ContainsFunc(v.disturbances[f.server], func(d disturbance) bool {
		return !f.ended.Before(d.begun) && (d.over.IsZero() || !f.begun.After(d.over.Add(aftermath)))
	})
}

// report prints what happened, and fails the test for anything that must not happen.
func (v *verdict) report(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	kinds, total := map[string]int{}, 0
	for _, f := range v.faults {
		kinds[f.kind]++
		if !v.explained(f) {
			t.Errorf("%s at %s failed (%s) at %s although nothing was done to that server", f.what, f.server, f.kind, f.begun.Format("15:04:05.000"))
		}
	}
	for _, list := range v.disturbances {
		total += len(list)
	}
	t.Logf("done: %s", counts(v.answers))
	t.Logf("chaos: %s", counts(v.steps))
	t.Logf("failed around it: %s", counts(kinds))
	t.Logf("the longest took %v: %s; a killed server answered again after %v at most",
		v.worst.Round(time.Millisecond), v.worstWhat, v.slowestBack.Round(time.Millisecond))
	if most := perDisturbance * total; len(v.faults) > most {
		t.Errorf("%d calls failed around %d disturbances, more than %d", len(v.faults), total, most)
	}
	if v.slowestBack > backWithin {
		t.Errorf("a killed server answered again only after %v, want %v at most", v.slowestBack, backWithin)
	}
	for _, w := range v.wrong {
		t.Error(w)
	}
	if hidden := v.wrongs - len(v.wrong); hidden > 0 {
		t.Errorf("and %d more", hidden)
	}
}

// counts returns the counts as text.
func counts(m map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%d %s", m[name], name))
	}
	return strings.Join(parts, ", ")
}
