package source_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source"
	"collie/internal/tool"
	"collie/test/await"
)

// Set reports a change to watchers only if the settings differ.
func TestSetTellsChangesOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, two := newResourceSource("one", "x://a"), newResourceSource("two", "x://b")
		profiles := func(hidden ...string) map[string]source.Profile {
			return map[string]source.Profile{"": {Hide: hidden}}
		}
		c := openCatalog(t, source.Options{Profiles: profiles()}, one)
		var told atomic.Int64
		defer c.Watch(func(tool.Change) { told.Add(1) })()
		for _, step := range []struct {
			what     string
			sources  []tool.Source
			profiles map[string]source.Profile
			want     int64 // notices: one for each kind of list
		}{
			{what: "the same", sources: []tool.Source{one}, profiles: profiles()},
			{what: "another source", sources: []tool.Source{one, two}, profiles: profiles(), want: 3},
			{what: "another order", sources: []tool.Source{two, one}, profiles: profiles(), want: 3},
			{what: "another profile", sources: []tool.Source{two, one}, profiles: profiles("one"), want: 3},
			{what: "the same again", sources: []tool.Source{two, one}, profiles: profiles("one")},
		} {
			c.Set(step.sources, step.profiles, nil)
			await.Sleep(time.Second)
			synctest.Wait()
			if got := told.Swap(0); got != step.want {
				t.Errorf("%s: told %d changes, want %d", step.what, got, step.want)
			}
		}
	})
}

// A subscription made to a source that was since replaced is ended at its successor, which has taken the subscription
// over.
func TestUnsubscribeFromASuccessor(t *testing.T) {
	t.Parallel()
	old, next := newResourceSource("one", "x://a"), newResourceSource("one", "x://a")
	c := openCatalog(t, source.Options{}, old)
	if err := c.Subscribe(t.Context(), "", "x://a"); err != nil {
		t.Fatal(err)
	}
	if err := next.Subscribe(t.Context(), "x://a"); err != nil { // as real servers do when they are replaced
		t.Fatal(err)
	}
	c.Set([]tool.Source{next}, nil, nil)
	if err := c.Unsubscribe(t.Context(), "", "x://a"); err != nil {
		t.Fatal(err)
	}
	if got := next.Subscribed(); len(got) != 0 {
		t.Errorf("it is still asked for %v", got)
	}
	if !slices.Equal(old.Subscribed(), []string{"x://a"}) {
		t.Error("the one that has gone was asked")
	}
	c.Set(nil, nil, nil)
	if err := c.Unsubscribe(t.Context(), "", "x://a"); err != nil {
		t.Errorf("of a source that has gone for good: %v", err)
	}
}
