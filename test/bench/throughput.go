package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// throughput measures many concurrent clients that call echo as fast as they get answers, and the processor
// time that Collie uses for it.
func (b *bench) throughput(ctx context.Context, s subject, sessions []int) error {
	var end stopper
	defer func() { end.stop(b.log) }()
	direct, err := end.daemon(s.serve(ctx))
	if err != nil {
		return err
	}
	gateway, err := end.daemon(b.serveCollie(ctx, map[string]command{"fake": {s.program}}))
	if err != nil {
		return err
	}
	relay, err := end.daemon(b.serveRelay(ctx, s))
	if err != nil {
		return err
	}
	for _, n := range sessions {
		c := crowd{
			direct: side{daemon: direct, tool: "echo"},
			collie: side{daemon: gateway, tool: "fake__echo"},
			relay:  side{daemon: relay, tool: "echo"},
		}
		if err := c.measure(ctx, n, b.plan); err != nil {
			return fmt.Errorf("%d sessions: %w", n, err)
		}
		b.report(s, n, &c)
	}
	return nil
}

// The budgets by number of sessions, relative to the bare relay: minimum calls per second, maximum processor
// time.
var (
	leastShare = map[int]float64{16: 0.9, 64: 0.9}
	mostCPU    = map[int]float64{1: 2, 16: 2}
)

// report adds the figures of a measurement with n sessions to the report.
func (b *bench) report(s subject, n int, c *crowd) {
	who := fmt.Sprintf(", %d sessions", n)
	if n == 1 {
		who = ", 1 session"
	}
	add := func(what string, u unit, rounds []float64, limit bound) {
		b.add(s.prefix+what+who, u, rounds, s.budget(limit))
	}
	least, most := bound{}, bound{}
	if v, ok := leastShare[n]; ok {
		least = atLeast(v)
	}
	if v, ok := mostCPU[n]; ok {
		most = atMost(v)
	}
	add("calls/s ÷ bare relay", ratio, combineRounds(c.collie.rates, c.relay.rates, div), least)
	if len(c.collie.cpu) == len(c.relay.cpu) {
		add("CPU per 10,000 calls ÷ bare relay", ratio, combineRounds(c.collie.cpu, c.relay.cpu, div), most)
	}
	add("calls/s ÷ direct HTTP", ratio, combineRounds(c.collie.rates, c.direct.rates, div), bound{})
	add("calls/s ÷ direct HTTP, bare relay", ratio, combineRounds(c.relay.rates, c.direct.rates, div), bound{})
	add("CPU per 10,000 calls", seconds, c.collie.cpu, bound{})
	add("CPU per 10,000 calls, bare relay", seconds, c.relay.cpu, bound{})
	add("calls/s, direct HTTP", perSecond, c.direct.rates, bound{})
	add("calls/s, `collie serve`", perSecond, c.collie.rates, bound{})
}

// crowd is many clients on each of three sides: the server itself, Collie and the bare relay.
type crowd struct{ direct, collie, relay side }

// side is an endpoint with its clients and measurements, one per round.
type side struct {
	*daemon
	tool       string
	clients    []*httpClient
	rates, cpu []float64
}

// measure opens n clients on each side and lets the sides take turns: all clients of one side make calls for a slice
// of time, then those of the next.
func (c *crowd) measure(ctx context.Context, n int, p plan) error {
	sides := []*side{&c.direct, &c.collie, &c.relay}
	for _, s := range sides {
		defer s.close()
		if err := s.open(ctx, n); err != nil {
			return err
		}
	}
	for range p.rounds {
		tallies := make([]tally, len(sides))
		before := make([]time.Duration, len(sides))
		for i, s := range sides {
			before[i], _ = cpuTime(s.cmd.Process.Pid) // without /proc the report says that it was not measured
		}
		for range p.slices {
			for i, s := range sides {
				if err := s.run(ctx, p.slice, &tallies[i]); err != nil {
					return err
				}
			}
		}
		for i, s := range sides {
			s.rates = append(s.rates, tallies[i].rate())
			if after, err := cpuTime(s.cmd.Process.Pid); err == nil {
				used := max(after-before[i], tick) // in a quick run the process may use less than a tick
				s.cpu = append(s.cpu, used.Seconds()*10_000/float64(tallies[i].calls))
			}
		}
	}
	return nil
}

// open connects n clients to the side, and has each make one call.
func (s *side) open(ctx context.Context, n int) error {
	for range n {
		c, err := dialHTTP(ctx, s.endpoint, legacy)
		if err != nil {
			return err
		}
		s.clients = append(s.clients, c)
		c.prepare(callTool(s.tool, echoArgs))
		if _, err := c.call(); err != nil { // the first one may start something
			return err
		}
	}
	return nil
}

func (s *side) close() {
	for _, c := range s.clients {
		_ = c.close()
	}
}

// tally counts calls and their total time.
type tally struct {
	calls int
	took  time.Duration
}

func (t tally) rate() float64 { return float64(t.calls) / t.took.Seconds() }

// run lets all clients make calls for the time d and adds the result to t.
func (s *side) run(ctx context.Context, d time.Duration, t *tally) error {
	counts, errs := make([]int, len(s.clients)), make([]error, len(s.clients))
	begun := time.Now()
	var wg sync.WaitGroup
	for i, c := range s.clients {
		wg.Go(func() {
			for ctx.Err() == nil && time.Since(begun) < d {
				if _, err := c.call(); err != nil {
					errs[i] = err
					return
				}
				counts[i]++
			}
		})
	}
	wg.Wait()
	t.took += time.Since(begun)
	for _, n := range counts {
		t.calls += n
	}
	return errors.Join(append(errs, ctx.Err())...)
}
