package toolcache_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
)

// sharedKey is the key that all gateways of these tests have.
var sharedKey = bytes.Repeat([]byte{7}, 32)

// openGateway returns a cache with its own file and a shared place.
func openGateway(t *testing.T, shared toolcache.Shared, with ...func(*toolcache.Options)) (*cacheFile, *toolcache.Cache) {
	t.Helper()
	b := newCacheFile(t)
	with = append([]func(*toolcache.Options){func(o *toolcache.Options) {
		o.Shared, o.Key = shared, sharedKey
		toolcache.WithInstance(o, b.path)
	}}, with...)
	return b, b.open(t, with...)
}

// sharedEntries returns the entries in a shared place.
func sharedEntries(t *testing.T, p *memoryPlace) map[string]json.RawMessage {
	t.Helper()
	h := p.Open()
	defer func() { _ = h.Close() }()
	s, err := h.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Entries
}

// A list from the shared place is used like one of our own. Nothing that belongs to one host is shared.
func TestSharedListsAreTakenOver(t *testing.T) {
	t.Parallel()
	var place memoryPlace
	_, one := openGateway(t, place.Open())
	e := newEntry(1, "x", "y")
	e.Fingerprint = "of this host only"
	one.Store("a", e)
	mustFlush(t, one)
	for name, raw := range sharedEntries(t, &place) {
		for _, private := range []string{"of this host only", "npx", "serverConfig\":{\""} {
			if strings.Contains(string(raw), private) {
				t.Errorf("%s holds %q", name, private)
			}
		}
	}
	_, two := openGateway(t, place.Open())
	w := newWant("a", 1)
	w.Fingerprint = "of another host"
	if got := wantVerdict(t, two, w, toolcache.Hit, ""); len(got.Tools) != 2 || !bytes.Equal(got.Tools[0], definition("x")) {
		t.Errorf("taken over: %+v", got)
	}
	wantVerdict(t, two, newWant("a", 2), toolcache.Miss, "config_changed")
	mustFlush(t, two)
	if st := two.Stats(); st.Shared.Adopted != 1 || st.Shared.Pushed != 0 {
		t.Errorf("%+v", st.Shared)
	}
	mustClose(t, two) // the local file is the second level: it has the list without the place
	if st := one.Stats(); st.Shared.Pushed != 1 {
		t.Errorf("%+v", st.Shared)
	}
}

