package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/upstream/entry"
	"collie/internal/source/upstream/listing"
	"collie/internal/source/upstream/toolcache"
	"collie/internal/tool"
	"collie/test/await"
)

// newCacheEntry returns a cache entry for spec's server, with one tool.
func newCacheEntry(t *testing.T, spec Spec, o Options, name string) *toolcache.Entry {
	t.Helper()
	return &toolcache.Entry{
		Tools:      []json.RawMessage{json.RawMessage(`{"name":"` + name + `","inputSchema":{"type":"object"}}`)},
		ConfigHash: spec.Entry.ConfigHash(o.Key), ServerConfig: json.RawMessage(`{}`),
		Fingerprint: spec.Entry.Fingerprint(nil, entry.EnvironmentOptions{}),
		Era:         "legacy", ProtocolVersion: "2025-11-25", Transport: "stdio",
		Capabilities: json.RawMessage(`{"tools":{}}`),
	}
}

// Which servers start together with the gateway depends on their settings and on what the cache knows of their lists.
func TestWhatStartsWithTheGateway(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, test := range []struct {
		name    string
		policy  Policy
		setting string
		age     time.Duration // of the stored lists; 0 stores none
		print   string        // replaces the fingerprint of the stored entry
		starts  int64
		tools   int
		fresh   tool.Freshness // without a start
	}{
		{name: "nothing is known", starts: 1, tools: 1},
		{name: "lazy, nothing is known", setting: `,"lifecycle":"lazy"`, starts: 1, tools: 1},
		{name: "lazy, nothing is known, no warm-up", setting: `,"lifecycle":"lazy"`, policy: Policy{Warmup: "off"}},
		{name: "no warm-up", policy: Policy{Warmup: "off"}, starts: 1, tools: 1},
		{name: "hit", age: time.Hour, tools: 1, fresh: tool.FreshHit},
		{name: "hit, eager", setting: `,"lifecycle":"eager"`, age: time.Hour, starts: 1, tools: 1},
		{name: "hit, keepalive", setting: `,"lifecycle":"keepalive"`, age: time.Hour, starts: 1, tools: 1},
		{name: "hit, all are warmed", policy: Policy{Warmup: "all"}, age: time.Hour, starts: 1, tools: 1},
		{name: "stale", age: 2 * day, tools: 1, fresh: tool.FreshStale},
		{name: "stale, refreshed at the start", policy: Policy{RefreshStale: "start"}, age: 2 * day, starts: 1, tools: 1},
		{name: "stale, stale ones are warmed", policy: Policy{Warmup: "stale"}, age: 2 * day, starts: 1, tools: 1},
		{name: "built anew", print: "other", age: time.Hour, starts: 1, tools: 1},
		{name: "built anew, lazy", print: "other", setting: `,"lifecycle":"lazy"`, age: time.Hour, tools: 1, fresh: tool.FreshStale},
		{name: "expired", age: 40 * day, starts: 1, tools: 1},
		{name: "not kept", setting: `,"cache":{"enabled":false}`, age: time.Hour, starts: 1, tools: 1},
		{name: "disabled", setting: `,"disabled":true`, age: time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				spec := newSpec(t, "m", fmt.Sprintf(plain, test.setting))
				o := Options{Key: make([]byte, 32), Policy: test.policy}
				begun := time.Now()
				o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key, Now: func() time.Time {
					if time.Since(begun) == 0 { // while it is stored
						return begun.Add(-test.age)
					}
					return time.Now()
				}})
				defer o.Cache.Close()
				if test.age > 0 {
					e := newCacheEntry(t, spec, o, "echo")
					if test.print != "" {
						e.Fingerprint = test.print
					}
					o.Cache.Store("m", e)
				}
				await.Sleep(time.Millisecond)
				set := newPlayedSet(t, m, o, spec)
				defer set.Close(context.Background())
				set.Start(nil)
				<-set.Started()
				synctest.Wait()
				st := set.servers[0].Status()
				if m.starts.Load() != test.starts || st.Tools != test.tools {
					t.Errorf("%d starts and %d tools, want %d and %d", m.starts.Load(), st.Tools, test.starts, test.tools)
				}
				if test.starts == 0 && st.Freshness != test.fresh {
					t.Errorf("the list is %q, want %q", st.Freshness, test.fresh)
				}
				select {
				case <-set.servers[0].Started():
				default:
					t.Error("it counts as starting for ever")
				}
			})
		})
	}
}

