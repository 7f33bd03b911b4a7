package analytics

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"collie/internal/event"
	"collie/internal/pipeline/lifecycle"
	"collie/internal/tool"
	"collie/internal/tool/tooltest"
)

// newFinishedCall returns a typical call of a notes tool that has ended.
func newFinishedCall() tool.CallDone {
	raw := json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("some text ", 100) + `"}]}`)
	return tool.CallDone{
		Call: &tool.Call{
			Request: tool.Request{Kind: tool.KindCall, Origin: tool.MCPLocal},
			Tool:    "fs", Action: &tool.Action{Name: "read"}, Args: json.RawMessage(`{"path":"/projects/collie/notes","blockLimit":50}`),
		},
		Outcome: tool.OK, Start: time.Now(), Duration: time.Millisecond, BytesOut: len(raw), Result: raw,
	}
}

// A call pays for one publish: it allocates one event for all subscribers and waits for nothing, even while
// analytics is blocked. Lost calls are counted. Not parallel, because the test counts allocations.
func TestACallNeverWaits(t *testing.T) {
	dir, bus, done := t.TempDir(), new(event.Bus[tool.CallDone]), newFinishedCall()
	l := Open(dir, bus, nil)
	l.mu.Lock() // blocks the goroutine that makes lines
	const runs = 5 * queueLen
	if n := testing.AllocsPerRun(runs, func() { bus.Publish(done) }); n != 1 {
		t.Errorf("Publish allocates %v times, want 1", n)
	}
	l.mu.Unlock()
	l.Close()
	kept, dropped := 0, 0
	for e, err := range entries(t.Context(), dir, time.Time{}, time.Time{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Dropped > 0 {
			dropped += int(e.Dropped)
		} else {
			kept++
		}
	}
	if kept < queueLen || kept+dropped != runs+1 { // AllocsPerRun makes one run more
		t.Errorf("%d calls kept and %d noted as dropped, of %d", kept, dropped, runs+1)
	}
}

// keepEverything is a Redactor that removes nothing.
type keepEverything struct{}

func (keepEverything) AppendJSON(b, raw []byte) []byte { return append(b, raw...) }
func (keepEverything) AppendText(b []byte, s string) []byte {
	return append(append(append(b, '"'), s...), '"')
}

// Large results waiting in the queue are dropped to save memory; the entry then has the size of the whole
// result.
func TestLargeResultsAreDropped(t *testing.T) {
	t.Parallel()
	dir, bus := t.TempDir(), new(event.Bus[tool.CallDone])
	l := Open(dir, bus, &Options{CaptureText: true, Redactor: keepEverything{}})
	l.mu.Lock() // blocks the goroutine that makes lines
	const calls, chars = 100, 4 << 20
	for range calls {
		done := newFinishedCall()
		done.Result = json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("a", chars) + `"}]}`)
		done.BytesOut = len(done.Result)
		bus.Publish(done)
	}
	if l.in.held > maxHeld {
		t.Errorf("%d bytes wait, at most %d are allowed", l.in.held, maxHeld)
	}
	l.mu.Unlock()
	l.Close()
	measured, dropped := 0, 0 // entries with the size of the text in the result, and with that of the result as a whole
	for e, err := range entries(t.Context(), dir, time.Time{}, time.Time{}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case !e.ResponseTextTruncated:
			t.Fatalf("a response of %d characters counts as kept, with %d", e.ResponseChars, len(e.ResponseText))
		case e.ResponseChars == chars:
			measured++
		case e.ResponseChars == e.ResponseBytes && e.ResponseBytes > chars:
			dropped++
		}
	}
	if measured == 0 || measured > maxHeld/chars+1 || measured+dropped != calls {
		t.Errorf("%d calls with a result that was read and %d with its size alone, of %d", measured, dropped, calls)
	}
}

// The memory that waits for a hanging disk is bounded; lines beyond that are counted.
func TestADiskThatHangs(t *testing.T) {
	t.Parallel()
	l := &Log{in: newInbox(), wake: make(chan struct{}, 1), full: make(chan struct{}, 1)}
	c, done := collector{log: l}, newFinishedCall()
	const calls = 20_000
	for range calls {
		c.add(&done)
	}
	kept, size := 0, 0
	for _, b := range l.drain() {
		kept += bytes.Count(b.lines, []byte("\n"))
		size += len(b.lines)
	}
	if lost := int(l.lost.Load()); size > maxPending || kept == 0 || lost == 0 || kept+lost != calls {
		t.Errorf("%d lines of %d bytes wait and %d are lost, of %d", kept, size, lost, calls)
	}
	c.noteLost()
	if waiting := l.drain(); len(waiting) != 1 || !strings.Contains(string(waiting[0].lines), `"note":"dropped"`) || l.lost.Load() != 0 {
		t.Errorf("the loss is not noted: %q", waiting)
	}
}

// BenchmarkPublish measures what a call pays with and without analytics, and the ratio.
func BenchmarkPublish(b *testing.B) {
	done := newFinishedCall()
	alone, watched := new(event.Bus[tool.CallDone]), new(event.Bus[tool.CallDone])
	l := Open(b.TempDir(), watched, nil)
	defer l.Close()
	b.ReportAllocs()
	const calls = 100 // between two readings of the clock
	var without, with time.Duration
	for b.Loop() {
		start := time.Now()
		for range calls {
			alone.Publish(done)
		}
		middle := time.Now()
		for range calls {
			watched.Publish(done)
		}
		with += time.Since(middle)
		without += middle.Sub(start)
	}
	b.ReportMetric(float64(without.Nanoseconds())/float64(b.N*calls), "ns/alone")
	b.ReportMetric(float64(with.Nanoseconds())/float64(b.N*calls), "ns/watched")
	b.ReportMetric(float64(with)/float64(max(without, 1)), "ratio")
}

// BenchmarkStage measures the stage around a call that does nothing.
func BenchmarkStage(b *testing.B) {
	done := newFinishedCall()
	next := func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{Raw: done.Result}, nil }
	for _, name := range []string{"alone", "watched"} {
		b.Run(name, func(b *testing.B) {
			bus := new(event.Bus[tool.CallDone])
			if name == "watched" {
				l := Open(b.TempDir(), bus, nil)
				defer l.Close()
			}
			stage := lifecycle.New(new(event.Bus[*tool.Call]), bus)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = tooltest.Through(b.Context(), stage, done.Call, next)
			}
		})
	}
}

// BenchmarkLine measures the background work for a call.
func BenchmarkLine(b *testing.B) {
	done := newFinishedCall()
	l := &Log{wake: make(chan struct{}, 1), full: make(chan struct{}, 1)}
	c := collector{log: l}
	b.ReportAllocs()
	for b.Loop() {
		c.add(&done)
		if l.size > flushBytes {
			l.drain()
		}
	}
}