// A list that another gateway shares reaches the watchers of this one.
func TestSharedChangeIsTold(t *testing.T) {
	t.Parallel()
	var place memoryPlace
	_, one := openGateway(t, place.Open())
	b, two := openGateway(t, place.Open())
	b.advance(time.Second)
	all := []toolcache.Want{newWant("a", 1)}
	one.Configured(all)
	two.Configured(all)
	one.Store("a", newEntry(1, "old"))
	mustFlush(t, one)
	told := make(chan string, 10)
	defer one.Watch(func(s string) { told <- s })()
	two.Store("a", newEntry(1, "new"))
	mustFlush(t, two)
	select {
	case got := <-told:
		if got != "a" {
			t.Errorf("told of %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("not told")
	}
	if got := wantVerdict(t, one, newWant("a", 1), toolcache.Hit, ""); !bytes.Equal(got.Tools[0], definition("new")) {
		t.Errorf("%s", got.Tools[0])
	}
}

// Only entries that are signed with our key, for this server and configuration, are used.
func TestSharedEntriesMustBeSigned(t *testing.T) {
	t.Parallel()
	evil := func(key []byte, name string) json.RawMessage {
		raw := json.RawMessage(`{"tools":[{"name":"evil"}],"lastUpdated":"2026-11-21T09:00:00.000Z","validatedAt":"2026-11-21T09:00:00.000Z",` +
			`"serverConfig":{},"configHash":"` + nthHash(1) + `","version":"1.1.0"}`)
		if key == nil {
			return raw
		}
		signed, err := toolcache.Sign(key, name, raw)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	at := toolcache.SharedName("a", nthHash(1), "")
	good := evil(sharedKey, at)
	for name, tc := range map[string]struct {
		raw  json.RawMessage
		want toolcache.Verdict
	}{
		"ours":          {good, toolcache.Hit},
		"laid out anew": {json.RawMessage(strings.ReplaceAll(string(good), ",", " ,\n ")), toolcache.Hit},
		"unsigned":      {evil(nil, at), toolcache.Miss},
		"another key":   {evil(bytes.Repeat([]byte{8}, 32), at), toolcache.Miss},
		"another name":  {evil(sharedKey, toolcache.SharedName("b", nthHash(1), "")), toolcache.Miss},
		"changed":       {json.RawMessage(strings.Replace(string(good), "evil", "Evil", 1)), toolcache.Miss},
		"no object":     {json.RawMessage(`{"integrity":7}`), toolcache.Miss},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var place memoryPlace
			h := place.Open()
			if _, err := h.Commit(t.Context(), []toolcache.Change{{Server: at, Entry: tc.raw}}); err != nil {
				t.Fatal(err)
			}
			_, c := openGateway(t, place.Open())
			_, v, _ := c.Lookup(newWant("a", 1))
			if v != tc.want {
				t.Errorf("verdict %s, want %s", v, tc.want)
			}
			c.Lookup(newWant("a", 1))
			if dropped := c.Stats().Shared.Dropped; dropped != map[toolcache.Verdict]uint64{toolcache.Miss: 1}[tc.want] {
				t.Errorf("%d dropped", dropped)
			}
		})
	}
}

// A list is used for another user only if it is public, or if nobody was signed in when the server gave it and it is
// not private.
func TestSharedPrivateLists(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		scope, theirs, ours string
		want                toolcache.Verdict
	}{
		"public":                 {"public", "anna", "ben", toolcache.Hit},
		"public, nobody":         {"public", "anna", "", toolcache.Hit},
		"signed in as the same":  {"private", "anna", "anna", toolcache.Hit},
		"signed in as another":   {"private", "anna", "ben", toolcache.Miss},
		"no scope, another":      {"", "anna", "ben", toolcache.Miss},
		"nobody, no scope":       {"", "", "", toolcache.Hit},
		"private though nobody":  {"private", "", "ben", toolcache.Miss},
		"from nobody to someone": {"", "", "ben", toolcache.Hit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var place memoryPlace
			_, one := openGateway(t, place.Open())
			e := newEntry(1, "x")
			e.CacheScope, e.Principal = tc.scope, tc.theirs
			one.Store("a", e)
			mustFlush(t, one)
			_, two := openGateway(t, place.Open())
			w := newWant("a", 1)
			w.Principal = tc.ours
			if _, v, why := two.Lookup(w); v != tc.want {
				t.Errorf("%s %s, want %s", v, why, tc.want)
			}
		})
	}
}

// deadBackend never answers before the context ends.
type deadBackend struct {
	calls  atomic.Int32
	closed atomic.Int32
	given  atomic.Int64 // the longest time until a call's deadline; the largest duration if one had none
}

func (d *deadBackend) wait(ctx context.Context) error {
	d.calls.Add(1)
	given := time.Duration(math.MaxInt64)
	if end, ok := ctx.Deadline(); ok {
		given = time.Until(end)
	}
	d.given.Store(max(d.given.Load(), int64(given))) // calls do not overlap
	<-ctx.Done()
	return context.Cause(ctx)
}

func (d *deadBackend) Load(ctx context.Context) (toolcache.Snapshot, error) {
	return toolcache.Snapshot{}, d.wait(ctx)
}

func (d *deadBackend) Commit(ctx context.Context, _ []toolcache.Change) (toolcache.Snapshot, error) {
	return toolcache.Snapshot{}, d.wait(ctx)
}

func (d *deadBackend) Watch(context.Context, func()) error { return errors.New("dead") }

func (d *deadBackend) Lease(ctx context.Context, _, _ string, _ time.Duration) (bool, error) {
	return false, d.wait(ctx)
}

func (d *deadBackend) Close() error { d.closed.Add(1); return nil }

