package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

// stopping measures how long Collie takes to stop with servers that exit when their input ends, and checks that no server
// process is left.
func (b *bench) stopping(ctx context.Context) error {
	in, err := b.install(b.plan.stopServers, 1, 0)
	if err != nil {
		return err
	}
	var took []float64
	for range b.plan.rounds {
		home, config, err := b.home(map[string]command{})
		if err != nil {
			return err
		}
		text, err := os.ReadFile(in.config)
		if err == nil {
			err = os.WriteFile(config, text, 0o600)
		}
		if err != nil {
			return err
		}
		d, err := b.serveIn(ctx, home, config, collieReady) // without a cache it starts all
		if err != nil {
			return err
		}
		kids, err := children(d.cmd.Process.Pid)
		if err == nil && len(kids) < b.plan.stopServers {
			err = fmt.Errorf("%d child processes of %d", len(kids), b.plan.stopServers)
		}
		begun := time.Now()
		_ = d.stop()
		took = append(took, micros(time.Since(begun))/1000)
		if i := slices.IndexFunc(kids, alive); err == nil && i >= 0 {
			err = fmt.Errorf("process %d is left", kids[i])
		}
		if err != nil {
			return err
		}
	}
	b.add(fmt.Sprintf("stop with %d servers", b.plan.stopServers), milliseconds, took, atMost(1000))
	return nil
}

// recovery measures how long the next call takes after its server was killed, together with the start and
// first call of that server alone.
func (b *bench) recovery(ctx context.Context) error {
	d, err := b.serveCollie(ctx, map[string]command{"fake": {b.lean.program}, "sdk": {b.sdk.program}})
	if err != nil {
		return err
	}
	defer d.stop() //nolint:errcheck // it returns nil
	c, err := dialHTTP(ctx, d.endpoint, legacy)
	if err != nil {
		return err
	}
	defer c.close()
	var idle, busy []float64
	for range b.plan.kills {
		took, err := b.afterKill(ctx, d, c, false)
		if err != nil {
			return err
		}
		idle = append(idle, took)
		if took, err = b.afterKill(ctx, d, c, true); err != nil {
			return fmt.Errorf("in mid-call: %w", err)
		}
		busy = append(busy, took)
	}
	var floor []float64
	for range b.plan.kills {
		begun := time.Now()
		s, err := startStdio(ctx, b.lean.program)
		if err != nil {
			return err
		}
		s.prepare(callTool("echo", echoArgs))
		_, err = s.call()
		floor = append(floor, micros(time.Since(begun))/1000)
		if cerr := s.close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
	b.add("the next call after SIGKILL of its server", milliseconds, idle, atMost(2000))
	b.add("p90 of the calls after SIGKILL", milliseconds, []float64{nearestRank(idle, 90)}, bound{})
	b.add("the next call after SIGKILL in mid-call", milliseconds, busy, atMost(2000))
	b.add("start of that server alone to its first answer", milliseconds, floor, bound{})
	return nil
}

// afterKill kills the server fake and returns the duration of the next call in ms.
func (b *bench) afterKill(ctx context.Context, d *daemon, c *httpClient, busy bool) (ms float64, err error) {
	c.prepare(callTool("fake__pid", "{}"))
	msg, err := c.call()
	if err != nil {
		return 0, err
	}
	pid, err := textNumber(msg)
	if err != nil {
		return 0, err
	}
	under := make(chan error, 1)
	if busy {
		other, err := dialHTTP(ctx, d.endpoint, legacy)
		if err != nil {
			return 0, err
		}
		defer other.close()
		other.prepare(callTool("fake__hang", "{}"))
		go func() {
			_, err := other.call()
			under <- err
		}()
		if err := pause(ctx, b.plan.pause/10); err != nil { // until the call has arrived
			return 0, err
		}
	}
	if err := end(ctx, pid); err != nil {
		return 0, err
	}
	c.prepare(callTool("fake__echo", echoArgs))
	begun := time.Now()
	if _, err := c.call(); err != nil {
		return 0, err
	}
	ms = micros(time.Since(begun)) / 1000
	if busy {
		select {
		case err := <-under:
			if err == nil {
				return 0, fmt.Errorf("a call was answered although its server was killed")
			}
		case <-time.After(stopLimit):
			return 0, fmt.Errorf("a call waits although its server was killed %v ago", stopLimit)
		}
	}
	return ms, nil
}

// end kills a process and waits until it is gone, because it may still read its input while its threads end.
func end(ctx context.Context, pid int) error {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	for err == nil && alive(pid) {
		err = pause(ctx, 100*time.Microsecond)
	}
	return err
}

// textNumber returns the number in a tool's text.
func textNumber(msg []byte) (int, error) {
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(msg, &m); err != nil {
		return 0, err
	}
	if len(m.Result.Content) != 1 {
		return 0, fmt.Errorf("no text in %.300q", msg)
	}
	return strconv.Atoi(m.Result.Content[0].Text)
}
