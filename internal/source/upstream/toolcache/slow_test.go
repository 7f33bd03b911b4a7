package toolcache_test

import (
	"sync"
	"testing"
	"time"

	"collie/internal/source/upstream/toolcache"
)

// A folder that hangs, as one on a network drive does, holds up nobody.
func TestSituation33HungMount(t *testing.T) {
	t.Parallel()
	b := stored(t)
	var mu sync.Mutex
	hang := make(chan struct{})
	hold := func(string) {
		mu.Lock()
		c := hang
		mu.Unlock()
		<-c
	}
	const limit = 100 * time.Millisecond
	f := toolcache.SlowFile(b.path, toolcache.FileOptions{Now: b.clock}, limit, hold)
	start := time.Now()
	c := b.open(t, func(o *toolcache.Options) { toolcache.WithFile(o, f) })
	if took := time.Since(start); took > 5*limit {
		t.Errorf("opening took %v", took)
	}
	wantVerdict(t, c, want("a", 1), toolcache.Miss, "no_entry")
	start = time.Now()
	for range 100 {
		c.Store("c", entry(3, "q"))
		wantVerdict(t, c, want("c", 3), toolcache.Hit, "")
		c.Mark("c", toolcache.Active, "")
	}
	if took := time.Since(start); took > 250*time.Millisecond {
		t.Errorf("100 lists were kept in memory in %v: somebody waits for the disk", took)
	}
	start = time.Now()
	if err := c.Flush(t.Context()); err == nil || time.Since(start) > 10*limit {
		t.Errorf("flush: %v after %v", err, time.Since(start))
	}
	if b.log.count("level=WARN") > 2 { // one for reading, one for writing
		t.Errorf("warnings:\n%s", b.log)
	}
	if st := c.Stats(); st.ReadFailures["slow"] == 0 || st.Writes.Failed["slow"] == 0 {
		t.Errorf("%+v", st)
	}
	close(hang)
	eventually(t, "it is written when the drive answers again", func() bool { return c.Flush(t.Context()) == nil })
	wantVerdict(t, c, want("a", 1), toolcache.Hit, "") // what lay there is known now, and nothing of it is lost
	if r := b.verify(t); len(r.Servers) != 3 {
		t.Errorf("%+v", r)
	}
	mustClose(t, c)
}

// A slow disk delays no list (check 26).
func TestSlowDiskDelaysNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := toolcache.SlowFile(b.path, toolcache.FileOptions{Now: b.clock}, 5*time.Second, func(op string) {
		if op == "commit" {
			<-time.After(300 * time.Millisecond)
		}
	})
	c := b.open(t, func(o *toolcache.Options) { toolcache.WithFile(o, f) })
	var worst time.Duration
	for i := range 300 {
		start := time.Now()
		c.Store("a", entry(i, "x"))
		wantVerdict(t, c, want("a", i), toolcache.Hit, "")
		worst = max(worst, time.Since(start))
		<-time.After(time.Millisecond)
	}
	if worst > 250*time.Millisecond {
		t.Errorf("the slowest one took %v", worst)
	}
	mustClose(t, c)
	b.verify(t)
}
