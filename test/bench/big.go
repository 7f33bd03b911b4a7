package main

import (
	"context"
	"fmt"
	"time"
)

// mostTimesStdio is the budget for big results, by size in bytes: their time through Collie divided by the time over stdio
// without it.
var mostTimesStdio = map[int]float64{1 << 20: 1.5, 16 << 20: 1.7}

// bigResults measures one client that fetches large results. It uses a Collie of its own, so that the peak of
// memory is due to them.
func (b *bench) bigResults(ctx context.Context, s subject) error {
	var end stopper
	defer func() { end.stop(b.log) }()
	gateway, err := end.daemon(b.serveCollie(ctx, map[string]command{"fake": {s.program}}))
	if err != nil {
		return err
	}
	relay, err := end.daemon(b.serveRelay(ctx, s))
	if err != nil {
		return err
	}
	floor, err := startStdio(ctx, s.program)
	if err != nil {
		return err
	}
	end.add(floor.close)
	behind, err := dialHTTP(ctx, gateway.endpoint, legacy)
	if err != nil {
		return err
	}
	end.add(behind.close)
	relayed, err := dialHTTP(ctx, relay.endpoint, legacy)
	if err != nil {
		return err
	}
	end.add(relayed.close)
	ways := []*lane{
		{name: "direct, stdio", client: floor},
		{name: "`collie serve`, HTTP", client: behind},
		{name: "bare relay, HTTP", client: relayed},
	}
	for i, size := range b.plan.bigBytes {
		if err := b.measureBigResult(ctx, s, size, b.plan.bigCalls[i], ways); err != nil {
			return err
		}
	}
	peak, err := memory(gateway.cmd.Process.Pid, "VmHWM")
	b.add(s.prefix+"peak RSS of Collie after big results", mebibytes, roundsOf(peak, err), s.budget(atMost(150)))
	return nil
}

// measureBigResult measures one size. ways are stdio, Collie and the relay.
func (b *bench) measureBigResult(ctx context.Context, s subject, size, calls int, ways []*lane) error {
	for i, name := range []string{"big", "fake__big", "big"} {
		ways[i].prepare(callTool(name, fmt.Sprintf(`{"bytes":%d}`, size)))
		ways[i].p50 = nil
	}
	for range b.plan.rounds {
		took := make([][]time.Duration, len(ways))
		for range calls {
			for i, w := range ways {
				begun := time.Now()
				msg, err := w.call()
				took[i] = append(took[i], time.Since(begun))
				if err == nil && len(msg) < size {
					err = fmt.Errorf("%d bytes instead of %d", len(msg), size)
				}
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					return fmt.Errorf("%s: %w", w.name, err)
				}
			}
		}
		for i, w := range ways {
			w.p50 = append(w.p50, micros(percentile(took[i], 50))/1000)
		}
	}
	mib := s.prefix + fmt.Sprintf("%d MiB result", size>>20)
	b.add(mib+" ÷ direct stdio", ratio, combineRounds(ways[1].p50, ways[0].p50, div), s.budget(atMost(mostTimesStdio[size])))
	b.add(mib+" ÷ direct stdio, bare relay", ratio, combineRounds(ways[2].p50, ways[0].p50, div), bound{})
	for _, w := range ways {
		b.add(mib+", "+w.name, milliseconds, w.p50, bound{})
	}
	return nil
}