// A command that does not run a whole gateway starts only the servers that it needs and whose tools are unknown.
func TestWhatStartsForACommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		set := newPlayedSet(t, m, Options{}, newSpec(t, "a", fmt.Sprintf(plain, "")), newSpec(t, "b", fmt.Sprintf(plain, `,"lifecycle":"keepalive"`)))
		defer set.Close(context.Background())
		set.Start([]string{"a"})
		<-set.Started()
		if a, b := set.servers[0].Status(), set.servers[1].Status(); a.State != tool.StateReady || b.State != tool.StateIdle {
			t.Errorf("they are %s and %s", a.State, b.State)
		}
	})
}

// A list stored by another gateway does not replace a newer one that the server itself gave.
func TestAnOlderListIsNotAdopted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		late := time.Duration(0)
		spec := newSpec(t, "m", fmt.Sprintf(plain, ""))
		o := Options{Key: make([]byte, 32)}
		o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key, Now: func() time.Time { return time.Now().Add(-late) }})
		defer o.Cache.Close()
		set := newPlayedSet(t, m, o, spec)
		defer set.Close(context.Background())
		set.Start(nil)
		<-set.Started()
		synctest.Wait() // lists after the first ones are stored by then
		s := set.servers[0]
		offers := func() string { return s.Offer().Tools[0].Actions[0].Name }
		o.Cache.Store("m", newCacheEntry(t, spec, o, "theirs"))
		set.adoptLearned("m")
		if got := offers(); got != "echo" {
			t.Errorf("while it runs it offers %s", got)
		}
		s.Stop(t.Context())
		late = time.Hour
		o.Cache.Store("m", newCacheEntry(t, spec, o, "older"))
		set.adoptLearned("m")
		if got := offers(); got != "echo" {
			t.Errorf("of an older list it took %s", got)
		}
		late = -time.Minute
		o.Cache.Store("m", newCacheEntry(t, spec, o, "newer"))
		set.adoptLearned("m")
		if got := offers(); got != "newer" {
			t.Errorf("of a newer list it took nothing: %s", got)
		}
	})
}

// A list that could not be fetched stays as stale as it was, even if other lists were fetched.
func TestAFailedRefreshConfirmsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		spec := newSpec(t, "m", fmt.Sprintf(plain, `,"lifecycle":"keepalive"`))
		o := Options{Key: make([]byte, 32)}
		o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key})
		defer o.Cache.Close()
		set := newPlayedSet(t, m, o, spec)
		defer set.Close(context.Background())
		set.Start(nil)
		<-set.Started()
		s, begun := set.servers[0], time.Now()
		await.Sleep(2 * time.Hour)
		m.mu.Lock()
		m.brokenMethod = "tools/list"
		m.mu.Unlock()
		if err := s.Refresh(t.Context()); tool.KindOf(err) != tool.Upstream {
			t.Errorf("a refresh that failed: %v", err)
		}
		e, _, _ := o.Cache.Lookup(*s.listing.Want())
		if st := s.Status(); !st.Validated.Equal(begun) || st.Tools != 1 || !e.ValidatedAt.Equal(begun) || e.LastErrorCode != "list_failed" {
			t.Errorf("confirmed %v here and %v in the cache, want %v; %d tools; error %q",
				st.Validated, e.ValidatedAt, begun, st.Tools, e.LastErrorCode)
		}
		m.mu.Lock()
		m.brokenMethod = "resources/list"
		m.mu.Unlock()
		_ = s.Refresh(t.Context())
		if st := s.Status(); st.Validated.Equal(begun) {
			t.Error("the tools were told again, which does not count because the resources were not")
		}
	})
}

// Stopping a server during its start does not count as a failure.
func TestAStopIsNoFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		spec := newSpec(t, "m", fmt.Sprintf(plain, `,"lifecycle":"eager"`))
		o := Options{Key: make([]byte, 32)}
		o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key})
		defer o.Cache.Close()
		o.Cache.Store("m", newCacheEntry(t, spec, o, "echo"))
		m.hold = make(chan struct{})
		set := newPlayedSet(t, m, o, spec)
		set.Start(nil)
		synctest.Wait()
		w := set.servers[0].listing.Want()
		set.Close(context.Background())
		if e, _, _ := o.Cache.Lookup(*w); e.LastErrorCode != "" {
			t.Errorf("the cache has the error %q", e.LastErrorCode)
		}
	})
}

