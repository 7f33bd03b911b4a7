package toolcachetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"collie/internal/source/upstream/toolcache"
)

func (s suite) empty(t *testing.T) {
	a := s.handles(t, 1)[0]
	got := load(t, a)
	if got.Generation != 0 || len(got.Entries) != 0 || got.TotalWrites != 0 {
		t.Errorf("an empty place loads as %+v, want the zero Snapshot", got)
	}
	if _, err := a.Commit(t.Context(), 7, []toolcache.Change{put("empty", `{}`)}); !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit on a generation that never was: %v, want ErrConflict", err)
	}
	if got := load(t, a); len(got.Entries) != 0 {
		t.Errorf("the refused commit left %v", got.Entries)
	}
}

func (s suite) generations(t *testing.T) {
	a, b := s.pair(t)
	last := load(t, a).Generation
	for i := range 5 {
		writer, reader := a, b
		if i%2 == 1 {
			writer, reader = b, a
		}
		entry := fmt.Sprintf(`{"rev":%d}`, i)
		g, err := writer.Commit(t.Context(), last, []toolcache.Change{put("generations", entry)})
		if err != nil {
			t.Fatal(err)
		}
		if g <= last {
			t.Errorf("generation %d follows %d, want a greater one", g, last)
		}
		for _, h := range []toolcache.Backend{writer, reader} {
			got := load(t, h)
			if got.Generation != g {
				t.Errorf("loaded generation %d, want %d", got.Generation, g)
			}
			wantEntries(t, got, "generations", map[string]string{"generations": entry})
		}
		last = g
	}
}

func (s suite) conflict(t *testing.T) {
	a, b := s.pair(t)
	base := mustChange(t, a, put("conflict", `{"by":"first"}`))
	if _, err := b.Commit(t.Context(), base, []toolcache.Change{put("conflict", `{"by":"b"}`)}); err != nil {
		t.Fatal(err)
	}
	before := load(t, b)
	for name, writer := range map[string]toolcache.Backend{"another": a, "the same handle": b} {
		_, err := writer.Commit(t.Context(), base, []toolcache.Change{put("conflict", `{"by":"late"}`), put("conflict-2", `{}`)})
		if !errors.Is(err, toolcache.ErrConflict) {
			t.Errorf("commit of %s on an old generation: %v, want ErrConflict", name, err)
		}
	}
	after := load(t, a)
	if after.Generation != before.Generation || after.TotalWrites != before.TotalWrites {
		t.Errorf("refused commits moved generation %d and %d writes to %d and %d",
			before.Generation, before.TotalWrites, after.Generation, after.TotalWrites)
	}
	wantEntries(t, after, "conflict", map[string]string{"conflict": `{"by":"b"}`})
	if _, err := a.Commit(t.Context(), after.Generation, []toolcache.Change{put("conflict", `{"by":"a"}`)}); err != nil {
		t.Errorf("commit after loading again: %v", err)
	}
}

func (s suite) allOrNone(t *testing.T) {
	a, b := s.pair(t)
	base := load(t, a)
	var changes []toolcache.Change
	want := map[string]string{}
	for i := range 30 {
		c := put(fmt.Sprintf("all-%d", i), fmt.Sprintf(`{"n":%d}`, i))
		changes = append(changes, c)
		want[c.Server] = string(c.Entry)
	}
	if _, err := a.Commit(t.Context(), base.Generation, changes); err != nil {
		t.Fatal(err)
	}
	got := load(t, b)
	wantEntries(t, got, "all-", want)
	if wrote := got.TotalWrites - base.TotalWrites; wrote != 30 {
		t.Errorf("a commit of 30 entries counts as %d writes", wrote)
	}
}

func (s suite) deletes(t *testing.T) {
	a, b := s.pair(t)
	g := mustChange(t, a, put("del-1", `{}`), put("del-2", `{}`))
	next, err := b.Commit(t.Context(), g, []toolcache.Change{{Server: "del-1"}, put("del-3", `{"new":true}`)})
	if err != nil {
		t.Fatal(err)
	}
	if next <= g {
		t.Errorf("generation %d follows %d, want a greater one", next, g)
	}
	wantEntries(t, load(t, a), "del-", map[string]string{"del-2": `{}`, "del-3": `{"new":true}`})
	if _, err := a.Commit(t.Context(), next, []toolcache.Change{{Server: "del-never-was"}}); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
	mustChange(t, b, toolcache.Change{Server: "del-2"}, toolcache.Change{Server: "del-3"})
	wantEntries(t, load(t, a), "del-", nil)
}

