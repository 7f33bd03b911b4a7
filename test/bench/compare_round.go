package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// comparisonPlan says how much is measured. Each side gets fresh processes in each round, so that rounds are
// independent. Within a round the sides alternate after a few calls, so that both run under the same
// conditions.
type comparisonPlan struct {
	rounds      int
	blocks      int // turns of each side with one client
	calls       int // calls per turn
	cold        int // first calls of a turn, which do not count
	sessions    int
	slices      int // turns of each side with many clients
	slice       time.Duration
	fewerBlocks int // turns of each side over the bridge, and with lists
	fewerCalls  int
	servers     int // servers in a start from the cache
	pause       time.Duration
}

var fullComparison = comparisonPlan{
	blocks: 32, calls: 132, cold: 400, sessions: 16, slices: 8, slice: 100 * time.Millisecond, fewerBlocks: 6, fewerCalls: 60,
	servers: 20, pause: 300 * time.Millisecond,
}

var shortComparison = comparisonPlan{
	rounds: 2, blocks: 2, calls: 20, cold: 10, sessions: 4, slices: 2, slice: 20 * time.Millisecond, fewerBlocks: 2, fewerCalls: 5,
	servers: 2, pause: 10 * time.Millisecond,
}

// comparison is two programs to compare; the old one comes first.
type comparison struct {
	plan    comparisonPlan
	sides   [2]*bench
	warm    [2]*installation
	counter string // how the cost of a call is measured
	samples map[string]*samples
	order   []string // names of the samples in order
	log     io.Writer
}

// samples are the values of one figure by side, one per round.
type samples struct {
	row    row
	rounds [2][]float64
}

// The names of the figures, in the order of the report.
const (
	costOfOneSession   = "a call, 1 session"
	costOfManySessions = "a call, 16 sessions"
	callLatency        = "p50 of a call, 1 session"
	throughputFigure   = "calls/s, 16 sessions"
	bridgeLatency      = "p50 of a call, `collie stdio` beside a gateway"
	listLatency        = "p50 of tools/list, 200 tools"
	startDuration      = "start from the cache to the whole list"
	memoryAtRest       = "memory at rest"
)

// add adds the value of a figure for one side and one round.
func (c *comparison) add(side int, r row, v float64) {
	s, ok := c.samples[r.Name]
	if !ok {
		s = &samples{row: r}
		c.samples[r.Name] = s
		c.order = append(c.order, r.Name)
	}
	s.rounds[side] = append(s.rounds[side], v)
}

// run fills a tool cache for each side, and then measures all rounds.
func (c *comparison) run(ctx context.Context) error {
	c.counter = counterHere(ctx)
	for i, b := range c.sides {
		in, err := b.install(c.plan.servers, 20, 0)
		if err == nil {
			err = b.fill(ctx, in)
		}
		if err != nil {
			return err
		}
		c.warm[i] = in
	}
	for n := range c.plan.rounds {
		begun := time.Now()
		if err := c.round(ctx, n); err != nil {
			return fmt.Errorf("round %d: %w", n+1, err)
		}
		fmt.Fprintf(c.log, "bench: round %d of %d: %.1f s\n", n+1, c.plan.rounds, time.Since(begun).Seconds())
	}
	return nil
}

// sideInRound is one side in one round.
type sideInRound struct {
	gateway *daemon
	one     *httpClient
	bridge  *stdioClient
	many    side
}

// round measures both sides once. The side that goes first alternates.
func (c *comparison) round(ctx context.Context, n int) error {
	var end stopper
	defer func() { end.stop(c.log) }()
	order := []int{0, 1}
	if n%2 == 1 {
		slices.Reverse(order)
	}
	var rigs [2]*sideInRound
	for _, i := range order {
		if err := c.measureStart(ctx, i); err != nil {
			return err
		}
		r, err := c.openSide(ctx, i, &end)
		if err != nil {
			return err
		}
		rigs[i] = r
	}
	for _, step := range []func(context.Context, [2]*sideInRound, []int) error{c.measureCalls, c.measureCrowds, c.measureLists, c.measureBridges} {
		if err := step(ctx, rigs, order); err != nil {
			return err
		}
	}
	return nil
}

// measureStart measures a start from the cache.
func (c *comparison) measureStart(ctx context.Context, i int) error {
	b, in := c.sides[i], c.warm[i]
	d, err := b.start(ctx, in, collieListens)
	if err != nil {
		return err
	}
	defer d.stop() //nolint:errcheck // it returns nil
	l, err := in.list(ctx, d.endpoint)
	if err != nil {
		return err
	}
	c.add(i, row{Name: startDuration, Unit: "ms", Limit: slowest}, micros(l.at.Sub(d.begun))/1000)
	return nil
}

