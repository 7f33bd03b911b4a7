package toolcache

import (
	"strings"
	"testing"
	"time"
)

// Setting the clock while a gateway runs does not change the age of entries, since ages are counted by the monotonic
// clock.
func TestAgesUseTheMonotonicClock(t *testing.T) {
	t.Parallel()
	stored := time.Now()
	s := &slot{seen: stored, rec: &record{Entry: &Entry{ValidatedAt: roundTime(stored)}}}
	// A test cannot set the wall clock. It checks that the stored time has a monotonic reading, without which ages would be
	// counted by the wall clock.
	if !strings.Contains(s.seen.String(), " m=") {
		t.Fatal("the stored time has no monotonic reading")
	}
	if age := s.age(stored.Add(time.Hour)); age < time.Hour || age > time.Hour+time.Second {
		t.Errorf("age %v after an hour", age)
	}
}
