package pressure_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"collie/test/gateway"
)

// fakeServer returns the settings of one fakemcp over stdio.
func fakeServer(flags ...string) []gateway.Server { return []gateway.Server{{Name: "f", Flags: flags}} }

// checkSlowAnswers has a client read count answers of 2 MB at a pace, over stdio, the bridge or HTTP, and checks that none
// is lost.
func checkSlowAnswers(t *testing.T, way string, at pace, count int) {
	const size = 2 << 20
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, fakeServer())
	var requests []string
	for n := range count {
		requests = append(requests, callRequest(n+1, "big", fmt.Sprintf(`{"bytes":%d}`, size)))
	}
	begun := time.Now()
	h := &received{results: map[int64]int{}}
	switch way {
	case "stdio":
		h = exchangeOverPipes(t, p, t.TempDir(), settings, true, at, 0, requests...)
	case "bridge":
		g := p.Serve(t, settings)
		g.AwaitReady(t)
		h = exchangeOverPipes(t, p, g.Home, settings, false, at, 0, requests...)
	case "http":
		g := p.Serve(t, settings)
		g.AwaitReady(t)
		h = exchangeOverHTTP(t, openWebSession(t, g), at, requests)
	}
	whole := 0
	for _, n := range h.results {
		if n > size {
			whole++
		}
	}
	t.Logf("%s, %s: %d of %d answers of 2 MB in %.1f s", way, at.name, whole, count, time.Since(begun).Seconds())
	if whole != count {
		t.Errorf("%d of %d answers arrived, and %d errors: %.3q", whole, count, len(h.errors), h.errors)
	}
}

// exchangeOverHTTP sends the requests at the same time; their answers share the rate of the pace.
func exchangeOverHTTP(t *testing.T, s *webSession, at pace, requests []string) *received {
	t.Helper()
	if at.rate > 0 {
		at.rate = max(at.rate/len(requests), 1)
	}
	h := &received{results: map[int64]int{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, text := range requests {
		wg.Go(func() {
			resp, err := s.send(t.Context(), http.MethodPost, text)
			if err == nil {
				err = s.read(resp, at, func(m []byte) bool {
					mu.Lock()
					defer mu.Unlock()
					h.read(m)
					return false
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return h
}

// checkSlowLogs has a client read the log messages of one call at a pace, over stdio, the bridge or HTTP, and checks that
// none is lost.
func checkSlowLogs(t *testing.T, way string, at pace, count int, flags ...string) {
	p := gateway.LinkPrograms(t)
	settings := p.Settings(t, fakeServer(flags...))
	request := callRequest(1, "log", fmt.Sprintf(`{"count":%d,"text":"a message of some length, as servers write them, with a number of things in it"}`, count))
	begun := time.Now()
	h := &received{results: map[int64]int{}}
	switch way {
	case "stdio":
		h = exchangeOverPipes(t, p, t.TempDir(), settings, true, at, count, request)
	case "bridge":
		g := p.Serve(t, settings)
		g.AwaitReady(t)
		h = exchangeOverPipes(t, p, g.Home, settings, false, at, count, request)
	case "http":
		g := p.Serve(t, settings)
		g.AwaitReady(t)
		h = callWithLogsOverHTTP(t, openWebSession(t, g), at, request, count)
	}
	t.Logf("%s, %s: %d of %d log messages in %.1f s", way, at.name, h.logs, count, time.Since(begun).Seconds())
	if h.logs != count || h.omission != "" || len(h.results) != 1 {
		t.Errorf("%d of %d log messages and %d answers arrived; %s", h.logs, count, len(h.results), h.omission)
	}
}

// callWithLogsOverHTTP makes one call while the GET stream of the session is open, and reads both.
func callWithLogsOverHTTP(t *testing.T, s *webSession, at pace, request string, count int) *received {
	t.Helper()
	h := &received{results: map[int64]int{}}
	var mu sync.Mutex
	own, err := s.send(t.Context(), http.MethodGet, "")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	late := time.AfterFunc(limit, func() { _ = own.Body.Close() })
	defer late.Stop()
	wg.Go(func() {
		if err := s.read(own, at, func(m []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			h.read(m)
			return h.logs >= count || h.omission != ""
		}); err != nil {
			t.Error(err)
		}
	})
	resp, err := s.send(t.Context(), http.MethodPost, request)
	if err == nil {
		err = s.read(resp, pace{}, func(m []byte) bool {
			mu.Lock()
			defer mu.Unlock()
			h.read(m)
			return false
		})
	}
	if err != nil {
		t.Error(err)
	}
	wg.Wait()
	return h
}

// A client that reads slowly gets every answer and every log message. There are enough of them to fill every buffer
// on the way.
func TestSlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"stdio", "bridge", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			checkSlowAnswers(t, way, pace{name: "64 MB/s", rate: 64 << 20}, 50)
			checkSlowLogs(t, way, pace{name: "1 MB/s", rate: 1 << 20}, 3000)
		})
	}
}
