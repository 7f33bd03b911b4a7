// Package await waits in tests, as a rule for something to happen; only [Moment] and [Sleep] wait for time to pass.
//
// Its deadline is only for failures, far above what the busiest machine needs. Tests about time itself run in
// synctest bubbles, where [Sleep] costs nothing.
package await

import (
	"testing"
	"time"
)

// Limit is when a test gives up waiting.
const Limit = 3 * time.Minute

// look is the time between two checks of a condition.
const look = 2 * time.Millisecond

// Until waits until ok returns true. After [Limit] it fails the test. The message names what was waited for,
// and adds the texts that the functions instead return about the present state.
func Until(tb testing.TB, what string, ok func() bool, instead ...func() string) {
	tb.Helper()
	if becomesTrue(Limit, ok) {
		return
	}
	for _, there := range instead {
		what += "; there is\n" + there()
	}
	tb.Fatalf("not within %v: %s", Limit, what)
}

// Never watches for d whether bad becomes true, and fails the test with what if it does. On a slow machine
// the test may overlook something, but it does not fail wrongly.
func Never(tb testing.TB, d time.Duration, what string, bad func() bool) {
	tb.Helper()
	if becomesTrue(d, bad) {
		tb.Fatal(what)
	}
}

// becomesTrue reports whether ok becomes true within limit. It checks at the start and at the end too.
func becomesTrue(limit time.Duration, ok func() bool) bool {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for end := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(end) {
			return ok()
		}
	}
	return true
}

// Moment waits for d on the real clock. It is for tests about passing time with processes or sockets, which
// cannot be in a synctest bubble: a slow reader, a kill at an arbitrary time.
func Moment(d time.Duration) {
	<-time.After(d)
}

// started is the start of the program. The clock of a bubble starts in the year 2000.
var started = time.Now()

// Sleep waits for d in a synctest bubble. It panics outside of one, where the test would lose real time.
func Sleep(d time.Duration) {
	if !time.Now().Before(started) {
		panic("await.Sleep outside of a synctest bubble: wait with await.Until for what is to happen")
	}
	time.Sleep(d)
}

// Fewer returns how many of n rounds, files or cases a test should run: all of them, or a tenth, at least
// one, under the race detector, where SQLite is ten times slower. Packages with such tests also run without
// the race detector; see test/raced.
func Fewer(n int) int {
	if Race {
		return max(n/10, 1)
	}
	return n
}

// Within fails the test if what took longer than bound. Under the race detector it only logs, because that
// makes programs ten times slower.
func Within(tb testing.TB, what string, took, bound time.Duration) {
	tb.Helper()
	if took > bound && !Race {
		tb.Errorf("%s took %v, want %v at most", what, took, bound)
	} else {
		tb.Logf("%s took %v", what, took)
	}
}
