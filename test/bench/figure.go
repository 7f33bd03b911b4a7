package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// figure is one measured quantity, with a value per round. Without values it could not be measured on this
// machine.
type figure struct {
	what   string
	unit   unit
	rounds []float64
	bound  bound
}

// unit says how to write a figure.
type unit struct {
	name string
	form string // for fmt
}

var (
	ratio        = unit{"×", "%.2f"}
	percent      = unit{" %", "%.1f"}
	microseconds = unit{" µs", "%.0f"}
	nanoseconds  = unit{" ns", "%.0f"}
	milliseconds = unit{" ms", "%.2f"}
	seconds      = unit{" s", "%.2f"}
	perSecond    = unit{" /s", "%.0f"}
	mebibytes    = unit{" MiB", "%.1f"}
	kibibytes    = unit{" KiB", "%.0f"}
	inBytes      = unit{" bytes", "%.0f"}
	megabytes    = unit{" MB", "%.1f"}
	number       = unit{"", "%.1f"}
	processors   = unit{"", "%.2f"}
)

func (u unit) write(v float64) string { return fmt.Sprintf(u.form, v) + u.name }

// bound is a budget; the zero value means none.
type bound struct {
	limit float64
	least bool // limit is the least allowed value; otherwise the greatest
}

func atMost(v float64) bound  { return bound{v, false} }
func atLeast(v float64) bound { return bound{v, true} }

// holds reports whether v is within the bound, or misses it by no more than the factor slack.
func (b bound) holds(v, slack float64) bool {
	if b.least {
		return v >= b.limit/slack
	}
	return b.limit == 0 || v <= b.limit*slack
}

func (f figure) median() float64 {
	s := slices.Sorted(slices.Values(f.rounds))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// relative reports whether a figure does not depend on the speed of the machine.
func (f figure) relative() bool { return f.unit == ratio || f.unit == percent }

// farOffBudget returns an error for each relative figure that misses its budget by more than a factor of five in every round. A
// round or two may be bad because other programs were using the machine.
func farOffBudget(figures []figure) error {
	var errs []error
	for _, f := range figures {
		if f.relative() && len(f.rounds) > 0 && !slices.ContainsFunc(f.rounds, func(v float64) bool { return f.bound.holds(v, 5) }) {
			errs = append(errs, fmt.Errorf("%s is %s, five times off the budget of %s", f.what, f.unit.write(f.median()), f.unit.write(f.bound.limit)))
		}
	}
	return errors.Join(errs...)
}

// percentile sorts d and returns its p-th percentile: the value p percent of the way from the first to the last, rounded
// down to one of d.
func percentile(d []time.Duration, p int) time.Duration {
	slices.Sort(d)
	return d[(len(d)-1)*p/100]
}

// nearestRank returns the p-th percentile of v by nearest rank: the least value such that p percent of v are not above it.
func nearestRank(v []float64, p int) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[(len(s)*p+99)/100-1]
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// combineRounds combines the rounds of two figures, one by one.
func combineRounds(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = f(a[i], b[i])
	}
	return out
}

// repeat returns n copies of v.
func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

func div(a, b float64) float64 { return a / b }
func sub(a, b float64) float64 { return a - b }

// roundsOf returns the rounds of a figure that was measured once, or not at all because of err.
func roundsOf(v float64, err error) []float64 {
	if err != nil {
		return nil
	}
	return []float64{v}
}
