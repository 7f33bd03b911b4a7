package upstream

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
	"collie/test/await"
)

// newReloadableSet returns a running set of specs, all played by m, with a cache in memory.
func newReloadableSet(t *testing.T, m *fakeServer, o Options, specs ...Spec) (set *Set, done func()) {
	t.Helper()
	o.Key = make([]byte, 32)
	o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key})
	set = newPlayedSet(t, m, o, specs...)
	set.Start(nil)
	<-set.Started()
	return set, func() {
		set.Close(context.Background())
		if err := o.Cache.Close(); err != nil {
			t.Error(err)
		}
	}
}

// names returns the names of the servers in their order.
func (s *Set) names() (out []string) {
	for _, srv := range s.Servers() {
		out = append(out, srv.Name())
	}
	return out
}

// waitAnHour waits an hour of the bubble's time, enough for anything a reload begins.
func waitAnHour() {
	await.Sleep(time.Hour)
	synctest.Wait()
}

// New servers are added and contacted, removed ones stop when their calls have ended, and the others are not
// disturbed.
func TestApplyAddsAndRemoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		stays, goes := newSpec(t, "stays", fmt.Sprintf(plain, "")), newSpec(t, "goes", fmt.Sprintf(plain, `,"args":["x"]`))
		set, done := newReloadableSet(t, m, Options{Drain: time.Second}, stays, goes)
		defer done()
		was, gone := set.Server("stays"), set.Server("goes")
		m.ignoresCalls.Store(true)
		var calls sync.WaitGroup
		for _, srv := range []*Server{was, gone} {
			calls.Go(func() { _ = callEchoTool(srv) })
		}
		synctest.Wait()
		if !set.Apply([]Spec{stays, newSpec(t, "new", fmt.Sprintf(plain, `,"args":["y"]`))}) {
			t.Error("the servers are other ones, which is not reported")
		}
		await.Sleep(10 * time.Second)
		synctest.Wait()
		if got := set.names(); !slices.Equal(got, []string{"stays", "new"}) || set.Server("stays") != was {
			t.Errorf("servers are %v, the one that stays is the same: %v", got, set.Server("stays") == was)
		}
		if st := gone.Status(); st.State != tool.StateStopped {
			t.Errorf("the one that was taken out is %s", st.State)
		}
		if !was.pool.slots.primary.calls.Busy() {
			t.Error("the call of the one that stays has ended")
		}
		if st := set.Server("new").Status(); st.Tools != 1 || m.starts.Load() != 3 {
			t.Errorf("the new one has %d tools, %d starts", st.Tools, m.starts.Load())
		}
		select {
		case <-set.Server("new").Started():
		default:
			t.Error("the new one counts as starting for ever")
		}
		set.Close(context.Background())
		calls.Wait()
	})
}

// A change of how a server is treated applies without a restart, and filters its list anew. A change of its identity
// replaces it.
func TestApplyChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		now     string
		replace bool
		tools   int // that are on
	}{
		"nothing":   {"", false, 1},
		"filter":    {`,"tools":{"exclude":["echo"]}`, false, 0},
		"limit":     {`,"toolTimeout":"7s"`, false, 1},
		"env":       {`,"env":{"A":"b"}`, true, 1},
		"isolation": {`,"isolation":"session"`, true, 1},
		"questions": {`,"elicitation":"off"`, true, 1}, // what the gateway can do is announced at the start
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				set, done := newReloadableSet(t, m, Options{}, newSpec(t, "m", fmt.Sprintf(plain, "")))
				defer done()
				synctest.Wait() // its answers are stored when all its lists have arrived
				was, starts := set.Server("m"), m.starts.Load()
				if changed := set.Apply([]Spec{newSpec(t, "m", fmt.Sprintf(plain, test.now))}); changed != test.replace {
					t.Errorf("changed is %v", changed)
				}
				synctest.Wait()
				now := set.Server("m")
				if replaced := now != was; replaced != test.replace {
					t.Errorf("replaced is %v", replaced)
				}
				on := 0
				for _, a := range now.Offer().Tools[0].Actions {
					if a.Off == "" {
						on++
					}
				}
				again := int64(0)
				if name == "env" { // isolation is not part of the hash: the list is known
					again = 1
				}
				if on != test.tools || m.starts.Load() != starts+again {
					t.Errorf("%d tools are on, want %d; %d more starts, want %d", on, test.tools, m.starts.Load()-starts, again)
				}
			})
		})
	}
}

