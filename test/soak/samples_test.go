//go:build unix

package soak_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/test/gateway"
)

// sample holds the resource use of the gateway at one moment; 0 for a figure that the system does not report.
type sample struct {
	at                                          time.Duration
	rss, goroutines, descriptors, threads, kids float64
}

// growth is how many times the median of the second window the median of the last one may be. shortGrowth is the same
// for figures that garbage collections move, in windows under a minute, in which there are only one or two
// collections.
const (
	growth      = 1.1
	shortGrowth = 1.35
)

// boundedFigures are the figures of a sample that must not grow.
var boundedFigures = []struct {
	name   string
	uneven bool // moved by garbage collections
	get    func(*sample) float64
}{
	{name: "KiB resident", uneven: true, get: func(s *sample) float64 { return s.rss }},
	{name: "goroutines", get: func(s *sample) float64 { return s.goroutines }},
	{name: "descriptors", get: func(s *sample) float64 { return s.descriptors }},
	{name: "threads", uneven: true, get: func(s *sample) float64 { return s.threads }},
	{name: "processes", get: func(s *sample) float64 { return s.kids }},
}

// sampler takes a sample of the gateway once a second.
type sampler struct {
	g       *gateway.Gateway
	token   string
	mu      sync.Mutex
	samples []sample
}

// takeSamples takes samples until ctx ends.
func (c *sampler) takeSamples(ctx context.Context, t *testing.T) {
	begun := time.Now()
	for pause(ctx, time.Second) {
		pid := c.g.PID()
		s := sample{
			at:  time.Since(begun),
			rss: procStatus(pid, "VmRSS:"), threads: procStatus(pid, "Threads:"), goroutines: c.metric(ctx, "go_goroutines"),
			kids: float64(len(c.g.Running(t))),
		}
		if fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
			s.descriptors = float64(len(fds))
		}
		c.mu.Lock()
		c.samples = append(c.samples, s)
		c.mu.Unlock()
	}
}

// procStatus reads a number from the status file of a process in /proc.
func procStatus(pid int, name string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	v, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0
	}
	return v
}

// metric reads a figure from the /metrics of the gateway.
func (c *sampler) metric(ctx context.Context, name string) float64 {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.g.URL+"/metrics", nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, _ := strconv.ParseFloat(value, 64)
			return v
		}
	}
	return 0
}

// checkGrowth fails the test if the gateway has grown: the medians of the last window are compared
// with those of the second, a window being a minute, or a third of a short run.
func (c *sampler) checkGrowth(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.samples) < 9 { // three a window at least
		t.Fatalf("only %d samples", len(c.samples))
	}
	end := c.samples[len(c.samples)-1].at
	window := min(time.Minute, end/3)
	between := func(from, to time.Duration, get func(*sample) float64) float64 {
		var values []float64
		for i := range c.samples {
			if s := &c.samples[i]; s.at >= from && s.at <= to {
				values = append(values, get(s))
			}
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	for _, w := range boundedFigures {
		second, last := between(window, 2*window, w.get), between(end-window, end, w.get)
		t.Logf("%s: %.0f, later %.0f", w.name, second, last)
		most := growth
		if w.uneven && window < time.Minute {
			most = shortGrowth
		}
		if last > most*second {
			t.Errorf("%.0f %s in the last %v, %.0f in the second: more than %.2f times as many",
				last, w.name, window.Round(time.Second), second, most)
		}
	}
}
