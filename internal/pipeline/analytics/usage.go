package analytics

import (
	"cmp"
	"context"
	"math"
	"strings"
	"time"

	"collie/internal/sorting"
)

// This file sums up entries by day and action.

// Usage sums up the calls of a period.
type Usage struct {
	Days    []Day         `json:"days"`    // days with calls, oldest first
	Actions []ActionCount `json:"actions"` // most calls first
	Hours   [24]int       `json:"hours"`   // calls by hour of the day, UTC
	// Dropped is how many calls are missing, because too many ended at once or the disk was full.
	Dropped int64 `json:"dropped"`
}

// Day sums up the calls of one day, UTC.
type Day struct {
	Date           string         `json:"date"` // 2026-07-28
	Calls          int            `json:"calls"`
	Errors         int            `json:"errors"`
	DurationMs     float64        `json:"durationMs"` // total of all calls
	RequestTokens  int            `json:"requestTokens"`
	ResponseTokens int            `json:"responseTokens"`
	Transports     map[string]int `json:"transports"` // number of calls by viaStdio, HTTP, viaCLI or "other"
}

// ActionCount sums up the calls of one action.
type ActionCount struct {
	Tool          string  `json:"tool"`
	Action        string  `json:"action"`
	Count         int     `json:"count"`
	ErrorCount    int     `json:"errorCount"`
	AvgDurationMs float64 `json:"avgDurationMs"`
}

// Summarize sums up the calls in dir in [from, before); a zero time means no bound.
func Summarize(ctx context.Context, dir string, from, before time.Time) (Usage, error) {
	return summarize(ctx, dir, from, before, func(*Entry) {})
}

// summarize is like Summarize, but applies change to each entry first.
func summarize(ctx context.Context, dir string, from, before time.Time, change func(*Entry)) (Usage, error) {
	var u Usage
	days, actions := map[string]*Day{}, map[[2]string]*ActionCount{}
	for e, err := range entries(ctx, dir, from, before) {
		if err != nil {
			return Usage{}, err
		}
		if e.Dropped > 0 {
			u.Dropped += e.Dropped
			continue
		}
		change(&e)
		date, name := dayOf(e.TS), [2]string{e.Tool, e.Action}
		if days[date] == nil {
			days[date] = &Day{Date: date, Transports: map[string]int{}}
		}
		days[date].add(&e)
		if actions[name] == nil {
			actions[name] = &ActionCount{Tool: e.Tool, Action: e.Action}
		}
		actions[name].add(&e)
		u.Hours[time.UnixMilli(e.TS).UTC().Hour()]++
	}
	u.Days = make([]Day, 0, len(days))
	for _, d := range days {
		u.Days = append(u.Days, *d)
	}
	sorting.By(u.Days, func(a, b Day) int { return strings.Compare(a.Date, b.Date) })
	u.Actions = make([]ActionCount, 0, len(actions))
	for _, a := range actions {
		a.AvgDurationMs = ratio(a.AvgDurationMs, a.Count)
		u.Actions = append(u.Actions, *a)
	}
	sorting.By(u.Actions, func(a, b ActionCount) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Action, b.Action))
	})
	return u, nil
}

func (d *Day) add(e *Entry) {
	d.Calls++
	if e.Status != Success {
		d.Errors++
	}
	d.DurationMs += e.DurationMs
	d.RequestTokens += e.RequestApproxTokens
	d.ResponseTokens += e.ResponseApproxTokens
	switch e.Transport {
	case viaStdio, HTTP, viaCLI:
		d.Transports[e.Transport]++
	default:
		d.Transports[otherName]++
	}
}

// add counts a call. Until all calls are counted, AvgDurationMs holds the sum.
func (a *ActionCount) add(e *Entry) {
	a.Count++
	if e.Status != Success {
		a.ErrorCount++
	}
	a.AvgDurationMs += e.DurationMs
}

// ratio returns sum/n, rounded to three decimals.
func ratio(sum float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return math.Round(sum/float64(n)*1000) / 1000
}
