package toolcachetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// This file tests that commits keep or refuse changes that were made at the same time.

func (s suite) testEmpty(t *testing.T) {
	a := s.handles(t, 1)[0]
	if got := mustLoad(t, a); got.Generation != 0 || len(got.Entries) != 0 {
		t.Errorf("an empty place loads as %+v, want the zero Snapshot", got)
	}
	_, err := a.Commit(t.Context(), []toolcache.Change{{Server: "empty", Old: json.RawMessage(`{"v":0}`), Entry: json.RawMessage(`{}`)}})
	if !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit on an entry that never was: %v, want ErrConflict", err)
	}
	if got := mustLoad(t, a); len(got.Entries) != 0 {
		t.Errorf("the refused commit left %v", got.Entries)
	}
}

// testConflict commits on entries that somebody else has replaced, deleted or added.
func (s suite) testConflict(t *testing.T) {
	a, b := s.pair(t)
	mustCommit(t, a, map[string]string{"conflict-1": `{"by":"first"}`, "conflict-2": `{"by":"first"}`})
	old := mustLoad(t, a)
	mustCommit(t, b, map[string]string{"conflict-1": `{"by":"b"}`, "conflict-3": `{"by":"b"}`}, "conflict-2")
	want := map[string]string{"conflict-1": `{"by":"b"}`, "conflict-3": `{"by":"b"}`}
	for _, server := range []string{"conflict-1", "conflict-2", "conflict-3"} {
		for name, writer := range map[string]toolcache.Backend{"another": a, "the same handle": b} {
			now, err := writer.Commit(t.Context(), []toolcache.Change{newChange(old, server, `{"by":"late"}`)})
			if !errors.Is(err, toolcache.ErrConflict) {
				t.Errorf("commit of %s over an old %s: %v, want ErrConflict", name, server, err)
			}
			wantEntries(t, now, "conflict", want)
		}
	}
	wantEntries(t, mustLoad(t, a), "conflict", want)
	now, err := a.Commit(t.Context(), []toolcache.Change{newChange(mustLoad(t, a), "conflict-1", `{"by":"a"}`)})
	if err != nil {
		t.Errorf("commit after loading again: %v", err)
	}
	want["conflict-1"] = `{"by":"a"}`
	wantEntries(t, now, "conflict", want)
}

func (s suite) testDeletes(t *testing.T) {
	a, b := s.pair(t)
	mustCommit(t, a, map[string]string{"del-1": `{}`, "del-2": `{}`})
	mustCommit(t, b, map[string]string{"del-3": `{"new":true}`}, "del-1", "del-never-was")
	wantEntries(t, mustLoad(t, a), "del-", map[string]string{"del-2": `{}`, "del-3": `{"new":true}`})
	mustCommit(t, b, nil, "del-2", "del-3")
	wantEntries(t, mustLoad(t, a), "del-", nil)
	mustCommit(t, b, map[string]string{"del-1": `{"again":true}`})
	wantEntries(t, mustLoad(t, a), "del-", map[string]string{"del-1": `{"again":true}`})
}

// testOwnCopies changes a loaded Snapshot, which must not change the stored content.
func (s suite) testOwnCopies(t *testing.T) {
	a := s.handles(t, 1)[0]
	mustCommit(t, a, map[string]string{"own": `{"kept":true}`})
	got := mustLoad(t, a)
	delete(got.Entries, "own")
	got.Entries["own-2"] = json.RawMessage(`{}`)
	wantEntries(t, mustLoad(t, a), "own", map[string]string{"own": `{"kept":true}`})
}

