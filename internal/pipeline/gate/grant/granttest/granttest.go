// Package granttest has the tests that every [grant.Store] must pass, and a Store in memory for other tests.
package granttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"collie/internal/pipeline/gate/grant"
	"collie/internal/tool"
)

// Memory is a [grant.Store] that keeps grants in memory. The zero value is ready to use.
type Memory struct {
	Now func() time.Time // nil: [time.Now]

	mu   sync.Mutex
	all  []grant.Grant
	Fail error // of every method, if set
}

// dropExpired forgets what has expired. The caller holds mu.
func (m *Memory) dropExpired() time.Time {
	now := time.Now()
	if m.Now != nil {
		now = m.Now()
	}
	m.all = slices.DeleteFunc(m.all, func(g grant.Grant) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) })
	return now
}

// Add implements [grant.Store].
func (m *Memory) Add(_ context.Context, g *grant.Grant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fail != nil {
		return m.Fail
	}
	if slices.ContainsFunc(m.all, func(o grant.Grant) bool { return o.ID == g.ID }) {
		return fmt.Errorf("there is a grant %s already", g.ID)
	}
	m.all = append(m.all, *g)
	return nil
}

// Find implements [grant.Store].
func (m *Memory) Find(ctx context.Context, source, toolName, action string) ([]grant.Grant, error) {
	all, err := m.List(ctx)
	return slices.DeleteFunc(all, func(g grant.Grant) bool { return g.Source != source || g.Tool != toolName || g.Action != action }), err
}

// List implements [grant.Store].
func (m *Memory) List(context.Context) ([]grant.Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired()
	return slices.Clone(m.all), m.Fail
}

// Use implements [grant.Store].
func (m *Memory) Use(_ context.Context, id string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.dropExpired()
	i := slices.IndexFunc(m.all, func(g grant.Grant) bool { return g.ID == id })
	if i < 0 || m.Fail != nil {
		return false, m.Fail
	}
	m.all[i].Uses++
	m.all[i].Used = now
	return true, nil
}

// Revoke implements [grant.Store].
func (m *Memory) Revoke(_ context.Context, id string) (grant.Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired()
	i := slices.IndexFunc(m.all, func(g grant.Grant) bool { return g.ID == id })
	if i < 0 || m.Fail != nil {
		return grant.Grant{}, cmp.Or(m.Fail, grant.NotFound(id))
	}
	was := m.all[i]
	m.all = slices.Delete(m.all, i, i+1)
	return was, nil
}

// Sample returns a grant, different for each n.
func Sample(n int) grant.Grant {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	return grant.Grant{
		ID: fmt.Sprintf("g%d", n), Scope: grant.Session, Session: "s", Turn: "t", Principal: "ada", Origin: tool.Chat, Source: "siyuan", Tool: "fs",
		Action: "rm", Definition: "digest", Rule: "path.many", Risk: tool.RiskHigh,
		Constraint: grant.Constraint{Kind: grant.Notebook, Value: "box", Name: "工作"}, Created: at, Expires: at.Add(time.Duration(n) * time.Hour),
	}
}

// TestStore tests a store. Each call of open returns a store over the same grants, as another process would have; now is
// the clock of the store.
func TestStore(t *testing.T, open func(now func() time.Time) grant.Store) {
	t.Helper()
	var clock atomic.Int64
	start := Sample(0).Created
	clock.Store(start.UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	s, other := open(now), open(now)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(s grant.Store, want ...grant.Grant) {
		t.Helper()
		got, err := s.List(t.Context())
		must(err)
		if d := gocmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
			t.Errorf("grants (-want +got):\n%s", d)
		}
	}

	expect(s)
	one, two, forever, elsewhere := Sample(1), Sample(2), Sample(3), Sample(4)
	forever.Expires, forever.Risk = time.Time{}, tool.RiskMedium
	elsewhere.Action = "mv"
	for _, g := range []grant.Grant{one, two, forever, elsewhere} {
		must(s.Add(t.Context(), &g))
	}
	if s.Add(t.Context(), &two) == nil {
		t.Error("a grant was added twice")
	}
	expect(other, one, two, forever, elsewhere)
	found, err := other.Find(t.Context(), "siyuan", "fs", "rm")
	must(err)
	if d := gocmp.Diff([]grant.Grant{one, two, forever}, found); d != "" {
		t.Errorf("those of an action (-want +got):\n%s", d)
	}
	for _, of := range [][3]string{{"siyuan", "fs", "ls"}, {"siyuan", "block", "rm"}, {"other", "fs", "rm"}} {
		if found, err := s.Find(t.Context(), of[0], of[1], of[2]); err != nil || len(found) > 0 {
			t.Errorf("%v: %v, %v", of, found, err)
		}
	}

	ok, err := other.Use(t.Context(), two.ID)
	if two.Uses, two.Used = 1, now(); err != nil || !ok {
		t.Errorf("a use: %t, %v", ok, err)
	}
	expect(s, one, two, forever, elsewhere)

	clock.Add(int64(time.Hour)) // one has expired, to the moment
	if ok, err := s.Use(t.Context(), one.ID); ok || err != nil {
		t.Errorf("an expired grant was used: %v", err)
	}
	if _, err := s.Revoke(t.Context(), one.ID); tool.KindOf(err) != tool.NotFound {
		t.Errorf("an expired grant was revoked: %v", err)
	}
	expect(s, two, forever, elsewhere)

	was, err := other.Revoke(t.Context(), two.ID)
	must(err)
	if d := gocmp.Diff(two, was); d != "" {
		t.Errorf("what was revoked (-want +got):\n%s", d)
	}
	for _, id := range []string{two.ID, "unknown", ""} {
		if ok, err := s.Use(t.Context(), id); ok || err != nil {
			t.Errorf("%q was used: %v", id, err)
		}
		if _, err := s.Revoke(t.Context(), id); tool.KindOf(err) != tool.NotFound {
			t.Errorf("%q was revoked: %v", id, err)
		}
	}
	testRace(t, s, other)
}

// testRace uses a grant from both stores while it is revoked: each use is counted, and none succeeds after that.
func testRace(t *testing.T, s, other grant.Store) {
	t.Helper()
	g := Sample(9)
	g.ID, g.Risk, g.Expires = "raced", tool.RiskMedium, time.Time{}
	if err := s.Add(t.Context(), &g); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var uses atomic.Int64
	for i := range 20 {
		all.Go(func() {
			if ok, err := []grant.Store{s, other}[i%2].Use(t.Context(), g.ID); err != nil {
				t.Error(err)
			} else if ok {
				uses.Add(1)
			}
		})
	}
	var was grant.Grant
	all.Go(func() {
		var err error
		if was, err = other.Revoke(t.Context(), g.ID); err != nil {
			t.Error(err)
		}
		if ok, err := s.Use(t.Context(), g.ID); ok || err != nil {
			t.Errorf("used after it was revoked: %v", err)
		}
	})
	all.Wait()
	if int64(was.Uses) != uses.Load() {
		t.Errorf("%d uses succeeded, the revoked grant has %d", uses.Load(), was.Uses)
	}
}
