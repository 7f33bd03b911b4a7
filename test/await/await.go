// Package await is how tests wait: for what happens, never for time to pass.
//
// A deadline here is for faults alone, far beyond what the busiest machine takes. Tests of time itself run in synctest
// bubbles, where [Sleep] costs nothing.
package await

import (
	"testing"
	"time"
)

// Limit is when a test gives up: what has not happened by then does not happen.
const Limit = 3 * time.Minute

// look is how long lies between two looks at a condition.
const look = 2 * time.Millisecond

// Until waits until ok returns true. After [Limit] it fails the test; the message is what, the thing waited for, and the text
// of each instead, which says how things are.
func Until(tb testing.TB, what string, ok func() bool, instead ...func() string) {
	tb.Helper()
	if becomes(Limit, ok) {
		return
	}
	for _, there := range instead {
		what += "; there is\n" + there()
	}
	tb.Fatalf("not within %v: %s", Limit, what)
}

// Never watches for d that bad does not become true, and fails the test with what where it does. A slow machine makes it
// a weaker test, not one that fails.
func Never(tb testing.TB, d time.Duration, what string, bad func() bool) {
	tb.Helper()
	if becomes(d, bad) {
		tb.Fatal(what)
	}
}

// becomes reports whether ok is true at some moment within limit. It looks at the start and at the end.
func becomes(limit time.Duration, ok func() bool) bool {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for end := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(end) {
			return ok()
		}
	}
	return true
}

// Moment lets d pass on the real clock. It is for tests that are about passing time and have processes or sockets, which
// no bubble holds: a slow reader, a kill at any moment.
func Moment(d time.Duration) {
	<-time.After(d)
}

// started is when the program did. The clock of a bubble begins with the year 2000.
var started = time.Now()

// Sleep lets d pass in a synctest bubble. It panics outside of one, where a test would lose that time.
func Sleep(d time.Duration) {
	if !time.Now().Before(started) {
		panic("await.Sleep outside of a synctest bubble: wait with await.Until for what is to happen")
	}
	time.Sleep(d)
}

// Fewer is how many of n rounds, files or cases a test takes: all of them, but under the race detector, where SQLite needs ten
// times as long, a tenth, at least one. Packages with such tests also run without it: see test/raced.
func Fewer(n int) int {
	if Race {
		return max(n/10, 1)
	}
	return n
}

// Within fails the test where what took longer than bound. Under the race detector it only logs: that slows programs down
// tenfold, and all tests run at once there.
func Within(tb testing.TB, what string, took, bound time.Duration) {
	tb.Helper()
	if took > bound && !Race {
		tb.Errorf("%s took %v, want %v at most", what, took, bound)
	} else {
		tb.Logf("%s took %v", what, took)
	}
}
