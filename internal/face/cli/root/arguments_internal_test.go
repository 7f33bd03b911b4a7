package root

import (
	"testing"
	"time"
)

// Moment takes durations before now, times of today, dates and RFC 3339.
func TestMoment(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("here", 8*3600)
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, zone)
	for s, want := range map[string]time.Time{
		"":                     {},
		"10m":                  now.Add(-10 * time.Minute),
		"7d":                   now.AddDate(0, 0, -7),
		"09:30":                time.Date(2026, 7, 28, 9, 30, 0, 0, zone),
		"2026-01-31":           time.Date(2026, 1, 31, 0, 0, 0, 0, zone),
		"2026-01-31 15:04":     time.Date(2026, 1, 31, 15, 4, 0, 0, zone),
		"2026-01-31T15:04:05Z": time.Date(2026, 1, 31, 15, 4, 5, 0, time.UTC),
	} {
		if got, err := Moment("--since", s, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"10", "yesterday", "-5m", "2026-13-01"} {
		if _, err := Moment("--since", s, now); !IsUsage(err) {
			t.Errorf("%q: error %v", s, err)
		}
	}
}
