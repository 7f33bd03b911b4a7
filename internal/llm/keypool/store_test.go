package keypool_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/llm"
	"collie/internal/llm/keypool"
	"collie/internal/llm/keypool/keypooltest"
	"collie/test/await"
)

// memory is a [keypool.Store] in memory. If it is broken, saving fails.
type memory struct {
	mu       sync.Mutex
	keys     map[[2]string]keypool.KeyState
	bindings map[[2]string]keypool.Binding
	saves    int
	broken   bool
}

func newMemory() *memory {
	return &memory{keys: map[[2]string]keypool.KeyState{}, bindings: map[[2]string]keypool.Binding{}}
}

func (m *memory) Load(context.Context) (s keypool.Saved, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.keys {
		s.Keys = append(s.Keys, k)
	}
	for _, b := range m.bindings {
		s.Bindings = append(s.Bindings, b)
	}
	return s, nil
}

func (m *memory) Save(_ context.Context, s keypool.Saved) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saves++
	if m.broken {
		return errors.New("disk full")
	}
	for _, k := range s.Keys {
		if m.keys[[2]string{k.Provider, k.Label}] = k; k.Gone {
			delete(m.keys, [2]string{k.Provider, k.Label})
		}
	}
	for _, b := range s.Bindings {
		if m.bindings[[2]string{b.Provider, b.Session}] = b; b.Gone {
			delete(m.bindings, [2]string{b.Provider, b.Session})
		}
	}
	return nil
}

func (m *memory) setBroken(broken bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = broken
}

func (m *memory) countSaves() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.saves
}

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	m := newMemory()
	keypooltest.TestStore(t, func() keypool.Store { return m })
}

func TestRestartWhileAKeyRests(t *testing.T) {
	t.Parallel()
	m := newMemory()
	one := newFixture(t, keypool.Options{Store: m}, newKeys("ABC")...)
	bound := one.mustLease("s")
	var other string
	for _, l := range "ABC" {
		if string(l) != bound.Label {
			other = string(l)
		}
	}
	for l := one.mustLease(""); ; l = one.mustLease("") {
		if l.Label == other {
			one.markError(l, llm.ClassRateLimit)
			one.advance(time.Minute)
		}
		if one.status(other).Level == 2 {
			break
		}
	}
	one.advance(-time.Minute) // its two minutes begin now
	if err := one.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	two := newFixture(t, keypool.Options{Store: m}, newKeys("ABC")...)
	two.now = one.now.Add(30 * time.Second)
	before, after := one.status(other), two.status(other)
	if after.State != keypool.Cooling || after.Level != 2 || !after.Until.Equal(before.Until) || after.Errors != 2 {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if l := two.mustLease("s"); l.Label != bound.Label || !l.Bound {
		t.Errorf("the conversation moved from %v to %v", bound, l)
	}
	for range 20 {
		if two.mustLease("").Label == other {
			t.Fatal("a key is used while it rests")
		}
	}
	// The level outlives the rest and the process.
	two.now = after.Until
	for l := two.mustLease(""); ; l = two.mustLease("") {
		if l.Label == other {
			two.markError(l, llm.ClassRateLimit)
			break
		}
	}
	if s := two.status(other); s.Level != 3 {
		t.Errorf("%+v", s)
	}
}

func TestRefusedKeyAfterRestart(t *testing.T) {
	t.Parallel()
	m := newMemory()
	secret := "old"
	o := keypool.Options{Store: m, Secret: func(context.Context, string) (string, error) { return secret, nil }}
	one := newFixture(t, o, newKeys("A")...)
	one.markError(one.mustLease(""), llm.ClassCredential)
	if err := one.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := newFixture(t, o, newKeys("A")...).leaseError(); e.Class != llm.ClassCredential {
		t.Errorf("the same secret: %+v", e)
	}
	secret = "new"
	newFixture(t, o, newKeys("A")...).mustLease("")
}

// A key whose secret was replaced, or that was switched off and on, does not rest after a restart either.
func TestClearedKeyAfterRestart(t *testing.T) {
	t.Parallel()
	replaced, disabled := newKeys("A"), newKeys("A")
	replaced[0].Secret, disabled[0].Disabled = "another", true
	for name, steps := range map[string][][]keypool.Key{"replaced": {replaced}, "switched off and on": {disabled, newKeys("A")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			one := newFixture(t, keypool.Options{Store: m}, newKeys("A")...)
			one.markError(one.mustLease(""), llm.ClassRateLimit)
			if err := one.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, keys := range steps {
				one.Apply([]keypool.Provider{{Name: "p", Keys: keys}})
			}
			if err := one.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			newFixture(t, keypool.Options{Store: m}, steps[len(steps)-1]...).mustLease("")
		})
	}
}

