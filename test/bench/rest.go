package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"collie/internal/process"
)

// mostAtRest is the memory budget by number of servers, in MiB: the private memory of gateway and reaper
// process together. The other resident pages belong to the program's file and are shared.
var mostAtRest = map[int]float64{1: 14, 50: 30}

// startAndRest measures how long Collie takes until its servers are listed, its memory then, and the cost of
// its lists.
func (b *bench) startAndRest(ctx context.Context) error {
	for _, n := range b.plan.servers {
		if err := b.measureRest(ctx, n); err != nil {
			return fmt.Errorf("%d servers: %w", n, err)
		}
	}
	return nil
}

// measureRest measures a gateway with n idle servers: its memory, its wake-ups, its start and, if n > 1, its lists.
func (b *bench) measureRest(ctx context.Context, n int) error {
	servers := map[string]command{}
	for i := range n {
		servers[fmt.Sprintf("server%02d", i)] = command{b.lean.program, "--tools", fmt.Sprint(b.plan.tools)}
	}
	var ready, rss, own, guard, wakes []float64
	var l lists
	for round := range b.plan.rounds {
		d, err := b.serveCollie(ctx, servers)
		if err != nil {
			return err
		}
		ready = append(ready, micros(d.ready)/1000)
		err = pause(ctx, b.plan.pause)
		pid := d.cmd.Process.Pid
		if v, merr := memory(pid, "VmRSS"); merr == nil {
			rss = append(rss, v)
		}
		if all, its, merr := anonymous(pid); merr == nil {
			own, guard = append(own, all), append(guard, its)
		}
		if v, werr := wakeups(ctx, pid, b.plan.pause/2); werr == nil {
			wakes = append(wakes, v)
		}
		if err == nil && n > 1 && round == b.plan.rounds-1 {
			l, err = b.listing(ctx, d.endpoint)
		}
		_ = d.stop()
		if err != nil {
			return err
		}
	}
	what := fmt.Sprintf("%d servers", n)
	if n == 1 {
		what = "1 server"
	}
	most := bound{}
	if v, ok := mostAtRest[n]; ok {
		most = atMost(v)
	}
	b.add("anonymous memory at rest, gateway and guard, "+what, mebibytes, own, most)
	b.add("of it the guard's, "+what, mebibytes, guard, bound{})
	b.add("RSS at rest, "+what, mebibytes, rss, bound{})
	if n > 1 {
		of := fmt.Sprintf(" of %d × %d tools", n, b.plan.tools)
		b.add("tools/list"+of+", grouped ÷ flat", percent, []float64{100 * l.grouped / l.flat}, atMost(8))
		b.add("p99 of tools/list"+of+", flat", milliseconds, l.p99, atMost(5))
		b.add("p50 of tools/list"+of+", flat", milliseconds, l.p50, bound{})
		b.add("tools/list"+of+", flat", kibibytes, []float64{l.flat / 1024}, bound{})
		b.add("tools/list"+of+", grouped", kibibytes, []float64{l.grouped / 1024}, bound{})
	}
	b.add("start to all listed, without cache, "+what, milliseconds, ready, bound{})
	b.add("wake-ups a second at rest, "+what, number, wakes, bound{})
	return nil
}

// anonymous returns the private memory of a gateway and its reaper process, and the reaper's part of it.
func anonymous(gateway int) (all, guard float64, err error) {
	if all, err = memory(gateway, "RssAnon"); err != nil {
		return 0, 0, err
	}
	kids, err := children(gateway)
	if err != nil {
		return 0, 0, err
	}
	for _, pid := range kids {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.HasSuffix(string(line), "\x00"+process.ReaperCommand+"\x00") {
			if guard, err = memory(pid, "RssAnon"); err != nil {
				return 0, 0, err
			}
			return all + guard, guard, nil
		}
	}
	return 0, 0, fmt.Errorf("process %d has no guard", gateway)
}

// lists describes the tool lists of many servers.
type lists struct {
	flat, grouped float64 // bytes
	p50, p99      []float64
}

// listing measures tools/list in the views flat and grouped.
func (b *bench) listing(ctx context.Context, at endpoint) (l lists, err error) {
	var end stopper
	defer func() { end.stop(b.log) }()
	for _, view := range []string{"grouped", "flat"} {
		e := at
		e.url += "?profile=@" + view
		c, err := dialHTTP(ctx, e, legacy)
		if err != nil {
			return l, err
		}
		end.add(c.close)
		c.prepare(request{method: "tools/list"})
		msg, err := c.call()
		if err != nil {
			return l, err
		}
		if view == "grouped" {
			l.grouped = float64(len(msg))
			continue
		}
		l.flat = float64(len(msg))
		for range b.plan.rounds {
			took := make([]time.Duration, b.plan.lists)
			for i := range took {
				begun := time.Now()
				if _, err := c.call(); err != nil {
					return l, err
				}
				took[i] = time.Since(begun)
			}
			l.p50 = append(l.p50, micros(percentile(took, 50))/1000)
			l.p99 = append(l.p99, micros(percentile(took, 99))/1000)
		}
	}
	return l, nil
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