// openSide starts a gateway in a new home and connects all clients.
func (c *comparison) openSide(ctx context.Context, i int, end *stopper) (*sideInRound, error) {
	b := c.sides[i]
	home, config, err := b.home(map[string]command{"fake": {b.lean.program}, "many": {b.lean.program, "--tools", "200"}})
	if err != nil {
		return nil, err
	}
	r := &sideInRound{}
	if r.gateway, err = end.daemon(b.serveIn(ctx, home, config, collieReady)); err != nil {
		return nil, err
	}
	if err := pause(ctx, c.plan.pause); err != nil {
		return nil, err
	}
	if v, err := memory(r.gateway.cmd.Process.Pid, "VmRSS"); err == nil { // if the system has no such figure, none is reported
		c.add(i, row{Name: memoryAtRest, Unit: "MiB"}, v)
	}
	if r.one, err = dialHTTP(ctx, r.gateway.endpoint, legacy); err != nil {
		return nil, err
	}
	end.add(r.one.close)
	if r.bridge, err = startStdio(ctx, b.collie, "stdio", "--home", home, "--config", config); err != nil {
		return nil, err
	}
	end.add(r.bridge.close)
	r.many = side{daemon: r.gateway, tool: "fake__echo"}
	end.add(func() error { r.many.close(); return nil })
	if err := r.many.open(ctx, c.plan.sessions); err != nil {
		return nil, err
	}
	for _, client := range []client{r.one, r.bridge} {
		client.prepare(callTool("fake__echo", echoArgs))
		if _, err := timeCalls(ctx, client, c.plan.cold); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// measureCalls measures one client, and what its calls cost the gateway.
func (c *comparison) measureCalls(ctx context.Context, rigs [2]*sideInRound, order []int) error {
	var counters [2]counter
	for _, i := range order {
		var err error
		if counters[i], err = c.startCounter(ctx, rigs[i].gateway.cmd.Process.Pid); err != nil {
			return err
		}
	}
	took, err := c.callInTurns(ctx, order, c.plan.blocks, c.plan.calls, func(i int) client { return rigs[i].one })
	if err != nil {
		return err
	}
	for _, i := range order {
		spent, err := counters[i].stop()
		if err != nil {
			return err
		}
		c.add(i, row{Name: c.counter + " " + costOfOneSession, Unit: unitOf(c.counter), Limit: limitOf(c.counter)}, spent/float64(len(took[i])))
		c.add(i, row{Name: callLatency, Unit: "µs", Limit: slowest}, micros(percentile(took[i], 50)))
	}
	return nil
}

// measureCrowds measures many concurrent clients.
func (c *comparison) measureCrowds(ctx context.Context, rigs [2]*sideInRound, order []int) error {
	var counters [2]counter
	var tallies [2]tally
	for _, i := range order {
		var err error
		if counters[i], err = c.startCounter(ctx, rigs[i].gateway.cmd.Process.Pid); err != nil {
			return err
		}
	}
	turn := slices.Clone(order)
	for range c.plan.slices {
		for _, i := range turn {
			if err := rigs[i].many.run(ctx, c.plan.slice, &tallies[i]); err != nil {
				return err
			}
		}
		slices.Reverse(turn)
	}
	for _, i := range order {
		spent, err := counters[i].stop()
		if err != nil {
			return err
		}
		c.add(i, row{Name: throughputFigure, Unit: "/s", Limit: slowest, More: true}, tallies[i].rate())
		c.add(i, row{Name: c.counter + " " + costOfManySessions, Unit: unitOf(c.counter)}, spent/float64(tallies[i].calls))
	}
	return nil
}

// measureLists measures the list of tools.
func (c *comparison) measureLists(ctx context.Context, rigs [2]*sideInRound, order []int) error {
	for _, i := range order {
		rigs[i].one.prepare(request{method: "tools/list"})
	}
	return c.measureMedian(ctx, order, listLatency, func(i int) client { return rigs[i].one })
}

// measureBridges measures a client that is connected to the gateway through `collie stdio`.
func (c *comparison) measureBridges(ctx context.Context, rigs [2]*sideInRound, order []int) error {
	return c.measureMedian(ctx, order, bridgeLatency, func(i int) client { return rigs[i].bridge })
}

// measureMedian measures the median time of calls for which fewer turns suffice.
func (c *comparison) measureMedian(ctx context.Context, order []int, name string, of func(int) client) error {
	took, err := c.callInTurns(ctx, order, c.plan.fewerBlocks, c.plan.fewerCalls, of)
	if err != nil {
		return err
	}
	for _, i := range order {
		c.add(i, row{Name: name, Unit: "µs", Limit: slowest}, micros(percentile(took[i], 50)))
	}
	return nil
}

// callInTurns lets both sides make calls alternately. Every second time the order is reversed, so that neither side
// always follows the other.
func (c *comparison) callInTurns(ctx context.Context, order []int, blocks, calls int, of func(int) client) (took [2][]time.Duration, err error) {
	turn := slices.Clone(order)
	for range blocks {
		for _, i := range turn {
			d, err := timeCalls(ctx, of(i), calls)
			if err != nil {
				return took, err
			}
			took[i] = append(took[i], d...)
		}
		slices.Reverse(turn)
	}
	return took, nil
}

// timeCalls makes calls and returns the duration of each.
func timeCalls(ctx context.Context, c client, calls int) ([]time.Duration, error) {
	took := make([]time.Duration, calls)
	for n := range took {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		begun := time.Now()
		if _, err := c.call(); err != nil {
			return nil, err
		}
		took[n] = time.Since(begun)
	}
	return took, nil
}
