package toolcache_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
)

// A folder that hangs, as on a network drive, blocks nobody.
func TestHungMount(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	var mu sync.Mutex
	hang := make(chan struct{})
	hold := func(string) {
		mu.Lock()
		c := hang
		mu.Unlock()
		<-c
	}
	const (
		limit     = 100 * time.Millisecond
		waitLimit = 100 * limit // a caller that waited for the folder itself would wait for ever
	)
	f := toolcache.SlowFile(b.path, toolcache.Options{Now: b.clock}, limit, hold)
	start := time.Now()
	c := b.open(t, func(o *toolcache.Options) { toolcache.WithFile(o, f) })
	await.Within(t, "opening", time.Since(start), waitLimit)
	wantVerdict(t, c, newWant("a", 1), toolcache.Miss, "no_entry")
	start = time.Now()
	for range 100 {
		c.Store("c", newEntry(3, "q"))
		wantVerdict(t, c, newWant("c", 3), toolcache.Hit, "")
		c.Mark("c", toolcache.Active, "")
	}
	await.Within(t, "100 lists kept in memory", time.Since(start), 100*limit/2)
	start = time.Now()
	if err := c.Flush(t.Context()); err == nil {
		t.Error("a flush to what hangs succeeds")
	}
	await.Within(t, "flush", time.Since(start), waitLimit)
	if b.log.count("level=WARN") > 2 { // one for reading, one for writing
		t.Errorf("warnings:\n%s", b.log)
	}
	if st := c.Stats(); st.ReadFailures["slow"] == 0 || st.Writes.Failed["slow"] == 0 {
		t.Errorf("%+v", st)
	}
	close(hang)
	await.Until(t, "it is written when the drive answers again", func() bool { return c.Flush(t.Context()) == nil })
	wantVerdict(t, c, newWant("a", 1), toolcache.Hit, "") // what lay there is known now, and nothing of it is lost
	if r := b.verify(t); len(r.Servers) != 3 {
		t.Errorf("%+v", r)
	}
	mustClose(t, c)
}

// Opening waits for a folder as long as an operation on it does, so that either may end first: the warning is the same.
func TestHungMountAtTheDeadline(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	hang := make(chan struct{})
	f := toolcache.SlowFile(b.path, toolcache.Options{Now: b.clock}, time.Minute, func(string) { <-hang })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for _, when := range []string{"loading", "loading again"} { // the second one waits for nothing
		if _, err := f.Load(ctx); err == nil || !strings.Contains(err.Error(), "the file system does not answer") {
			t.Errorf("%s: %v", when, err)
		}
		ctx = t.Context()
	}
	close(hang)
	await.Until(t, "it is read when the folder answers again", func() bool {
		_, err := f.Load(t.Context())
		return err == nil
	})
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A slow disk delays no list: lists are stored and looked up during a long write.
func TestSlowDiskDelaysNobody(t *testing.T) {
	t.Parallel()
	b := newCacheFile(t)
	writing, written := make(chan struct{}, 1), make(chan struct{})
	f := toolcache.SlowFile(b.path, toolcache.Options{Now: b.clock}, time.Minute, func(op string) {
		if op == "commit" {
			select {
			case writing <- struct{}{}:
			default:
			}
			<-written
		}
	})
	c := b.open(t, func(o *toolcache.Options) { toolcache.WithFile(o, f) })
	c.Store("a", newEntry(0, "x"))
	<-writing
	late := time.AfterFunc(20*time.Second, func() {
		t.Error("somebody waits for the disk")
		close(written)
	})
	for i := range 300 {
		c.Store("a", newEntry(i, "x"))
		wantVerdict(t, c, newWant("a", i), toolcache.Hit, "")
	}
	if late.Stop() {
		close(written)
	}
	mustClose(t, c)
	b.verify(t)
}
