package card

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestSchedule checks, after random ratings and pauses, that a better rating never brings a card back earlier and that no
// rating makes it due in the past.
func TestSchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		c := newSchedule(now)
		for range rapid.IntRange(0, 30).Draw(t, "reviews") {
			c = rateCard(c, rapid.IntRange(1, 4).Draw(t, "rating"), now)
			now = now.Add(time.Duration(rapid.Int64Range(-3600, 400*86400).Draw(t, "seconds")) * time.Second)
		}
		var due [5]time.Time
		for rating := 1; rating <= 4; rating++ {
			next := rateCard(c, rating, now)
			due[rating] = next.Due
			if !next.Due.After(now) {
				t.Fatalf("rated %d at %v: due %v", rating, now, next.Due)
			}
			if next.Reps != c.Reps+1 || next.LastReview.Before(now) || next.ElapsedDays > 30*400 {
				t.Fatalf("rated %d: %+v", rating, next)
			}
		}
		if !due[1].Before(due[3]) || due[2].After(due[3]) || !due[3].Before(due[4]) {
			t.Fatalf("again %v, hard %v, good %v, easy %v", due[1], due[2], due[3], due[4])
		}
	})
}

func TestInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Minute: "1 minute", 10 * time.Minute: "10 minutes", time.Hour: "1 hour", 24 * time.Hour: "1 day", 16 * 24 * time.Hour: "16 days",
	} {
		if got := inWords(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
