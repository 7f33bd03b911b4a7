package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/upstream/listing"
	"collie/internal/tool"
	"collie/test/await"
)

// A call during a stop is refused at once, instead of looking for another connection in a loop.
func TestNoNewCallsWhileStopping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		set := newPlayedSet(t, m, Options{Drain: 5 * time.Second}, newSpec(t, "m", fmt.Sprintf(plain, "")))
		s := set.servers[0]
		m.ignoresCalls.Store(true)
		var calls sync.WaitGroup
		calls.Go(func() {
			err := callEchoTool(s)
			if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != tool.Canceled || !e.OutcomeUnknown {
				t.Errorf("the call in flight: %v, want canceled with an unknown outcome", err)
			}
		})
		synctest.Wait()
		begun := time.Now()
		calls.Go(func() { set.Close(context.Background()) })
		synctest.Wait()
		if err := callEchoTool(s); tool.KindOf(err) != tool.Unavailable || time.Since(begun) > 0 {
			t.Errorf("a call while the server stops: %v after %v", err, time.Since(begun))
		}
		calls.Wait()
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("the stop took %v, want the 5 s of the drain", took)
		}
	})
}

// The connections of one server are drained at the same time.
func TestDrainOfSeveralConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		set := newPlayedSet(t, m, Options{Drain: 5 * time.Second}, newSpec(t, "m", fmt.Sprintf(plain, `,"isolation":"session"`)))
		m.ignoresCalls.Store(true)
		var calls sync.WaitGroup
		for i := range 4 {
			calls.Go(func() { _ = callEchoIn(set.servers[0], fmt.Sprint(i)) })
		}
		synctest.Wait()
		begun := time.Now()
		set.Close(context.Background())
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("four connections took %v to stop, want 5 s", took)
		}
		calls.Wait()
	})
}

// A person's stop takes effect in every state: a start in progress is canceled and a planned one is dropped.
func TestStopHoldsInEveryState(t *testing.T) {
	t.Parallel()
	for name, get := range map[string]func(*testing.T, *fakeServer, *Server){
		"starting": func(t *testing.T, m *fakeServer, s *Server) {
			m.hold = make(chan struct{})
			go func() { _ = callEchoTool(s) }()
		},
		"ready": func(t *testing.T, _ *fakeServer, s *Server) {
			if err := callEchoTool(s); err != nil {
				t.Fatal(err)
			}
		},
		"backoff": func(t *testing.T, m *fakeServer, s *Server) {
			if err := callEchoTool(s); err != nil {
				t.Fatal(err)
			}
			m.refuse.Store(true)
			m.crash()
		},
		"open": func(_ *testing.T, m *fakeServer, s *Server) {
			m.refuse.Store(true)
			for range 5 {
				_ = callEchoTool(s)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"lifecycle":"keepalive"`))
				defer done()
				get(t, m, s)
				synctest.Wait()
				if st := s.Status(); string(st.State) != name {
					t.Fatalf("it is %s, want %s", st.State, name)
				}
				s.Stop(t.Context())
				before := m.starts.Load()
				await.Sleep(time.Hour)
				synctest.Wait()
				st := s.Status()
				if st.State != tool.StateIdle || st.Reason != "user_stop" || st.NextRetry != nil || m.starts.Load() != before {
					t.Errorf("an hour after the stop it is %s (%s), next retry %v, %d more starts",
						st.State, st.Reason, st.NextRetry, m.starts.Load()-before)
				}
				m.refuse.Store(false)
				if m.hold != nil {
					close(m.hold)
				}
				if err := s.Start(t.Context()); err != nil {
					t.Errorf("started again: %v", err)
				}
			})
		})
	}
}

// The new state is visible at once: a status right after the first call shows the start, and no retry time of the
// past.
func TestStartingIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		m.refuse.Store(true)
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, `,"lifecycle":"lazy"`))
		defer done()
		s.listing.Publish(&listing.Lists{}, tool.FreshHit, "")
		_ = callEchoTool(s)
		m.hold = make(chan struct{})
		defer close(m.hold)
		go func() { _ = callEchoTool(s) }()
		synctest.Wait()
		if st := s.Status(); st.State != tool.StateStarting || st.NextRetry != nil || st.Reason != "" {
			t.Errorf("it is %s (%s), next retry %v", st.State, st.Reason, st.NextRetry)
		}
	})
}

// Simultaneous stops, calls and crashes leave a true state.
func TestStateAfterACrowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, ""))
		defer done()
		if err := callEchoTool(s); err != nil {
			t.Fatal(err)
		}
		var crowd sync.WaitGroup
		for i := range 200 {
			crowd.Go(func() {
				switch i % 4 {
				case 0:
					_ = s.Restart(t.Context())
				case 1:
					s.Stop(t.Context())
				case 2:
					m.crash()
				case 3:
					_ = callEchoTool(s)
				}
			})
		}
		crowd.Wait()
		synctest.Wait()
		checkState(t, s, []string{"crowd"})
	})
}
