package mcp

import (
	"fmt"
	"testing"
	"time"
)

// Streams that wait for clients who lost them are bounded in number, bytes and time; those
// that still go on are not touched, and the newest is kept whatever its size.
func TestSessionPrunesKeptStreams(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tc := range []struct {
		name         string
		streams      int
		bytes        int
		apart        time.Duration // between their ends; the newest has just ended
		want, oldest int
	}{
		{"few", 10, 100, time.Second, 10, 0},
		{"many", 200, 100, time.Millisecond, maxKept, 200 - maxKept},
		{"large", 20, 1 << 20, time.Millisecond, maxKeptBytes >> 20, 20 - maxKeptBytes>>20},
		{"one_huge", 1, 2 * maxKeptBytes, 0, 1, 0},
		{"old", 10, 100, keepStream / 4, 5, 5},
	} {
		s := newSession("")
		s.streams["s"] = newEvents("s")
		s.streams["running"] = newEvents("running")
		for n := range tc.streams {
			e := newEvents(fmt.Sprint(n))
			e.add(make([]byte, tc.bytes))
			e.end()
			e.used = now.Add(-time.Duration(tc.streams-1-n) * tc.apart)
			s.streams[e.id] = e
		}
		s.prune(now)
		if got := len(s.streams) - 2; got != tc.want {
			t.Errorf("%s: %d streams are kept, want %d", tc.name, got, tc.want)
		}
		for _, name := range []string{"s", "running", fmt.Sprint(tc.oldest), fmt.Sprint(tc.streams - 1)} {
			if s.streams[name] == nil {
				t.Errorf("%s: stream %s is gone", tc.name, name)
			}
		}
	}
}
