package analytics

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Payload is a telemetry report; nothing else is sent. It holds no ids, no texts and no names that a user has
// chosen.
type Payload struct {
	V          int        `json:"v"`
	ReportedAt int64      `json:"reportedAt"` // milliseconds; calls before it are counted
	Since      int64      `json:"since"`      // time of the last report; 0 if there was none
	Aggregates Aggregates `json:"aggregates"`
	Meta       Meta       `json:"meta"`
}

// Aggregates are the numbers in a [Payload].
type Aggregates struct {
	TotalCalls    int     `json:"totalCalls"`
	ErrorCalls    int     `json:"errorCalls"`
	ErrorRate     float64 `json:"errorRate"` // three decimals
	AvgDurationMs float64 `json:"avgDurationMs"`
	// ActionBreakdown lists our own actions by name. All other actions, whose names come from the user or
	// from servers, are one entry "other".
	ActionBreakdown       []ActionCount  `json:"actionBreakdown"`
	HourlyDistribution    [24]int        `json:"hourlyDistribution"` // hours of UTC
	TransportDistribution map[string]int `json:"transportDistribution"`
}

// Meta describes the reporting program. The JSON names are those that another implementation of this report
// uses.
type Meta struct {
	PluginVersion string `json:"pluginVersion"` // version of this program
	NodeVersion   string `json:"nodeVersion"`   // version of Go
	Platform      string `json:"platform"`      // linux, darwin, windows
}

// otherName replaces names that are not ours.
const otherName = "other"

// newPayload counts the calls in dir in [since, at). own are the tools whose names may be reported.
func newPayload(ctx context.Context, dir string, since, at time.Time, own []string, version string) (Payload, error) {
	u, err := summarize(ctx, dir, since, at, func(e *Entry) {
		if !slices.Contains(own, e.Tool) {
			e.Tool, e.Action = otherName, otherName
		}
	})
	if err != nil {
		return Payload{}, err
	}
	sums := Aggregates{ActionBreakdown: u.Actions, HourlyDistribution: u.Hours, TransportDistribution: map[string]int{viaStdio: 0, HTTP: 0, viaCLI: 0}}
	millis := 0.0
	for _, d := range u.Days {
		sums.TotalCalls += d.Calls
		sums.ErrorCalls += d.Errors
		millis += d.DurationMs
		for name, calls := range d.Transports {
			sums.TransportDistribution[name] += calls
		}
	}
	sums.ErrorRate, sums.AvgDurationMs = ratio(float64(sums.ErrorCalls), sums.TotalCalls), ratio(millis, sums.TotalCalls)
	p := Payload{
		V: 1, ReportedAt: at.UnixMilli(), Aggregates: sums,
		Meta: Meta{PluginVersion: version, NodeVersion: runtime.Version(), Platform: runtime.GOOS},
	}
	if !since.IsZero() {
		p.Since = since.UnixMilli()
	}
	return p, nil
}