// Cached lists follow a server to its new name, and are there at once when a server is switched on: no server is
// contacted.
func TestApplyWithoutContact(t *testing.T) {
	t.Parallel()
	off := func(spec Spec) Spec {
		spec.Entry.Disabled = true
		return spec
	}
	for name, steps := range map[string]func(*testing.T) []Spec{
		"renamed": func(t *testing.T) []Spec {
			t.Helper()
			return []Spec{newSpec(t, "other", fmt.Sprintf(plain, ""))}
		},
		"off and on": func(t *testing.T) []Spec {
			t.Helper()
			return []Spec{off(newSpec(t, "m", fmt.Sprintf(plain, ""))), newSpec(t, "m", fmt.Sprintf(plain, ""))}
		},
		"untrusted and trusted": func(t *testing.T) []Spec {
			t.Helper()
			untrusted := newSpec(t, "m", fmt.Sprintf(plain, ""))
			untrusted.Off = "untrusted"
			return []Spec{untrusted, newSpec(t, "m", fmt.Sprintf(plain, ""))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				set, done := newReloadableSet(t, m, Options{}, newSpec(t, "m", fmt.Sprintf(plain, "")))
				defer done()
				waitAnHour()
				for _, spec := range steps(t) {
					set.Apply([]Spec{spec})
					waitAnHour()
					st := set.Servers()[0].Status()
					if usable := set.Servers()[0].checkUsable() == nil; usable != (st.Tools == 1) || usable != (st.State == tool.StateIdle) {
						t.Errorf("it is %s (%s) with %d tools, usable %v", st.State, st.Reason, st.Tools, usable)
					}
				}
				if n := m.starts.Load(); n != 1 {
					t.Errorf("%d starts, want the first one only", n)
				}
			})
		})
	}
}

// A server starts when its invalid entry is corrected. A server whose entry becomes invalid stops and says what
// is wrong.
func TestApplyMendsAnEntry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		right := newSpec(t, "m", fmt.Sprintf(plain, ""))
		wrong := right
		wrong.Problems = append(slices.Clone(right.Problems), problem("nonsense"))
		set, done := newReloadableSet(t, m, Options{}, wrong)
		defer done()
		if st := set.Servers()[0].Status(); st.State != tool.StateConfigError || st.Detail != "nonsense" || m.starts.Load() != 0 {
			t.Fatalf("a wrong one is %s: %s", st.State, st.Detail)
		}
		set.Apply([]Spec{right})
		synctest.Wait()
		if st := set.Servers()[0].Status(); st.State != tool.StateReady {
			t.Errorf("mended it is %s", st.State)
		}
		set.Apply([]Spec{wrong})
		synctest.Wait()
		if st := set.Servers()[0].Status(); st.State != tool.StateConfigError || st.Tools != 0 {
			t.Errorf("wrong again it is %s with %d tools", st.State, st.Tools)
		}
	})
}

// A server that becomes keepalive starts, unless it was keepalive before and a person has stopped it.
func TestApplyLifecycle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		set, done := newReloadableSet(t, m, Options{}, newSpec(t, "m", fmt.Sprintf(plain, "")))
		defer done()
		waitAnHour()
		s := set.Servers()[0]
		keep := []Spec{newSpec(t, "m", fmt.Sprintf(plain, `,"lifecycle":"keepalive"`))}
		set.Apply(keep)
		waitAnHour()
		if st := s.Status(); st.State != tool.StateReady || st.Lifecycle != "keepalive" {
			t.Errorf("told to run on it is %s (%s)", st.State, st.Lifecycle)
		}
		s.Stop(t.Context())
		set.Apply(keep)
		waitAnHour()
		if st := s.Status(); st.State != tool.StateIdle {
			t.Errorf("stopped by a person, and settings read again, it is %s", st.State)
		}
	})
}