// A changed list is announced once; an unchanged one is not announced.
func TestChangesAreToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeServer{}
		s, done := newPlayedServer(t, m, fmt.Sprintf(plain, ""))
		defer done()
		var told []tool.ChangeKind
		defer s.Watch(func(ch tool.Change) { told = append(told, ch.Kind) })()
		expect := func(what string, want int) {
			t.Helper()
			synctest.Wait()
			if len(told) != want {
				t.Errorf("%s: told %v, want %d changes", what, told, want)
			}
			told = nil
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect("the first list", 2) // of tools, and that resources can be read now
		for range 3 {
			if err := s.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expect("the same list", 0)
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect("a restart", 0)
		m.crash()
		await.Sleep(time.Minute)
		expect("a crash and a restart", 0)
		s.listing.Republish()
		expect("settings that change nothing", 0)
		m.mu.Lock()
		m.tool = "other"
		m.mu.Unlock()
		for range 5 {
			s.listing.Ask(tool.ToolsChanged)
		}
		await.Sleep(time.Second)
		expect("another list", 1)
	})
}

// Lists are refreshed periodically: ever less often for a server that fails, and never for one that waits for a
// person.
func TestRefreshOften(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do          func(*fakeServer)
		policy      Policy
		stopped     bool  // a person stops it
		least, most int64 // starts within two days
	}{
		"well":              {policy: Policy{RefreshStarts: true}, least: 38, most: 62},
		"not to be started": {},
		"stopped":           {policy: Policy{RefreshStarts: true}, stopped: true, least: 1, most: 1},
		"fails":             {do: func(m *fakeServer) { m.refuse.Store(true) }, policy: Policy{RefreshStarts: true}, least: 5, most: 13},
		"needs a person":    {do: func(m *fakeServer) { m.missing.Store(true) }, policy: Policy{RefreshStarts: true}, least: 1, most: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeServer{}
				if test.do != nil {
					test.do(m)
				}
				spec := newSpec(t, "m", fmt.Sprintf(plain, ""))
				test.policy.RefreshEvery = time.Hour
				o := Options{Key: make([]byte, 32), Policy: test.policy}
				o.Cache = toolcache.Open(t.Context(), toolcache.Options{Key: o.Key})
				defer o.Cache.Close()
				o.Cache.Store("m", newCacheEntry(t, spec, o, "echo"))
				set := newPlayedSet(t, m, o, spec)
				defer set.Close(context.Background())
				set.Start(nil)
				if test.stopped {
					if err := set.servers[0].Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					set.servers[0].Stop(t.Context())
				}
				await.Sleep(48 * time.Hour)
				synctest.Wait()
				if n := m.starts.Load(); n < test.least || n > test.most {
					t.Errorf("%d starts in two days, want %d to %d", n, test.least, test.most)
				}
			})
		})
	}
}

// isLive is true at every moment while a start becomes a connection. Otherwise clearing the cache would remove tools
// that the server has just listed.
func TestAStartThatEndsIsLive(t *testing.T) {
	t.Parallel()
	set := NewSet([]Spec{newSpec(t, "m", fmt.Sprintf(plain, ""))}, Options{})
	defer set.Close(context.Background())
	s := set.servers[0]
	p := s.pool.lock()
	p.opening[slot{}] = &opening{}
	live := make(chan bool)
	go func() { live <- s.isLive() }()
	stacks := make([]byte, 8<<20)
	waits := func() bool { // for the pool
		for one := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(one, "TestAStartThatEndsIsLive.func") && strings.Contains(one, "sync.(*Mutex).Lock") {
				return true
			}
		}
		return false
	}
	for !waits() {
		runtime.Gosched()
	}
	f := listing.NewFeed(nil, false, nil, nil)
	delete(p.opening, slot{})
	s.listing.Adopt(f)
	s.listing.MarkLive(f)
	s.pool.unlock()
	if !<-live {
		t.Error("a server that has just been started is not live")
	}
	s.listing.Drop(f)
}
