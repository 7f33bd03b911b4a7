package toolcache_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
)

// Statistics count lookups, refreshes and writes, describe the file and each entry, and do not count themselves.
func TestStats(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	c := b.open(t, noBackgroundWrites)
	c.Configured([]toolcache.Want{newWant("a", 1), newWant("b", 2), newWant("c", 3)})
	b.advance(2 * day)
	c.Store("b", newEntry(2, "z")) // unchanged
	c.Store("b", newEntry(2, "q")) // changed
	c.Failed("a", "crashed")
	c.Lookup(newWant("a", 1)) // stale
	c.Lookup(newWant("b", 2)) // hit
	c.Lookup(newWant("b", 2)) // hit
	c.Lookup(newWant("c", 3)) // miss
	mustFlush(t, c)
	st := c.Stats()
	if st.Lookups != 4 || st.Hits != 2 || st.StaleHits != 1 || st.Misses != 1 || st.HitRate != 0.75 ||
		st.MissReasons["no_entry"] != 1 || st.StaleReasons["too_old"] != 1 {
		t.Errorf("lookups: %+v", st)
	}
	if diff := cmp.Diff(toolcache.RefreshCount{OK: 2, Changed: 1, Unchanged: 1, Failed: 1}, st.Refreshes); diff != "" {
		t.Error(diff)
	}
	if st.Writes.OK == 0 || st.Total != 4 || st.FileInfo.Servers != 2 || st.Path != b.path || !st.Writable || st.Format != toolcache.Version {
		t.Errorf("file: %+v, writes %+v", st.FileInfo, st.Writes)
	}
	a := st.Servers[0]
	if a.Name != "a" || a.Verdict != toolcache.Stale || a.AgeSeconds != int64((2*day).Seconds()) || a.Tools != 2 || a.Bytes == 0 ||
		a.State != toolcache.Active || a.LastError != "crashed" || !a.Configured {
		t.Errorf("row %+v", a)
	}
	raw, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"path", "size", "format", "generation", "totalWrites", "fileWrites", "createdAt", "lastGlobalUpdate", "serverCount", "servers",
		"writable", "lookups", "hits", "staleHits", "misses", "missReasons", "hitRate", "refreshes", "writes", "merges", "loadMs", "bytesSaved",
	} {
		if fields[name] == nil {
			t.Errorf("no field %q in %s", name, raw)
		}
	}
	if again := c.Stats(); again.Lookups != st.Lookups {
		t.Error("statistics count themselves")
	}
}

// Prune deletes entries of servers removed long enough ago; Clear deletes the named entries, or all.
func TestClearAndPrune(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	c := b.open(t)
	c.Configured([]toolcache.Want{newWant("b", 2)})
	if got := c.Prune(day); got != nil {
		t.Errorf("pruned %v, which was removed just now", got)
	}
	b.advance(2 * day)
	if got := c.Prune(day); !slices.Equal(got, []string{"a"}) {
		t.Errorf("pruned %v", got)
	}
	if got := c.Clear("nobody", "b"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("cleared %v", got)
	}
	wantVerdict(t, c, newWant("b", 2), toolcache.Miss, "no_entry")
	mustFlush(t, c)
	if r := b.verify(t); len(r.Servers) != 0 {
		t.Errorf("%+v", r)
	}
	if !c.Store("b", newEntry(2, "z")) {
		t.Error("a list after clearing is not a change")
	}
	c.Store("d", newEntry(4, "z"))
	if got := c.Clear(); !slices.Equal(got, []string{"b", "d"}) {
		t.Errorf("cleared %v", got)
	}
	mustClose(t, c)
	if r := b.verify(t); len(r.Servers) != 0 {
		t.Errorf("%+v", r)
	}
}

// A start of many servers writes the file only a few times, and each commit is logged once.
func TestFewWrites(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	c := b.open(t, func(o *toolcache.Options) { o.Collect = 0 }) // the default
	for i := range 50 {
		c.Store("server-"+string(rune('a'+i%26))+string(rune('a'+i/26)), newEntry(i, "x"))
		await.Moment(2 * time.Millisecond)
	}
	mustClose(t, c)
	if n := c.Stats().Writes.OK; n > 5 {
		t.Errorf("%d files written", n)
	}
	if n := uint64(b.log.count(`msg="tool cache written"`)); n != c.Stats().Writes.OK {
		t.Errorf("%d lines for %d commits:\n%s", n, c.Stats().Writes.OK, b.log)
	}
}

// A write is logged with its size, and timed whether it succeeds or not.
func TestWritesAreToldAndTimed(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	c := b.open(t, noBackgroundWrites)
	c.Store("a", newEntry(1, "x", "y"))
	c.Store("b", newEntry(2, "z"))
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := `level=INFO msg="tool cache written" servers=2 tools=3`; b.log.count(want) != 1 {
		t.Errorf("the log has no %s:\n%s", want, b.log)
	}
	w := c.Stats().Writes
	if w.LastMillis <= 0 || w.MeanMillis != w.LastMillis || w.LongestMillis != w.LastMillis {
		t.Errorf("one write took %+v", w)
	}
	if err := c.Flush(t.Context()); err != nil || !reflect.DeepEqual(c.Stats().Writes, w) {
		t.Errorf("nothing was written, %v, and the times are %+v", err, c.Stats().Writes)
	}
	c.Clear("a")
	if err := c.Flush(t.Context()); err != nil || b.log.count(`servers=1 tools=0`) != 1 {
		t.Errorf("forgetting, %v:\n%s", err, b.log)
	}
	if w = c.Stats().Writes; w.OK != 2 || w.MeanMillis > w.LongestMillis || w.LastMillis > w.LongestMillis {
		t.Errorf("two writes took %+v", w)
	}
	mustClose(t, c)
}

// Storing and looking up at the same time is safe.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	c := b.open(t)
	defer c.Watch(func(string) {})()
	done := make(chan struct{})
	for g := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 50 {
				c.Store("a", newEntry(1, "x", string(rune('a'+i%7))))
				c.Lookup(newWant("a", 1))
				c.Configured([]toolcache.Want{newWant("a", 1+i%2)})
				c.Failed("a", "crashed")
				c.Stats()
				c.Entries()
				if g == 0 && i%10 == 0 {
					c.Clear("a")
				}
			}
		}()
	}
	for range 4 {
		<-done
	}
	mustClose(t, c)
	b.verify(t)
}