// What has failed is tried at once with other settings: a call is not refused because of failures before, and a server that
// always runs does not wait.
func TestApplyForgives(t *testing.T) {
	t.Parallel()
	for _, lifecycle := range []string{"lazy", "keepalive"} {
		synctest.Test(t, func(t *testing.T) {
			m := &fakeServer{}
			m.refuse.Store(true)
			spec := func(timeout string) Spec {
				return newSpec(t, "m", fmt.Sprintf(plain, `,"startTimeout":"`+timeout+`","lifecycle":"`+lifecycle+`"`))
			}
			set, done := newReloadableSet(t, m, Options{}, spec("3s"))
			defer done()
			srv := set.servers[0]
			for range 9 {
				_, _ = srv.connection(t.Context())
			}
			if st := srv.Status(); st.State != tool.StateOpen {
				t.Fatalf("%s: it is %s", lifecycle, st.State)
			}
			m.refuse.Store(false)
			set.Apply([]Spec{spec("3s")})
			synctest.Wait()
			if st := srv.Status(); st.State != tool.StateOpen {
				t.Fatalf("%s: with the same settings it is %s", lifecycle, st.State)
			}
			set.Apply([]Spec{spec("4s")})
			synctest.Wait()
			if lifecycle == "lazy" {
				if _, err := srv.connection(t.Context()); err != nil {
					t.Error(lifecycle, err)
				}
			}
			if st := set.Servers()[0].Status(); st.State != tool.StateReady {
				t.Errorf("%s: with other settings it is %s: %s", lifecycle, st.State, st.Detail)
			}
		})
	}
}

// A server is pinged as the settings say now.
func TestApplyPings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		spec := func(health string) Spec {
			return newSpec(t, "m", fmt.Sprintf(plain, `,"lifecycle":"keepalive","health":`+health))
		}
		set, done := newReloadableSet(t, m, Options{}, spec(`{"ping":"off"}`))
		defer done()
		m.ignoresPings.Store(true)
		waitAnHour()
		if st := set.Servers()[0].Status(); st.State != tool.StateReady {
			t.Errorf("without pings it is %s", st.State)
		}
		set.Apply([]Spec{spec(`{"ping":"10s","failures":2}`)})
		await.Sleep(noPing + 35*time.Second)
		synctest.Wait()
		if st := set.Servers()[0].Status(); st.State != tool.StateDegraded {
			t.Errorf("with pings it is %s", st.State)
		}
		set.Apply([]Spec{spec(`{"ping":"10s","failures":1}`)})
		await.Sleep(30 * time.Second)
		synctest.Wait()
		if n := m.starts.Load(); n < 2 {
			t.Errorf("with fewer failures allowed it was started %d times", n)
		}
	})
}

// With serveOldOnChange the old list stays published until the new one arrives.
func TestApplyServesTheOldList(t *testing.T) {
	t.Parallel()
	for _, serve := range []bool{false, true} {
		t.Run(fmt.Sprint(serve), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				set, done := newReloadableSet(t, m, Options{Policy: Policy{ServeOldOnChange: serve}}, newSpec(t, "m", fmt.Sprintf(plain, "")))
				defer done()
				m.hold = make(chan struct{})
				set.Apply([]Spec{newSpec(t, "m", fmt.Sprintf(plain, `,"args":["x"]`))})
				synctest.Wait()
				st := set.Servers()[0].Status()
				if serve && (st.Tools != 1 || st.Freshness != tool.FreshStale || st.Why != "config_changed") || !serve && st.Tools != 0 {
					t.Errorf("meanwhile it has %d tools, %s (%s)", st.Tools, st.Freshness, st.Why)
				}
				m.mu.Lock()
				m.tool = "other"
				m.mu.Unlock()
				close(m.hold)
				synctest.Wait()
				if name := set.Servers()[0].Offer().Tools[0].Actions[0].Name; name != "other" {
					t.Errorf("then it offers %s", name)
				}
			})
		})
	}
}

