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

func (s suite) empty(t *testing.T) {
	a := s.handles(t, 1)[0]
	if got := load(t, a); got.Generation != 0 || len(got.Entries) != 0 {
		t.Errorf("an empty place loads as %+v, want the zero Snapshot", got)
	}
	_, err := a.Commit(t.Context(), []toolcache.Change{{Server: "empty", Old: json.RawMessage(`{"v":0}`), Entry: json.RawMessage(`{}`)}})
	if !errors.Is(err, toolcache.ErrConflict) {
		t.Errorf("commit on an entry that never was: %v, want ErrConflict", err)
	}
	if got := load(t, a); len(got.Entries) != 0 {
		t.Errorf("the refused commit left %v", got.Entries)
	}
}

// conflict commits on entries that somebody else has replaced, deleted or added.
func (s suite) conflict(t *testing.T) {
	a, b := s.pair(t)
	mustChange(t, a, map[string]string{"conflict-1": `{"by":"first"}`, "conflict-2": `{"by":"first"}`})
	old := load(t, a)
	mustChange(t, b, map[string]string{"conflict-1": `{"by":"b"}`, "conflict-3": `{"by":"b"}`}, "conflict-2")
	want := map[string]string{"conflict-1": `{"by":"b"}`, "conflict-3": `{"by":"b"}`}
	for _, server := range []string{"conflict-1", "conflict-2", "conflict-3"} {
		for name, writer := range map[string]toolcache.Backend{"another": a, "the same handle": b} {
			now, err := writer.Commit(t.Context(), []toolcache.Change{over(old, server, `{"by":"late"}`)})
			if !errors.Is(err, toolcache.ErrConflict) {
				t.Errorf("commit of %s over an old %s: %v, want ErrConflict", name, server, err)
			}
			wantEntries(t, now, "conflict", want)
		}
	}
	wantEntries(t, load(t, a), "conflict", want)
	now, err := a.Commit(t.Context(), []toolcache.Change{over(load(t, a), "conflict-1", `{"by":"a"}`)})
	if err != nil {
		t.Errorf("commit after loading again: %v", err)
	}
	want["conflict-1"] = `{"by":"a"}`
	wantEntries(t, now, "conflict", want)
}

func (s suite) deletes(t *testing.T) {
	a, b := s.pair(t)
	mustChange(t, a, map[string]string{"del-1": `{}`, "del-2": `{}`})
	mustChange(t, b, map[string]string{"del-3": `{"new":true}`}, "del-1", "del-never-was")
	wantEntries(t, load(t, a), "del-", map[string]string{"del-2": `{}`, "del-3": `{"new":true}`})
	mustChange(t, b, nil, "del-2", "del-3")
	wantEntries(t, load(t, a), "del-", nil)
	mustChange(t, b, map[string]string{"del-1": `{"again":true}`})
	wantEntries(t, load(t, a), "del-", map[string]string{"del-1": `{"again":true}`})
}

// ownCopies changes a loaded Snapshot, which must not change the stored content.
func (s suite) ownCopies(t *testing.T) {
	a := s.handles(t, 1)[0]
	mustChange(t, a, map[string]string{"own": `{"kept":true}`})
	got := load(t, a)
	delete(got.Entries, "own")
	got.Entries["own-2"] = json.RawMessage(`{}`)
	wantEntries(t, load(t, a), "own", map[string]string{"own": `{"kept":true}`})
}

// model compares random commits of two handles with a map.
func (s suite) model(t *testing.T) {
	a, b := s.pair(t)
	rng := rand.New(rand.NewPCG(13, 7)) // seeded, to be repeatable
	want := map[string]string{}
	for step := range steps {
		writer, reader := a, b
		if rng.IntN(2) == 1 {
			writer, reader = b, a
		}
		now := load(t, writer)
		var changes []toolcache.Change
		next := maps.Clone(want)
		for _, i := range rng.Perm(6)[:1+rng.IntN(4)] {
			name := "model-" + strconv.Itoa(i)
			if rng.IntN(3) == 0 {
				delete(next, name)
			} else {
				next[name] = fmt.Sprintf(`{"step":%d,"pad":%q}`, step, strings.Repeat("垫", rng.IntN(1000)))
			}
			changes = append(changes, over(now, name, next[name]))
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
		wantEntries(t, load(t, reader), "model-", want)
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
}

// writers runs 10 writers with their own entries and one counter that all increment: nothing may be lost.
func (s suite) writers(t *testing.T) {
	const writers = 10
	var all sync.WaitGroup
	for w, b := range s.handles(t, writers) {
		all.Go(func() {
			for i := range each {
				name := fmt.Sprintf("writers-%d-%d", w, i)
				if err := change(t.Context(), b, map[string]string{name: fmt.Sprintf(`{"w":%d,"i":%d}`, w, i)}); err != nil {
					t.Errorf("writer %d, entry %d: %v", w, i, err)
					return
				}
			}
			if err := count(t.Context(), b, "writers-all"); err != nil {
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
	wantEntries(t, load(t, s.handles(t, 1)[0]), "writers-", want)
}

// count adds one to the number in an entry.
func count(ctx context.Context, b toolcache.Backend, server string) error {
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
		now, err = b.Commit(ctx, []toolcache.Change{over(now, server, fmt.Sprintf(`{"n":%d}`, e.N+1))})
		if !errors.Is(err, toolcache.ErrConflict) {
			return err
		}
		err = wait(ctx, rand.N(5*time.Millisecond<<min(try, 6)))
	}
	return err
}

func (s suite) cancelled(t *testing.T) {
	a, b := s.pair(t)
	mustChange(t, a, map[string]string{"cancelled": `{"v":1}`})
	now := load(t, a)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Load": func() error { _, err := a.Load(ctx); return err },
		"Commit": func() error {
			_, err := a.Commit(ctx, []toolcache.Change{over(now, "cancelled", `{"v":2}`)})
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
	wantEntries(t, load(t, b), "cancelled", map[string]string{"cancelled": `{"v":1}`})
	mustChange(t, a, map[string]string{"cancelled": `{"v":3}`}) // the handle still works
}

func (s suite) closeTwice(t *testing.T) {
	a, b := s.open(t), s.handles(t, 1)[0]
	mustChange(t, a, map[string]string{"closed": `{}`})
	for range 2 {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	now := load(t, b)
	wantEntries(t, now, "closed", map[string]string{"closed": `{}`})
	if _, err := a.Commit(t.Context(), []toolcache.Change{over(now, "closed", `{"late":1}`)}); err == nil {
		t.Error("a closed handle commits")
	}
}
