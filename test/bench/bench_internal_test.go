package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collie/test/await"
	"collie/test/binary"
)

// TestQuick checks that a quick run measures every figure of the report, and that no ratio is five times off its budget.
// It accepts narrowly missed budgets, because the machine may be busy; bench/RESULTS.md shows those.
func TestQuick(t *testing.T) {
	if await.Race {
		t.Skip("it measures; test/raced has this package run without the race detector too")
	}
	out := filepath.Join(t.TempDir(), "results", "RESULTS.md")
	begun := time.Now()
	err := run(t.Context(), []string{"-quick", "-check", "-collie", binary.Build(t, binary.Collie), "-out", out}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("took %v", time.Since(begun))
	report, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| p50 of a call, one client ÷ bare relay | ≤ 1.05× |", "| p50 added to stdio, over HTTP | ≤ 150 µs |",
		"| calls/s ÷ bare relay, 16 sessions | ≥ 0.90× |", "| CPU per 10,000 calls ÷ bare relay, 1 session | ≤ 2.00× |",
		"| 1 MiB result ÷ direct stdio | ≤ 1.50× |", "| peak RSS of Collie after big results | ≤ 150.0 MiB |",
		"| anonymous memory at rest, gateway and guard, 1 server | ≤ 14.0 MiB |", "| RSS at rest, 1 server |", "grouped ÷ flat | ≤ 8.0 % |", "tools, grouped ÷ flat | ≤ 8.0 % |", "tools, search | ≤ 3648 bytes |", "tools, auto | ≤ 16384 bytes |", "| binary | ≤ 39.0 MB |", "| allocated before main, our packages | ≤ 200 KiB |", "| `collie fs read` without a gateway, start to end | ≤ 30.00 ms |",
		"| first call ÷ the server's own start, server of both eras, legacy client | ≤ 1.10× |",
		"| hung optional lists add to the first call | ≤ 50.00 ms |",
		"| round trips of a first call in sequence, HTTP at 200ms a request, modern | ≤ 3.0 |",
		"from the cache, 8 servers that need 300ms each | ≤ 22.00 ms |", "| RSS at rest, 8 servers in the cache | ≤ 30.0 MiB |",
		"| p99 of tools/list of 400 tools | ≤ 5.00 ms |", "| stop with 4 servers | ≤ 1000.00 ms |",
		"| the next call after SIGKILL of its server | ≤ 2000.00 ms |", "| a bare HTTP server, start to an answer of that size |",
		"| vault: p50 of an append | ≤ 2.00 ms |", "| vault: p50 of full text queries, a mix | ≤ 20.00 ms |",
		"| vault: the tree of 60 documents, level by level | ≤ 50.00 ms |", "start of `collie serve` to the first answered call | ≤ 150.00 ms |",
		"| vault: RSS after appends, the mix of queries and a tree | ≤ 120.0 MiB |", "| p50, bare relay, HTTP |",
		"| conversations: choosing one of 16 keys | ≤ 100 ns |", "| conversations: RSS, 3 turns streaming | ≤ 114.4 MiB |",
		"| conversations: p99, provider to listener, 8 streaming | ≤ 5.00 ms |", "| conversations: processors used, 8 streaming | ≤ 1.00 |",
		"| conversations: opening one of 5000 messages | ≤ 150.00 ms |", "for a rare word of one Chinese character | ≤ 100.00 ms |",
		"## The same before the lean server",
	} {
		if !strings.Contains(string(report), want) {
			t.Errorf("the report has no line with %q:\n%s", want, report)
		}
	}
}

// usualStart is the usual time from the start of a bare HTTP server to its first answer, in milliseconds.
const usualStart = 10