func (s suite) deletedByAnother(t *testing.T) {
	a, b := s.pair(t)
	mustChange(t, a, put("gone-1", `{"v":1}`), put("gone-2", `{"v":1}`))
	old := load(t, a)
	mustChange(t, b, toolcache.Change{Server: "gone-1"})
	if _, err := a.Commit(t.Context(), old.Generation, []toolcache.Change{put("gone-1", `{"v":2}`)}); !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit after another's delete: %v, want ErrConflict", err)
	}
	wantEntries(t, load(t, a), "gone-", map[string]string{"gone-2": `{"v":1}`})
	mustChange(t, a, put("gone-1", `{"v":3}`))
	wantEntries(t, load(t, b), "gone-", map[string]string{"gone-1": `{"v":3}`, "gone-2": `{"v":1}`})
}

// ownCopies changes a loaded Snapshot, which must change nothing that is kept.
func (s suite) ownCopies(t *testing.T) {
	a := s.handles(t, 1)[0]
	entry := json.RawMessage(`{"kept":true}`)
	mustChange(t, a, toolcache.Change{Server: "own", Entry: entry})
	got := load(t, a)
	delete(got.Entries, "own")
	got.Entries["own-2"] = json.RawMessage(`{}`)
	wantEntries(t, load(t, a), "own", map[string]string{"own": `{"kept":true}`})
}

// model plays random commits of two handles against a map.
func (s suite) model(t *testing.T) {
	a, b := s.pair(t)
	rng := rand.New(rand.NewPCG(13, 7)) // a game that can be played again
	want := map[string]string{}
	last := mustChange(t, a, put("model-x", `{}`))
	want["model-x"] = `{}`
	for step := range steps {
		writer, reader := a, b
		if rng.IntN(2) == 1 {
			writer, reader = b, a
		}
		var changes []toolcache.Change
		next := maps.Clone(want)
		for _, i := range rng.Perm(6)[:1+rng.IntN(4)] {
			name := "model-" + strconv.Itoa(i)
			if rng.IntN(3) == 0 {
				changes = append(changes, toolcache.Change{Server: name})
				delete(next, name)
				continue
			}
			next[name] = fmt.Sprintf(`{"step":%d,"pad":%q}`, step, strings.Repeat("垫", rng.IntN(1000)))
			changes = append(changes, put(name, next[name]))
		}
		base := last
		stale := rng.IntN(4) == 0
		if stale {
			base--
		}
		g, err := writer.Commit(t.Context(), base, changes)
		switch {
		case stale && !errors.Is(err, toolcache.ErrConflict):
			t.Fatalf("step %d: commit on generation %d of %d: %v, want ErrConflict", step, base, last, err)
		case !stale && err != nil:
			t.Fatalf("step %d: %v", step, err)
		case !stale:
			want, last = next, g
		}
		wantEntries(t, load(t, reader), "model-", want)
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
}

// writers is 10 writers of some entries each: none may be lost, and each counts once.
func (s suite) writers(t *testing.T) {
	const writers = 10
	base := load(t, s.handles(t, 1)[0])
	var all sync.WaitGroup
	for w, b := range s.handles(t, writers) {
		all.Go(func() {
			for i := range each {
				c := put(fmt.Sprintf("writers-%d-%d", w, i), fmt.Sprintf(`{"w":%d,"i":%d}`, w, i))
				if _, err := change(t.Context(), b, c); err != nil {
					t.Errorf("writer %d, entry %d: %v", w, i, err)
					return
				}
			}
		})
	}
	all.Wait()
	want := map[string]string{}
	for w := range writers {
		for i := range each {
			want[fmt.Sprintf("writers-%d-%d", w, i)] = fmt.Sprintf(`{"w":%d,"i":%d}`, w, i)
		}
	}
	got := load(t, s.handles(t, 1)[0])
	wantEntries(t, got, "writers-", want)
	if wrote := got.TotalWrites - base.TotalWrites; wrote != writers*each {
		t.Errorf("%d writes counted, want %d", wrote, writers*each)
	}
	if commits := got.Generation - base.Generation; commits < writers*each {
		t.Errorf("%d commits moved the generation by %d only", writers*each, commits)
	}
}

// readers load while pairs of entries change together.
func (s suite) readers(t *testing.T) {
	a, b := s.pair(t)
	mustChange(t, a, put("whole-1", `{"v":0}`), put("whole-2", `{"v":0}`))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for v := 1; v <= 40; v++ {
			e := fmt.Sprintf(`{"v":%d}`, v)
			if _, err := change(t.Context(), a, put("whole-1", e), put("whole-2", e)); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	var last uint64
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, err := b.Load(t.Context())
		if err != nil {
			t.Errorf("load beside a writer: %v", err)
			break
		}
		if x, y := string(got.Entries["whole-1"]), string(got.Entries["whole-2"]); x != y || x == "" {
			t.Errorf("generation %d has %q beside %q: half of a commit", got.Generation, x, y)
		}
		if got.Generation < last {
			t.Errorf("generation %d after %d", got.Generation, last)
		}
		last = got.Generation
	}
	<-done
}