// A clock that is set back makes no rest longer than a quarter of an hour.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	m := newMemory()
	one := newFixture(t, keypool.Options{Store: m}, newKeys("A")...)
	one.markError(one.mustLease(""), llm.ClassRateLimit)
	if err := one.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	two := newFixture(t, keypool.Options{Store: m}, newKeys("A")...)
	two.advance(-1000 * time.Hour)
	if e := two.leaseError(); e.RetryAfter != time.Minute {
		t.Errorf("it rests for %v", e.RetryAfter)
	}
	one.advance(-5 * time.Hour)
	if e := one.leaseError(); e.RetryAfter > 15*time.Minute {
		t.Errorf("it rests for %v", e.RetryAfter)
	}
}

func TestKeyThatIsTakenOut(t *testing.T) {
	t.Parallel()
	m := newMemory()
	b := newFixture(t, keypool.Options{Store: m}, newKeys("AB")...)
	b.markError(b.mustLease(""), llm.ClassRateLimit)
	late := b.mustLease("")
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Apply([]keypool.Provider{{Name: "p", Keys: newKeys("C")}})
	b.markError(late, llm.ClassCredential)
	b.MarkKeySuccess(late)
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for place := range m.keys {
		if place[1] != "C" {
			t.Errorf("%v is still kept", place)
		}
	}
	b.Apply([]keypool.Provider{{Name: "p", Keys: newKeys("A")}})
	if s := b.status("A"); s.State != keypool.Active {
		t.Errorf("a new key of an old name: %+v", s)
	}
}

func TestChangesAreGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		b := newFixture(t, keypool.Options{Store: m, Now: time.Now}, newKeys("AB")...)
		for range 100 {
			b.MarkKeySuccess(b.mustLease("s"))
		}
		if m.countSaves() != 0 {
			t.Error("saved at once")
		}
		await.Sleep(time.Second)
		synctest.Wait()
		if m.countSaves() != 1 || len(m.bindings) != 1 {
			t.Errorf("%d saves of %d conversations", m.countSaves(), len(m.bindings))
		}
		await.Sleep(time.Hour)
		synctest.Wait()
		if m.countSaves() != 1 {
			t.Errorf("saved %d times, though nothing changed", m.countSaves())
		}
		m.setBroken(true)
		b.MarkKeySuccess(b.mustLease("s"))
		await.Sleep(time.Second)
		synctest.Wait()
		m.setBroken(false)
		await.Sleep(10 * time.Second)
		synctest.Wait()
		if m.countSaves() != 3 {
			t.Errorf("%d saves after a failure", m.countSaves())
		}
		for place, k := range m.keys {
			if want := b.status(place[1]).Successes; k.Successes != want {
				t.Errorf("%v: %d successes are kept of %d", place, k.Successes, want)
			}
		}
		b.MarkKeySuccess(b.mustLease("s"))
		if err := b.Close(t.Context()); err != nil || m.countSaves() != 4 {
			t.Errorf("closed after %d saves: %v", m.countSaves(), err)
		}
	})
}