// A shared place that does not answer delays opening by at most 200 ms, and is then skipped for 30 s.
func TestDeadSharedPlace(t *testing.T) {
	t.Parallel()
	dead := &deadBackend{}
	b, c := openGateway(t, dead, noBackgroundWrites) // a write in the background that waits for the place would keep Close waiting
	if given := time.Duration(dead.given.Load()); dead.calls.Load() != 1 || given > 200*time.Millisecond {
		t.Errorf("opening waits for %d calls of %v", dead.calls.Load(), given)
	}
	c.Store("a", newEntry(1, "x"))
	mustFlush(t, c)
	for range 10 {
		wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "")
		release, ok := c.Lease(t.Context(), "a")
		release()
		if !ok {
			t.Error("a dead place keeps us from refreshing")
		}
	}
	if dead.calls.Load() != 1 {
		t.Errorf("%d calls: it is to be skipped for 30 s", dead.calls.Load())
	}
	b.advance(31 * time.Second)
	if _, ok := c.Lease(t.Context(), "a"); !ok || dead.calls.Load() < 2 {
		t.Errorf("after 30 s it is not tried again: %d calls", dead.calls.Load())
	}
	if st := c.Stats(); st.Shared.Failures["slow"] < 2 {
		t.Errorf("%+v", st.Shared)
	}
	mustClose(t, c)
	if dead.closed.Load() != 1 {
		t.Error("the place was not closed")
	}
	b.verify(t)
}

// flakyPlace is a place that can be unreachable for a while, and still reports changes.
type flakyPlace struct {
	toolcache.Shared
	gone atomic.Bool
	seen chan struct{} // gets a value after each change that was reported
}

func (f *flakyPlace) Load(ctx context.Context) (toolcache.Snapshot, error) {
	if f.gone.Load() {
		return toolcache.Snapshot{}, errors.New("gone")
	}
	return f.Shared.Load(ctx)
}

func (f *flakyPlace) Watch(ctx context.Context, tell func()) error {
	return f.Shared.Watch(ctx, func() {
		tell()
		f.seen <- struct{}{}
	})
}

// Changes reported while a place is skipped are fetched later, even by a gateway that has nothing to share.
func TestNewsOfASkippedPlace(t *testing.T) {
	t.Parallel()
	var place memoryPlace
	near := &flakyPlace{Shared: place.Open(), seen: make(chan struct{}, 100)}
	b, one := openGateway(t, near)
	one.Configured([]toolcache.Want{newWant("a", 1)})
	near.gone.Store(true)
	told := make(chan string, 10)
	defer one.Watch(func(server string) { told <- server })()
	_, two := openGateway(t, place.Open())
	two.Store("a", newEntry(1, "x"))
	mustFlush(t, two)
	<-near.seen
	near.gone.Store(false)
	mustFlush(t, one)
	wantVerdict(t, one, newWant("a", 1), toolcache.Miss, "no_entry")
	b.advance(31 * time.Second)
	mustFlush(t, one)
	wantVerdict(t, one, newWant("a", 1), toolcache.Hit, "")
	select {
	case got := <-told:
		if got != "a" {
			t.Errorf("told of %q", got)
		}
	default:
		t.Error("not told")
	}
}

// A list from a gateway whose clock is a year ahead is not taken over, and does not block others.
func TestSharedListFromTheFuture(t *testing.T) {
	t.Parallel()
	for name, tools := range map[string]string{"the same list": "x", "another list": "y"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var place memoryPlace
			early := newCacheFile(t)
			early.advance(365 * day)
			theirs := early.open(t, func(o *toolcache.Options) { o.Shared, o.Key = place.Open(), sharedKey })
			theirs.Store("a", newEntry(1, "x"))
			mustFlush(t, theirs)
			_, one := openGateway(t, place.Open())
			wantVerdict(t, one, newWant("a", 1), toolcache.Miss, "no_entry")
			one.Store("a", newEntry(1, tools))
			mustFlush(t, one)
			_, two := openGateway(t, place.Open())
			if e := wantVerdict(t, two, newWant("a", 1), toolcache.Hit, ""); e == nil || !bytes.Equal(e.Tools[0], definition(tools)) {
				t.Errorf("taken over: %+v", e)
			}
		})
	}
}

