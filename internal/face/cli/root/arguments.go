package root

import (
	"slices"
	"strings"
	"time"

	"collie/internal/app"
	"collie/internal/config"
	"collie/internal/face/cli/locale"
	"collie/internal/tool"
	"collie/internal/units"
)

// This file parses and checks arguments that several commands have.

// Moment parses a time in the past that a person typed: how long before now, such as 10m, a time of day, which is that
// of yesterday if it is later than now, a date, or a date with a time. flag names the flag in the usage error. An empty
// text gives the zero time.
func Moment(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := units.Duration(s); err == nil {
		return now.Add(-d), nil
	}
	if t, err := time.ParseInLocation(clock, s, now.Location()); err == nil {
		today := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), 0, 0, now.Location())
		if today.After(now) {
			return dayLater(today, -1), nil
		}
		return today, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Usage("%s is %q, expected a time such as 10m, 15:04, 2026-01-31 or %s", flag, s, now.Format(time.RFC3339))
}

// Period parses the values of --since and --until as [Moment] does. But a time of day as the end is that of today, although it
// has not come yet, unless the beginning is a time of yesterday before it: from 09:00 until 18:00, asked at noon, is all of
// today, and from 22:00 until 23:00, asked at ten past midnight, an hour of yesterday.
func Period(since, until string, now time.Time) (from, to time.Time, err error) {
	if from, err = Moment("--since", since, now); err != nil {
		return time.Time{}, time.Time{}, err
	}
	if to, err = Moment("--until", until, now); err != nil {
		return time.Time{}, time.Time{}, err
	}
	_, notClock := time.Parse(clock, until)
	_, alsoNot := time.Parse(clock, since)
	ofYesterday := alsoNot == nil && from.Day() != now.Day() && to.After(from)
	if notClock == nil && to.Day() != now.Day() && !ofYesterday {
		to = dayLater(to, 1)
	}
	return from, to, nil
}

// clock is the layout of a time of day.
const clock = "15:04"

// dayLater returns the same time of day some days later, also where a day has not 24 hours.
func dayLater(t time.Time, days int) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, t.Hour(), t.Minute(), 0, 0, t.Location())
}

// OneOf returns an error if the value of a flag is not one of words; empty means the default.
func OneOf(flag, value string, words []string) error {
	for _, w := range words {
		if value == "" || value == w {
			return nil
		}
	}
	return Usage("%s is %q, expected one of %v%s", flag, value, words, DidYouMean(value, words))
}

// KnownProfile returns a usage error if no profile has this name, because the catalog of an unknown profile is empty.
// It accepts the empty name.
func KnownProfile(cfg *config.Config, name string) error {
	known := app.KnownProfiles(cfg)
	if name == "" || slices.Contains(known, name) {
		return nil
	}
	return Usage("there is no profile %q%s\n  profiles: %s", name, DidYouMean(name, known), strings.Join(known, ", "))
}

// DidYouMean returns the question for the end of an error message, "; did you mean …?"; empty if no known name is similar.
func DidYouMean(name string, known []string) string {
	if near, ok := tool.Nearest(name, known); ok {
		return locale.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// DidYouMeanHint returns a hint with the most similar name; empty if none is similar.
func DidYouMeanHint(name string, known []string) string {
	if near, ok := tool.Nearest(name, known); ok {
		return "did you mean " + near + "?"
	}
	return ""
}
