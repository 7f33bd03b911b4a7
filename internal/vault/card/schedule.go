package card

import (
	"fmt"
	"strconv"
	"time"

	fsrs "github.com/open-spaced-repetition/go-fsrs/v3"
)

// newSchedule returns the schedule of a new card, which is due at once.
func newSchedule(now time.Time) fsrs.Card {
	c := fsrs.NewCard()
	c.Due = now
	return c
}

// rateCard returns the schedule of a card after a review at now with a rating from 1 (again) to 4 (easy). Any other
// rating resets the card, as in SiYuan; our tools never send one.
func rateCard(c fsrs.Card, rating int, now time.Time) fsrs.Card {
	if rating < int(fsrs.Again) || rating > int(fsrs.Easy) {
		return newSchedule(now)
	}
	return scheduler().Next(c, notBefore(c, now), fsrs.Rating(rating)).Card
}

// nextDues returns, by rating, in how long a card would be due again if it were rated now, in words.
func nextDues(c fsrs.Card, now time.Time) map[string]string {
	now = notBefore(c, now)
	dues := map[string]string{}
	for rating, next := range scheduler().Repeat(c, now) {
		dues[strconv.Itoa(int(rating))] = inWords(next.Card.Due.Sub(now))
	}
	return dues
}

// scheduler returns a scheduler with SiYuan's default settings, which are those of FSRS: the aim is to remember nine of
// ten cards, and due times are not randomized. It is for one goroutine.
func scheduler() *fsrs.FSRS { return fsrs.NewFSRS(fsrs.DefaultParam()) }

// notBefore returns now, or the time of the last review if the clock was set back since then: FSRS computes the time
// between them as an unsigned number.
func notBefore(c fsrs.Card, now time.Time) time.Time {
	if now.Before(c.LastReview) {
		return c.LastReview
	}
	return now
}

// inWords formats a duration as the kernel does: 10 minutes, 16 days. FSRS uses whole minutes and whole days.
func inWords(d time.Duration) string {
	const day = 24 * time.Hour
	n, unit := int(d/time.Minute), "minute"
	switch {
	case d >= day:
		n, unit = int(d/day), "day"
	case d >= time.Hour:
		n, unit = int(d/time.Hour), "hour"
	}
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
