package analytics

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"collie/internal/sorting"
)

// Summary is what the calls of a time come to. Times are averages in milliseconds, the rate is
// from 0 to 1, and days are those of UTC.
type Summary struct {
	TotalCalls            int            `json:"totalCalls"`
	ErrorCalls            int            `json:"errorCalls"`
	ErrorRate             float64        `json:"errorRate"`
	AvgDurationMs         float64        `json:"avgDurationMs"`
	TopActions            []ActionCount  `json:"topActions"`
	DailyTrend            []DayCount     `json:"dailyTrend"`
	TransportDistribution map[string]int `json:"transportDistribution"`
	TokenUsage            TokenUsage     `json:"tokenUsage"`
	// Dropped is how many calls are missing, because too many ended at once or the disk was full.
	Dropped int64 `json:"dropped"`
}

// ActionCount is what the calls of one action come to.
type ActionCount struct {
	Tool          string  `json:"tool"`
	Action        string  `json:"action"`
	Count         int     `json:"count"`
	ErrorCount    int     `json:"errorCount"`
	AvgDurationMs float64 `json:"avgDurationMs"`
}

// DayCount is what one day comes to. Days without calls have none.
type DayCount struct {
	Date   string `json:"date"` // 2026-07-28
	Calls  int    `json:"calls"`
	Errors int    `json:"errors"`
}

// TokenUsage is what calls cost a model's context, by estimate.
type TokenUsage struct {
	CLI CallTokens `json:"cli"`
	MCP CallTokens `json:"mcp"` // over stdio and HTTP
	// What a client is given before its first call: lists and instructions.
	MCPInitialChars        int `json:"mcpInitialChars"`
	MCPInitialApproxTokens int `json:"mcpInitialApproxTokens"`
}

// CallTokens are the averages of one call.
type CallTokens struct {
	Calls       int     `json:"calls"`
	AvgRequest  float64 `json:"avgRequestTokens"`
	AvgResponse float64 `json:"avgResponseTokens"`
	AvgTotal    float64 `json:"avgTotalTokens"`
}

// topActions is how many actions a Summary has.
const topActions = 5

// Summarize adds up the calls in dir from a time on, and before another; see [Query].
// initialChars is the length of what an MCP client is given before its first call; see [Chars].
func Summarize(ctx context.Context, dir string, from, before time.Time, initialChars int) (Summary, error) {
	t := newTally()
	for e, err := range Query(ctx, dir, from, before) {
		if err != nil {
			return Summary{}, err
		}
		t.add(&e)
	}
	s := t.summary()
	s.TokenUsage.MCPInitialChars, s.TokenUsage.MCPInitialApproxTokens = initialChars, tokens(initialChars)
	return s, nil
}

// tally adds up calls.
type tally struct {
	all        sum
	actions    map[actionName]*sum
	days       map[string]*sum
	transports map[string]int
	cli, mcp   tokenSum
	hours      [24]int // of UTC
	dropped    int64
}

type actionName struct{ tool, action string }

type sum struct {
	calls, errors int
	millis        float64
}

func (s *sum) add(e *Entry) {
	s.calls++
	if e.Status != Success {
		s.errors++
	}
	s.millis += e.DurationMs
}

type tokenSum struct{ calls, request, response, total int }

func newTally() *tally {
	return &tally{
		actions: map[actionName]*sum{}, days: map[string]*sum{},
		transports: map[string]int{Stdio: 0, HTTP: 0, CLI: 0},
	}
}

func (t *tally) add(e *Entry) {
	if e.Dropped > 0 {
		t.dropped += e.Dropped
		return
	}
	t.all.add(e)
	at(t.actions, actionName{e.Tool, e.Action}).add(e)
	at(t.days, dayOf(e.TS)).add(e)
	t.hours[time.UnixMilli(e.TS).UTC().Hour()]++
	usage := &t.mcp
	switch e.Transport {
	case Stdio, HTTP:
		t.transports[e.Transport]++
	case CLI:
		t.transports[CLI]++
		usage = &t.cli
	default:
		t.transports["other"]++
		return
	}
	usage.calls++
	usage.request += e.RequestApproxTokens
	usage.response += e.ResponseApproxTokens
	usage.total += e.TotalApproxTokens
}

// at is the sum of a key, made when it is first asked for.
func at[K comparable](m map[K]*sum, key K) *sum {
	if m[key] == nil {
		m[key] = new(sum)
	}
	return m[key]
}

func (t *tally) summary() Summary {
	s := Summary{
		TotalCalls: t.all.calls, ErrorCalls: t.all.errors, ErrorRate: t.all.rate(), AvgDurationMs: t.all.average(),
		TopActions: t.ranked(), DailyTrend: []DayCount{}, TransportDistribution: t.transports,
		TokenUsage: TokenUsage{CLI: t.cli.averages(), MCP: t.mcp.averages()}, Dropped: t.dropped,
	}
	s.TopActions = s.TopActions[:min(len(s.TopActions), topActions)]
	for _, day := range slices.Sorted(maps.Keys(t.days)) {
		s.DailyTrend = append(s.DailyTrend, DayCount{day, t.days[day].calls, t.days[day].errors})
	}
	return s
}

// ranked are all actions, those called most first.
func (t *tally) ranked() []ActionCount {
	out := make([]ActionCount, 0, len(t.actions))
	for name, s := range t.actions {
		out = append(out, ActionCount{name.tool, name.action, s.calls, s.errors, s.average()})
	}
	sorting.By(out, func(a, b ActionCount) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Action, b.Action))
	})
	return out
}

// rate has three decimals, as have all figures here that are not counts.
func (s *sum) rate() float64    { return ratio(float64(s.errors), s.calls) }
func (s *sum) average() float64 { return ratio(s.millis, s.calls) }

func (s *tokenSum) averages() CallTokens {
	return CallTokens{
		s.calls, ratio(float64(s.request), s.calls), ratio(float64(s.response), s.calls), ratio(float64(s.total), s.calls),
	}
}

func ratio(sum float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return math.Round(sum/float64(n)*1000) / 1000
}
