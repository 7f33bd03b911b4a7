package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"time"
)

// installation is a home with settings that several runs of the gateway use one after the other, so that later runs find
// the tool cache of earlier ones.
type installation struct {
	home, config string
	servers      int
	tools        int // number of tools of all servers together
}

// install makes an installation of n servers with so many tools each. Each server needs the time boot to start.
func (b *bench) install(n, tools int, boot time.Duration) (*installation, error) {
	servers := map[string]command{}
	for i := range n {
		servers[fmt.Sprintf("server%03d", i)] = command{b.lean.program, "--tools", fmt.Sprint(tools), "--delay-start", boot.String()}
	}
	home, config, err := b.home(servers)
	return &installation{home, config, n, n * tools}, err
}

// start runs `collie serve` in the installation, and returns when its output matches ready.
func (b *bench) start(ctx context.Context, in *installation, ready *regexp.Regexp) (*daemon, error) {
	return b.serveIn(ctx, in.home, in.config, ready)
}

// listing is a complete list of tools as received by a client.
type listing struct {
	at    time.Time // when the client had received it
	bytes int
}

// list requests the tools as a new client, and checks that all are there.
func (in *installation) list(ctx context.Context, at endpoint) (l listing, err error) {
	c, err := dialHTTP(ctx, at, legacy)
	if err != nil {
		return l, err
	}
	c.prepare(request{method: "tools/list"})
	msg, err := c.call()
	l = listing{time.Now(), len(msg)}
	if err == nil {
		err = in.complete(msg)
	}
	if cerr := c.close(); err == nil {
		err = cerr
	}
	return l, err
}

// complete checks the number of tools in an answer.
func (in *installation) complete(msg []byte) error {
	if n := bytes.Count(msg, []byte(`"inputSchema":`)); n != in.tools {
		return fmt.Errorf("tools/list has %d tools of %d", n, in.tools)
	}
	return nil
}

// idle checks that the gateway has started no process.
func idle(d *daemon) error {
	kids, err := children(d.cmd.Process.Pid)
	if err == nil && len(kids) > 0 {
		err = fmt.Errorf("%d child processes where there should be none", len(kids))
	}
	return err
}

// warmStart measures how soon all tools are listed, by a gateway that knows none of them and by one that has
// them in its cache.
func (b *bench) warmStart(ctx context.Context) error {
	in, err := b.install(b.plan.warmServers, b.plan.tools, b.plan.boot)
	if err != nil {
		return err
	}
	cold, size, err := b.coldStarts(ctx, in)
	if err != nil {
		return fmt.Errorf("cold: %w", err)
	}
	who := fmt.Sprintf(", %d servers that need %v each", in.servers, b.plan.boot)
	var warm, listening, first, rss []float64
	for range b.plan.starts {
		d, err := b.start(ctx, in, collieListens)
		if err != nil {
			return err
		}
		listening = append(listening, micros(d.ready)/1000)
		begun := time.Now()
		l, err := in.list(ctx, d.endpoint)
		warm = append(warm, micros(l.at.Sub(d.begun))/1000)
		first = append(first, micros(l.at.Sub(begun))/1000)
		if err == nil {
			err = idle(d)
		}
		if err == nil && len(rss) < b.plan.rounds {
			if err = pause(ctx, b.plan.pause); err == nil {
				err = idle(d) // nor has it been started since
			}
			if v, merr := memory(d.cmd.Process.Pid, "VmRSS"); merr == nil {
				rss = append(rss, v)
			}
		}
		_ = d.stop()
		if err != nil {
			return fmt.Errorf("warm: %w", err)
		}
	}
	floor, err := b.bareStarts(ctx, size)
	if err != nil {
		return err
	}
	b.add("start to all listed, from the cache"+who, milliseconds, warm, atMost(22))
	b.add("p90 of the starts from the cache", milliseconds, []float64{nearestRank(warm, 90)}, bound{})
	b.add("of such a start until it listens", milliseconds, listening, bound{})
	b.add("of such a start for the client's handshake and list", milliseconds, first, bound{})
	b.add("a bare HTTP server, start to an answer of that size", milliseconds, floor, bound{})
	b.add("start to all listed, without cache"+who, milliseconds, cold, bound{})
	b.add("start without cache ÷ what one server needs", ratio, combineRounds(cold, repeat(micros(b.plan.boot)/1000, len(cold)), div), atMost(2))
	b.add(fmt.Sprintf("RSS at rest, %d servers in the cache", in.servers), mebibytes, rss, atMost(30))
	return nil
}

