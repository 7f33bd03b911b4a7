package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// lane is one way to reach the measured tool, for example over stdio without Collie, with its client and its figures.
type lane struct {
	client
	name     string
	p50, p99 []float64 // in µs, one per round
}

// lanes are all ways that are measured with one client.
type lanes struct {
	stdio, http, collie, collieStdio, relay, httpModern, collieModern lane
}

func (l *lanes) all() []*lane {
	return []*lane{&l.stdio, &l.http, &l.collie, &l.collieStdio, &l.relay, &l.httpModern, &l.collieModern}
}

// latency measures one client that calls echo.
func (b *bench) latency(ctx context.Context, s subject) error {
	var end stopper
	defer func() { end.stop(b.log) }()
	l, err := b.openLanes(ctx, s, &end)
	if err != nil {
		return err
	}
	for range b.plan.rounds {
		if err := b.runRound(ctx, b.plan.calls, l.all()); err != nil {
			return err
		}
	}
	add := func(what string, u unit, rounds []float64, limit bound) {
		b.add(s.prefix+what, u, rounds, s.budget(limit))
	}
	add("p50 of a call, one client ÷ bare relay", ratio, combineRounds(l.collie.p50, l.relay.p50, div), atMost(1.05))
	add("p50 of a call, one client ÷ direct HTTP", ratio, combineRounds(l.collie.p50, l.http.p50, div), bound{})
	add("the same, modern era", ratio, combineRounds(l.collieModern.p50, l.httpModern.p50, div), atMost(1.55))
	add("p50 added to stdio, over HTTP", microseconds, combineRounds(l.collie.p50, l.stdio.p50, sub), atMost(150))
	add("p99 added to stdio, over HTTP", microseconds, combineRounds(l.collie.p99, l.stdio.p99, sub), atMost(2000))
	add("p50 added to stdio, `collie stdio`", microseconds, combineRounds(l.collieStdio.p50, l.stdio.p50, sub), bound{})
	add("p50 added to stdio, bare relay over HTTP", microseconds, combineRounds(l.relay.p50, l.stdio.p50, sub), bound{})
	add("p50 of a call, bare relay ÷ direct HTTP", ratio, combineRounds(l.relay.p50, l.http.p50, div), bound{})
	for _, lane := range l.all() {
		add("p50, "+lane.name, microseconds, lane.p50, bound{})
		add("p99, "+lane.name, microseconds, lane.p99, bound{})
	}
	return nil
}

// openLanes starts the programs and connects a client for each lane.
func (b *bench) openLanes(ctx context.Context, s subject, end *stopper) (*lanes, error) {
	gateway, err := end.daemon(b.serveCollie(ctx, map[string]command{"fake": {s.program}}))
	if err != nil {
		return nil, err
	}
	direct, err := end.daemon(s.serve(ctx))
	if err != nil {
		return nil, err
	}
	directModern, err := end.daemon(s.serve(ctx, s.modern...))
	if err != nil {
		return nil, err
	}
	relay, err := end.daemon(b.serveRelay(ctx, s))
	if err != nil {
		return nil, err
	}
	home, config, err := b.home(map[string]command{"fake": {s.program}})
	if err != nil {
		return nil, err
	}
	l := &lanes{
		stdio:        lane{name: "direct, stdio"},
		http:         lane{name: "direct, HTTP"},
		collie:       lane{name: "`collie serve`, HTTP"},
		collieStdio:  lane{name: "`collie stdio`"},
		relay:        lane{name: "bare relay, HTTP"},
		httpModern:   lane{name: "direct, HTTP, modern"},
		collieModern: lane{name: "`collie serve`, HTTP, modern"},
	}
	for _, o := range []struct {
		lane *lane
		tool string
		open func() (client, error)
	}{
		{&l.stdio, "echo", func() (client, error) { return startStdio(ctx, s.program) }},
		{&l.http, "echo", func() (client, error) { return dialHTTP(ctx, direct.endpoint, legacy) }},
		{&l.collie, "fake__echo", func() (client, error) { return dialHTTP(ctx, gateway.endpoint, legacy) }},
		{&l.collieStdio, "fake__echo", func() (client, error) {
			return startStdio(ctx, b.collie, "stdio", "--home", home, "--config", config)
		}},
		{&l.relay, "echo", func() (client, error) { return dialHTTP(ctx, relay.endpoint, legacy) }},
		{&l.httpModern, "echo", func() (client, error) { return dialHTTP(ctx, directModern.endpoint, modern) }},
		{&l.collieModern, "fake__echo", func() (client, error) { return dialHTTP(ctx, gateway.endpoint, modern) }},
	} {
		c, err := o.open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.lane.name, err)
		}
		end.add(c.close)
		c.prepare(callTool(o.tool, echoArgs))
		if _, err := c.call(); err != nil { // the first one may start something
			return nil, fmt.Errorf("%s: %w", o.lane.name, err)
		}
		o.lane.client = c
	}
	return l, nil
}

// runRound runs one round: the lanes alternately make some calls. Every second time the order is reversed, so
// that no lane always follows the same one.
func (b *bench) runRound(ctx context.Context, calls int, all []*lane) error {
	took := map[*lane][]time.Duration{}
	order := slices.Clone(all)
	for range b.plan.blocks {
		for _, l := range order {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for n := range calls {
				begun := time.Now()
				if _, err := l.call(); err != nil {
					return fmt.Errorf("%s: %w", l.name, err)
				}
				if d := time.Since(begun); n >= b.plan.cold {
					took[l] = append(took[l], d)
				}
			}
		}
		slices.Reverse(order)
	}
	for l, d := range took {
		l.p50 = append(l.p50, micros(percentile(d, 50)))
		l.p99 = append(l.p99, micros(percentile(d, 99)))
	}
	return nil
}