// testAgainstMap compares random commits of two handles with a map.
func (s suite) testAgainstMap(t *testing.T) {
	a, b := s.pair(t)
	rng := rand.New(rand.NewPCG(13, 7)) // seeded, to be repeatable
	want := map[string]string{}
	for step := range steps {
		writer, reader := a, b
		if rng.IntN(2) == 1 {
			writer, reader = b, a
		}
		now := mustLoad(t, writer)
		var changes []toolcache.Change
		next := maps.Clone(want)
		for _, i := range rng.Perm(6)[:1+rng.IntN(4)] {
			name := "model-" + strconv.Itoa(i)
			if rng.IntN(3) == 0 {
				delete(next, name)
			} else {
				next[name] = fmt.Sprintf(`{"step":%d,"pad":%q}`, step, strings.Repeat("垫", rng.IntN(1000)))
			}
			changes = append(changes, newChange(now, name, next[name]))
		}
		stale := rng.IntN(4) == 0
		if stale {
			changes = changes[:1]
			changes[0].Old = json.RawMessage(`{"never":"was"}`)
		}
		_, err := writer.Commit(t.Context(), changes)
		switch {
		case stale && !errors.Is(err, toolcache.ErrConflict):
			t.Fatalf("step %d: commit over what is not there: %v, want ErrConflict", step, err)
		case !stale && err != nil:
			t.Fatalf("step %d: %v", step, err)
		case !stale:
			want = next
		}
		wantEntries(t, mustLoad(t, reader), "model-", want)
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
}

// testManyWriters runs 10 writers with their own entries and one counter that all increment: nothing may be lost.
func (s suite) testManyWriters(t *testing.T) {
	const writers = 10
	var all sync.WaitGroup
	for w, b := range s.handles(t, writers) {
		all.Go(func() {
			for i := range each {
				name := fmt.Sprintf("writers-%d-%d", w, i)
				if err := commitUntilDone(t.Context(), b, map[string]string{name: fmt.Sprintf(`{"w":%d,"i":%d}`, w, i)}); err != nil {
					t.Errorf("writer %d, entry %d: %v", w, i, err)
					return
				}
			}
			if err := increment(t.Context(), b, "writers-all"); err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	all.Wait()
	want := map[string]string{"writers-all": fmt.Sprintf(`{"n":%d}`, writers)}
	for w := range writers {
		for i := range each {
			want[fmt.Sprintf("writers-%d-%d", w, i)] = fmt.Sprintf(`{"w":%d,"i":%d}`, w, i)
		}
	}
	wantEntries(t, mustLoad(t, s.handles(t, 1)[0]), "writers-", want)
}

// increment adds one to the number in an entry.
func increment(ctx context.Context, b toolcache.Backend, server string) error {
	now, err := b.Load(ctx)
	for try := 0; err == nil; try++ {
		var e struct {
			N int `json:"n"`
		}
		if old := now.Entries[server]; old != nil {
			if err := json.Unmarshal(old, &e); err != nil {
				return err
			}
		}
		now, err = b.Commit(ctx, []toolcache.Change{newChange(now, server, fmt.Sprintf(`{"n":%d}`, e.N+1))})
		if !errors.Is(err, toolcache.ErrConflict) {
			return err
		}
		err = pause(ctx, rand.N(5*time.Millisecond<<min(try, 6)))
	}
	return err
}

func (s suite) testCancelled(t *testing.T) {
	a, b := s.pair(t)
	mustCommit(t, a, map[string]string{"cancelled": `{"v":1}`})
	now := mustLoad(t, a)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Load": func() error { _, err := a.Load(ctx); return err },
		"Commit": func() error {
			_, err := a.Commit(ctx, []toolcache.Change{newChange(now, "cancelled", `{"v":2}`)})
			return err
		},
		"Watch": func() error { _ = a.Watch(ctx, func() {}); return context.Canceled },
	} {
		ended := make(chan error, 1)
		go func() { ended <- call() }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s with a context that has ended says that it worked", name)
			}
		case <-time.After(limit):
			t.Errorf("%s has not returned %v after its context ended", name, limit)
		}
	}
	wantEntries(t, mustLoad(t, b), "cancelled", map[string]string{"cancelled": `{"v":1}`})
	mustCommit(t, a, map[string]string{"cancelled": `{"v":3}`}) // the handle still works
}

func (s suite) testCloseTwice(t *testing.T) {
	a, b := s.open(t), s.handles(t, 1)[0]
	mustCommit(t, a, map[string]string{"closed": `{}`})
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	now := mustLoad(t, b)
	wantEntries(t, now, "closed", map[string]string{"closed": `{}`})
	if _, err := a.Commit(t.Context(), []toolcache.Change{newChange(now, "closed", `{"late":1}`)}); err == nil {
		t.Error("a closed handle commits")
	}
}
