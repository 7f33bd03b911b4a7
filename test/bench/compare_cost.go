package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The ways to measure the cost of a call.
const (
	byInstructions = "user instructions"
	byTime         = "processor time" // user and system
)

func unitOf(counter string) string {
	if counter == byInstructions {
		return ""
	}
	return "µs"
}

func limitOf(counter string) string {
	if counter == byInstructions {
		return dearest
	}
	return dearer
}

// counter measures what a process uses.
type counter interface {
	// stop ends the measurement and returns instructions or microseconds.
	stop() (float64, error)
}

// counterHere returns [byInstructions] if perf can count them on this machine, else [byTime].
func counterHere(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "perf", "stat", "-x", ",", "-e", "instructions:u", "true").CombinedOutput()
	if err != nil {
		return byTime
	}
	if _, err := parseInstructions(string(out)); err != nil {
		return byTime
	}
	return byInstructions
}

// parseInstructions parses the output of `perf stat -x ,`, such as "123456,,instructions:u,…".
func parseInstructions(out string) (float64, error) {
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) < 3 || !strings.HasPrefix(fields[2], "instructions") {
			continue
		}
		n, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return 0, fmt.Errorf("perf stat: %q", strings.TrimSpace(line))
		}
		return n, nil
	}
	return 0, fmt.Errorf("perf stat: no instructions in %q", out)
}

// startCounter starts to measure what a process uses, in the way that was chosen for this machine.
func (c *comparison) startCounter(ctx context.Context, pid int) (counter, error) {
	if c.counter == byInstructions {
		return startPerf(ctx, pid)
	}
	begun, err := runTime(pid)
	return &timeCounter{pid, begun}, err
}

// timeCounter measures processor time.
type timeCounter struct {
	pid   int
	begun time.Duration
}

func (c *timeCounter) stop() (float64, error) {
	now, err := runTime(c.pid)
	return micros(now - c.begun), err
}

// runTime returns how long the threads of a process have run: to the nanosecond if the kernel reports it,
// else in ticks. No time is lost with ended threads, because the Go runtime keeps its threads.
func runTime(pid int) (total time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return cpuTime(pid)
	}
	for _, file := range threads {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		ran, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		total += time.Duration(n)
	}
	if total == 0 {
		return cpuTime(pid)
	}
	return total, nil
}

// perfCounter is a running perf stat.
type perfCounter struct {
	cmd *exec.Cmd
	out strings.Builder
}

// startPerf returns once perf is counting.
func startPerf(ctx context.Context, pid int) (*perfCounter, error) {
	p := &perfCounter{cmd: exec.CommandContext(ctx, "perf", "stat", "-x", ",", "-e", "instructions:u", "-p", strconv.Itoa(pid))}
	p.cmd.Stderr = &p.out
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for begun := time.Now(); time.Since(begun) < startLimit; {
		open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
		if err != nil {
			return nil, err
		}
		for _, fd := range open {
			if to, err := os.Readlink(fd); err == nil && strings.Contains(to, "perf_event") {
				return p, pause(ctx, 20*time.Millisecond) // for the counters of the other threads
			}
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return nil, err
		}
	}
	_, err := p.stop()
	return nil, errors.Join(fmt.Errorf("perf stat did not count within %v", startLimit), err)
}

func (p *perfCounter) stop() (float64, error) {
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait() // it ends by the signal
	return parseInstructions(p.out.String())
}