// coldStarts measures starts in homes without a cache, the last one in in.
func (b *bench) coldStarts(ctx context.Context, in *installation) (took []float64, size int, err error) {
	for left := b.plan.rounds; left > 0; left-- {
		where := in
		if left > 1 {
			if where, err = b.install(in.servers, in.tools/in.servers, b.plan.boot); err != nil {
				return nil, 0, err
			}
		}
		d, err := b.start(ctx, where, collieReady)
		if err != nil {
			return nil, 0, err
		}
		l, err := where.list(ctx, d.endpoint)
		took, size = append(took, micros(l.at.Sub(d.begun))/1000), l.bytes
		_ = d.stop()
		if err != nil {
			return nil, 0, err
		}
	}
	return took, size, nil
}

// bareStarts measures the baseline: a program that only answers.
func (b *bench) bareStarts(ctx context.Context, size int) (took []float64, err error) {
	for range b.plan.starts {
		d, err := startDaemon(ctx, serverReady, b.bare, "-bytes", fmt.Sprint(size))
		if err != nil {
			return nil, err
		}
		c, err := dialHTTP(ctx, d.endpoint, modern)
		if err == nil {
			c.prepare(request{method: "tools/list"})
			_, err = c.call()
			took = append(took, micros(time.Since(d.begun))/1000)
			_ = c.close()
		}
		_ = d.stop()
		if err != nil {
			return nil, err
		}
	}
	return took, nil
}

// fill starts a gateway once, so that its cache has all servers.
func (b *bench) fill(ctx context.Context, in *installation) error {
	d, err := b.start(ctx, in, collieReady)
	if err != nil {
		return err
	}
	_, err = in.list(ctx, d.endpoint)
	_ = d.stop()
	return err
}

// many measures the cost of many unused servers.
func (b *bench) many(ctx context.Context) error {
	in, err := b.install(b.plan.many, b.plan.tools, 0)
	if err == nil {
		err = b.fill(ctx, in)
	}
	if err != nil {
		return err
	}
	var rss []float64
	for range b.plan.rounds {
		d, err := b.start(ctx, in, collieListens)
		if err != nil {
			return err
		}
		if err = pause(ctx, b.plan.pause); err == nil {
			err = idle(d)
		}
		if v, merr := memory(d.cmd.Process.Pid, "VmRSS"); merr == nil {
			rss = append(rss, v)
		}
		_ = d.stop()
		if err != nil {
			return err
		}
	}
	b.add(fmt.Sprintf("RSS at rest, %d servers in the cache", in.servers), mebibytes, rss, atMost(60e6/(1<<20)))
	return nil
}

// longList measures a very long list of tools.
func (b *bench) longList(ctx context.Context) error {
	in, err := b.install(b.plan.warmServers, b.plan.longList/b.plan.warmServers, 0)
	if err == nil {
		err = b.fill(ctx, in)
	}
	if err != nil {
		return err
	}
	d, err := b.start(ctx, in, collieListens)
	if err != nil {
		return err
	}
	defer d.stop() //nolint:errcheck // it returns nil
	c, err := dialHTTP(ctx, d.endpoint, legacy)
	if err != nil {
		return err
	}
	defer c.close()
	c.prepare(request{method: "tools/list"})
	var p50, p99 []float64
	for range b.plan.rounds {
		took := make([]time.Duration, b.plan.lists)
		for i := range took {
			begun := time.Now()
			msg, err := c.call()
			took[i] = time.Since(begun)
			if err == nil {
				err = in.complete(msg)
			}
			if err != nil {
				return err
			}
		}
		p50 = append(p50, micros(percentile(took, 50))/1000)
		p99 = append(p99, micros(percentile(took, 99))/1000)
	}
	b.add(fmt.Sprintf("p99 of tools/list of %d tools", in.tools), milliseconds, p99, atMost(5))
	b.add(fmt.Sprintf("p50 of tools/list of %d tools", in.tools), milliseconds, p50, bound{})
	return nil
}
