package root

import (
	"strings"
	"testing"
	"time"
)

// Moment takes durations before now, times of the last 24 hours, dates and RFC 3339.
func TestMoment(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("here", 8*3600)
	now := time.Date(2026, 7, 28, 12, 0, 0, 0, zone)
	for s, want := range map[string]time.Time{
		"":                     {},
		"10m":                  now.Add(-10 * time.Minute),
		"7d":                   now.AddDate(0, 0, -7),
		"09:30":                time.Date(2026, 7, 28, 9, 30, 0, 0, zone),
		"12:00":                now,
		"12:01":                time.Date(2026, 7, 27, 12, 1, 0, 0, zone),
		"23:50":                time.Date(2026, 7, 27, 23, 50, 0, 0, zone),
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

// The end of a period comes after its beginning where both are times of day.
func TestPeriod(t *testing.T) {
	t.Parallel()
	const layout = "01-02 15:04" // of 2026
	for _, tt := range []struct{ now, since, until, from, to string }{
		{"07-28 12:00", "09:00", "18:00", "07-28 09:00", "07-28 18:00"}, // all of today
		{"07-28 12:00", "", "18:00", "", "07-28 18:00"},
		{"07-28 12:00", "7d", "18:00", "07-21 12:00", "07-28 18:00"},
		{"07-28 12:00", "09:00", "10:00", "07-28 09:00", "07-28 10:00"},
		{"07-28 00:10", "22:00", "23:50", "07-27 22:00", "07-27 23:50"},
		{"07-28 03:00", "22:00", "02:00", "07-27 22:00", "07-28 02:00"},
		{"07-28 12:00", "11:00", "10:00", "07-28 11:00", "07-28 10:00"},
		{"07-28 12:00", "1h", "2h", "07-28 11:00", "07-28 10:00"}, // no time of day: nothing is guessed
		{"07-28 12:00", "", "", "", ""},
	} {
		now, err := time.Parse("2006-"+layout, "2026-"+tt.now)
		if err != nil {
			t.Fatal(err)
		}
		from, to, err := Period(tt.since, tt.until, now)
		for want, got := range map[string]time.Time{"from " + tt.from: from, "to " + tt.to: to} {
			if word, want, _ := strings.Cut(want, " "); err != nil || got.IsZero() != (want == "") || want != "" && got.Format(layout) != want {
				t.Errorf("%+v: %s %s, %v", tt, word, got, err)
			}
		}
	}
	for since, until := range map[string]string{"soon": "", "1h": "soon"} {
		if _, _, err := Period(since, until, time.Now()); !IsUsage(err) {
			t.Errorf("since %q until %q: error %v", since, until, err)
		}
	}
}
