//go:build stories && linux

package pressure_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"collie/test/gateway"
)

// peak returns the highest resident memory of a process so far, in MiB.
func peak(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
			if err != nil {
				t.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	t.Fatal("no VmHWM")
	return 0
}

// median sorts the durations and returns the one in the middle.
func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// echo makes calls in a session, one after the other, until stop returns true, and returns how long each one took.
func echo(t *testing.T, s *webSession, stop func(n int) bool) (took []time.Duration) {
	t.Helper()
	for n := 0; !stop(n); n++ {
		begun := time.Now()
		resp, err := s.send(t.Context(), http.MethodPost, callRequest(n+1, "echo", `{"text":"a"}`))
		if err == nil {
			err = s.drain(resp)
		}
		if err != nil {
			t.Error(err)
			return took
		}
		took = append(took, time.Since(begun))
	}
	return took
}

// Many open sessions with large answers use only a bounded amount of memory. Another client of the same server waits
// for the answers that precede its own in the server's pipe, and no longer.
func TestManySessionsWithLargeAnswers(t *testing.T) {
	const (
		sessions, abreast = 150, 8
		size              = 10 << 20
		// In MiB, the worst case: 80 being read by clients, 64 kept for clients that come back (http.resumeBytes), 20 to
		// assemble a line, 16 in analytics, and the program itself. The usual figure is 125. All answers together have
		// 1,500.
		bound = 200
	)
	p := gateway.LinkPrograms(t)
	g := p.Serve(t, p.Settings(t, fakeServer()))
	g.AwaitReady(t)
	other := openWebSession(t, g)
	echo(t, other, func(n int) bool { return n == 200 }) // before measuring
	idle := median(echo(t, other, func(n int) bool { return n == 1000 }))

	open := make([]*webSession, sessions)
	for n := range open {
		open[n] = openWebSession(t, g)
	}
	turns := make(chan struct{}, abreast)
	var wg sync.WaitGroup
	whole, took := make([]bool, sessions), make([]time.Duration, sessions)
	for n, s := range open {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			begun := time.Now()
			resp, err := s.send(t.Context(), http.MethodPost, callRequest(1, "big", fmt.Sprintf(`{"bytes":%d,"ms":80}`, size)))
			if err == nil {
				err = s.read(resp, pace{}, func(m []byte) bool {
					whole[n] = len(m) > size
					if !whole[n] {
						t.Logf("in place of an answer: %.300s", m)
					}
					return false
				})
			}
			if err != nil {
				t.Error(err)
			}
			took[n] = time.Since(begun)
		})
	}
	done := make(chan struct{})
	go func() { // ends with the readers
		wg.Wait()
		close(done)
	}()
	calls := echo(t, other, func(int) bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	got := 0
	for _, ok := range whole {
		if ok {
			got++
		}
	}
	most, large, busy := peak(t, g.PID()), median(took), median(calls)
	slowest, longest := took[len(took)-1], calls[len(calls)-1]
	t.Logf("%d of %d answers of 10 MB, %d at a time, in %v each, %v at most: peak of memory %.0f MiB; another client's p50 %v, longest %v, p50 idle %v",
		got, sessions, abreast, large, slowest, most, busy, longest, idle)
	if got != sessions {
		t.Errorf("%d of %d answers arrived", got, sessions)
	}
	if most > bound {
		t.Errorf("%.0f MiB of memory, at most %d are allowed", most, bound)
	}
	// On a busy machine both are slower. If the answers waited for each other's clients, this would be a minute.
	if longest > 5*slowest {
		t.Errorf("another client's call took %v, and the slowest large answer %v", longest, slowest)
	}
}