// Without a key nothing is shared, since entries could not be signed.
func TestSharedPlaceNeedsAKey(t *testing.T) {
	t.Parallel()
	dead := &deadBackend{}
	b, c := openGateway(t, dead, func(o *toolcache.Options) { o.Key = nil })
	if dead.calls.Load() != 0 || dead.closed.Load() != 1 || c.Stats().Shared != nil || b.log.count("no key") != 1 {
		t.Errorf("used without a key:\n%s", b.log)
	}
}

// If the list of ten gateways is out of date, the server is asked once.
func TestOneRefreshForTenGateways(t *testing.T) {
	t.Parallel()
	var place memoryPlace
	_, first := openGateway(t, place.Open())
	first.Store("a", newEntry(1, "old"))
	mustFlush(t, first)
	var asked atomic.Int32
	var all, opened sync.WaitGroup
	opened.Add(1)
	for range 10 {
		b, c := openGateway(t, place.Open())
		b.advance(25 * time.Hour)
		c.Configured([]toolcache.Want{newWant("a", 1)})
		fresh := make(chan struct{}, 10)
		stop := c.Watch(func(string) { fresh <- struct{}{} })
		t.Cleanup(stop)
		wantVerdict(t, c, newWant("a", 1), toolcache.Stale, "too_old")
		all.Go(func() {
			opened.Wait()
			release, ok := c.Lease(t.Context(), "a")
			if !ok {
				select {
				case <-fresh:
				case <-time.After(10 * time.Second):
					t.Error("not told of the list that another one fetched")
					return
				}
			} else if _, v, _ := c.Lookup(newWant("a", 1)); v == toolcache.Stale {
				asked.Add(1)
				c.Store("a", newEntry(1, "new"))
				if err := c.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			}
			release()
			if e, v, why := c.Lookup(newWant("a", 1)); v != toolcache.Hit || !bytes.Equal(e.Tools[0], definition("new")) {
				t.Errorf("%s %s", v, why)
			}
		})
	}
	opened.Done()
	all.Wait()
	if asked.Load() != 1 {
		t.Errorf("the server was asked %d times", asked.Load())
	}
}

// A lease has one holder at a time, and ends when it is released or its cache is closed.
func TestLeaseIsGivenBack(t *testing.T) {
	t.Parallel()
	var place memoryPlace
	_, one := openGateway(t, place.Open())
	_, two := openGateway(t, place.Open())
	release, ok := one.Lease(t.Context(), "a")
	if !ok {
		t.Fatal("nobody has it")
	}
	if _, ok := two.Lease(t.Context(), "a"); ok {
		t.Error("two have it")
	}
	release()
	release()
	await.Until(t, "the other one gets it", func() bool {
		release, ok := two.Lease(t.Context(), "a")
		defer release()
		return ok
	})
	if _, ok := one.Lease(t.Context(), "b"); !ok {
		t.Error("b is taken")
	}
	mustClose(t, one) // gives back what is held
	release, ok = two.Lease(t.Context(), "b")
	defer release()
	if !ok {
		t.Error("a gateway that has ended still holds its lease")
	}
}

// Gateways that share at the same time lose no entry.
func TestManyGatewaysPushAtOnce(t *testing.T) {
	t.Parallel()
	var place memoryPlace
	var all sync.WaitGroup
	for g := range 5 {
		_, c := openGateway(t, place.Open())
		all.Go(func() {
			for i := range 4 {
				c.Store(fmt.Sprintf("s-%d-%d", g, i), newEntry(g*10+i, "x"))
			}
			for range 20 {
				if c.Flush(t.Context()) == nil && c.Stats().Shared.Pushed >= 4 {
					return
				}
			}
			t.Errorf("not pushed: %+v", c.Stats().Shared)
		})
	}
	all.Wait()
	if n := len(sharedEntries(t, &place)); n != 20 {
		t.Errorf("%d entries, want 20", n)
	}
}