// TestWarmStart runs the measurements of starts, long lists, stops and recovery. They return errors if a tool is missing
// or if a gateway with a cache starts a process. In addition, without the race detector, times may be at most five times
// their budgets, and a start without a cache must not wait for one server after the other. If a bare HTTP server starts more
// slowly than usual on this machine, starts of the gateway may take longer in the same ratio.
func TestWarmStart(t *testing.T) {
	b := &bench{plan: short, collie: binary.Build(t, binary.Collie), dir: t.TempDir(), log: t.Output()}
	var err error
	if b.peers, err = buildPeers(t.Context(), b.dir); err != nil {
		t.Fatal(err)
	}
	for _, part := range []func(context.Context) error{b.warmStart, b.many, b.longList, b.stopping, b.recovery} {
		if err := part(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	startsSlower := 1.0 // how many times longer than usual any program takes to start on this machine
	for _, f := range b.figures {
		if f.what == "a bare HTTP server, start to an answer of that size" {
			startsSlower = max(1, f.median()/usualStart)
		}
	}
	for _, f := range b.figures {
		t.Logf("%s: %s", f.what, f.value())
		if await.Race { // all tests run at once there
			continue
		}
		slack := 5.0
		if strings.HasPrefix(f.what, "start to all listed") {
			slack *= startsSlower
		}
		if f.unit == milliseconds && !f.bound.holds(slices.Min(f.rounds), slack) {
			t.Errorf("%s is never below %s, %.1f times off the budget of %s", f.what, f.unit.write(slices.Min(f.rounds)), slack, f.budget())
		}
		if f.what == "start without cache ÷ what one server needs" && slices.Min(f.rounds) > startsSlower*float64(short.warmServers)/2 {
			t.Errorf("%d servers need %s times what one needs", short.warmServers, f.value())
		}
	}
}

// TestStamps checks that sentTimes finds the sending time of every piece in a line, also if the line joins several pieces.
func TestStamps(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		`data: {"type":"text.delta","data":{"partIndex":0,"text":"1000 2000 "}}`:                     2,
		`data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"1000 "}}]}`:         1,
		`data: {"object":"chat.completion.chunk","choices":[{"delta":{"role":"assistant"}}]}`:        0,
		`data: {"type":"snapshot","data":{"parts":[{"type":"text","text":"1000 2000 3000 4000 "}]}}`: 0,
	} {
		got := sentTimes([]byte(line))
		if len(got) != want || want > 0 && got[0].UnixNano() != 1000 {
			t.Errorf("%s: %v, want %d of them", line, got, want)
		}
	}
}

// TestFar checks that only ratios and percentages that miss their budget by a factor of five in every round are errors.
func TestFar(t *testing.T) {
	t.Parallel()
	far := farOffBudget([]figure{
		{what: "slow", unit: ratio, rounds: []float64{8, 8, 9}, bound: atMost(1.5)},
		{what: "disturbed", unit: ratio, rounds: []float64{7, 8, 9}, bound: atMost(1.5)},
		{what: "near", unit: ratio, rounds: []float64{7}, bound: atMost(1.5)},
		{what: "few", unit: ratio, rounds: []float64{0.2}, bound: atLeast(1.25)},
		{what: "some", unit: ratio, rounds: []float64{0.3, 0.2, 0.3}, bound: atLeast(1.25)},
		{what: "big", unit: percent, rounds: []float64{41}, bound: atMost(8)},
		{what: "late", unit: microseconds, rounds: []float64{9000}, bound: atMost(150)},
		{what: "free", unit: ratio, rounds: []float64{100}},
		{what: "unknown", unit: ratio, bound: atMost(1)},
	})
	const want = "slow is 8.00×, five times off the budget of 1.50×\n" +
		"few is 0.20×, five times off the budget of 1.25×\n" +
		"big is 41.0 %, five times off the budget of 8.0 %"
	if far == nil || far.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", far, want)
	}
}

func TestMedianAndPercentile(t *testing.T) {
	t.Parallel()
	if got := (figure{rounds: []float64{5, 1, 3}}).median(); got != 3 {
		t.Errorf("median %v, want 3", got)
	}
	if got := (figure{rounds: []float64{4, 1, 3, 2}}).median(); got != 2.5 {
		t.Errorf("median %v, want 2.5", got)
	}
	var d []time.Duration
	for i := range 101 {
		d = append(d, time.Duration(100-i))
	}
	if p50, p99 := percentile(d, 50), percentile(d, 99); p50 != 50 || p99 != 99 {
		t.Errorf("percentiles %v and %v, want 50 and 99", p50, p99)
	}
}