// Subscriptions and log level of a replaced server pass to its successor.
func TestApplyKeepsSubscriptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		set, done := newReloadableSet(t, m, Options{}, newSpec(t, "m", fmt.Sprintf(plain, "")))
		defer done()
		if err := set.Servers()[0].Subscribe(t.Context(), "a://b"); err != nil {
			t.Fatal(err)
		}
		if err := set.Servers()[0].SetLevel(t.Context(), "info"); err != nil {
			t.Fatal(err)
		}
		set.Apply([]Spec{newSpec(t, "m", fmt.Sprintf(plain, `,"args":["x"]`))})
		synctest.Wait()
		now := set.Servers()[0]
		if n := m.subscriptions.Load(); n != 2 || now.wants.currentLevel() != "info" {
			t.Errorf("%d subscriptions, want a second one; level %q", n, now.wants.currentLevel())
		}
		if err := now.Unsubscribe(t.Context(), "a://b"); err != nil || now.wants.hasSubscriptions() {
			t.Errorf("taken back: %v, wanted still: %v", err, now.wants.hasSubscriptions())
		}
	})
}

// Subscriptions outlive a time in which the server is off or its entry is wrong. Nothing is started for them meanwhile.
func TestApplyKeepsSubscriptionsOfAServerThatIsOff(t *testing.T) {
	t.Parallel()
	on := newSpec(t, "m", fmt.Sprintf(plain, ""))
	for name, off := range map[string]Spec{
		"disabled": newSpec(t, "m", fmt.Sprintf(plain, `,"disabled":true`)),
		"wrong":    {Entry: on.Entry, Problems: []entry.Problem{{Severity: entry.SeverityError, Message: "wrong"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				set, done := newReloadableSet(t, m, Options{Policy: Policy{ServeOldOnChange: true}}, on)
				defer done()
				if err := set.Servers()[0].Subscribe(t.Context(), "a://b"); err != nil {
					t.Fatal(err)
				}
				set.Apply([]Spec{off})
				waitAnHour()
				if srv := set.Servers()[0]; srv.checkUsable() == nil || m.starts.Load() != 1 || srv.Status().Tools != 0 {
					t.Errorf("usable: %v, %d starts, %d tools", srv.checkUsable(), m.starts.Load(), srv.Status().Tools)
				}
				set.Apply([]Spec{on})
				synctest.Wait()
				if n := m.subscriptions.Load(); n != 2 {
					t.Errorf("%d subscriptions, want a second one", n)
				}
			})
		})
	}
}

// Reloads during starts, and a close during a start, end cleanly.
func TestApplyWhileStarting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{hold: make(chan struct{})}
		o := Options{Drain: time.Second}
		set := newPlayedSet(t, m, o, newSpec(t, "m", fmt.Sprintf(plain, "")))
		set.Start(nil)
		for i := range 20 {
			set.Apply([]Spec{newSpec(t, "m", fmt.Sprintf(plain, fmt.Sprintf(`,"args":["%d"]`, i)))})
		}
		synctest.Wait()
		last := set.Servers()[0]
		close(m.hold)
		<-set.Started()
		synctest.Wait()
		if st := last.Status(); st.State != tool.StateReady {
			t.Errorf("the last one is %s", st.State)
		}
		m.hold = make(chan struct{})
		set.Apply([]Spec{newSpec(t, "m", fmt.Sprintf(plain, ""))})
		set.Close(context.Background())
		if set.Apply(nil) {
			t.Error("a closed set takes settings over")
		}
		for _, srv := range append(set.Servers(), last) {
			if st := srv.Status(); st.State != tool.StateStopped {
				t.Errorf("after the close one is %s", st.State)
			}
		}
	})
}
