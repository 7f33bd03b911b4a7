package toolcache

import (
	"strings"
	"testing"
	"time"
)

// Setting the clock while a gateway runs does not change the age of entries, since the monotonic clock counts. This
// entry claims to be confirmed tomorrow, as after the clock was set back, but was stored a second ago.
func TestAgesUseTheMonotonicClock(t *testing.T) {
	t.Parallel()
	stored := time.Now()
	s := &slot{seen: stored, rec: &record{Entry: &Entry{ValidatedAt: plain(stored)}}}
	// Round(0) on one side only would use the wall clock, which a test cannot set; that the
	// reading is there is what can be seen.
	if !strings.Contains(s.seen.String(), " m=") {
		t.Fatal("the stored time has no monotonic reading")
	}
	if age := s.age(stored.Add(time.Hour)); age < time.Hour || age > time.Hour+time.Second {
		t.Errorf("age %v after an hour", age)
	}
}
