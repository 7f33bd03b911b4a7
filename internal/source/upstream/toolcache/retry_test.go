package toolcache_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/atomicfile"
	"collie/internal/source/upstream/toolcache"
	"collie/test/await"
)

// A failed write is tried again after 5 s and then every 30 s.
func TestWritesAreTriedAgain(t *testing.T) {
	t.Parallel()
	skipOnWindows(t)
	synctest.Test(t, func(t *testing.T) {
		b := newStoredFile(t)
		chmod := func(mode os.FileMode) {
			if err := os.Chmod(b.path, mode); err != nil {
				t.Fatal(err)
			}
		}
		written := func(name string) bool { return strings.Contains(b.read(t), `"`+name+`": {`) }
		chmod(0o400)
		c := b.open(t)
		c.Store("first", newEntry(3, "q"))
		await.Sleep(4 * time.Second)
		chmod(0o600)
		if written("first") {
			t.Error("a read-only file was written")
		}
		await.Sleep(2 * time.Second)
		if !written("first") {
			t.Error("not tried again after 5 s")
		}
		chmod(0o400)
		c.Store("second", newEntry(4, "q"))
		await.Sleep(20 * time.Second)
		chmod(0o600)
		await.Sleep(14 * time.Second)
		if written("second") {
			t.Error("tried again too early")
		}
		await.Sleep(3 * time.Second)
		if !written("second") {
			t.Error("not tried again after 5 s and 30 s")
		}
		if n := b.log.count("level=WARN"); n != 1 {
			t.Errorf("%d warnings for one cause:\n%s", n, b.log)
		}
		mustClose(t, c)
	})
}

// While another process holds the lock, writes fail as lock_busy. They succeed when it is released.
func TestLockedByAnother(t *testing.T) {
	t.Parallel()
	b := newStoredFile(t)
	unlock, err := atomicfile.Lock(t.Context(), b.path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	f := toolcache.SlowFile(b.path, toolcache.Options{Now: b.clock}, 100*time.Millisecond, func(string) {})
	c := b.open(t, func(o *toolcache.Options) { toolcache.WithFile(o, f) })
	c.Store("c", newEntry(3, "q"))
	await.Until(t, "a write is told that the lock is busy", func() bool { // on a busy machine the first may just be slow
		if err := c.Flush(t.Context()); err == nil {
			t.Fatal("written beside another's lock")
		}
		st := c.Stats()
		return st.Writes.Failed["lock_busy"] > 0 && st.Writes.LockWaits > 0
	})
	unlock()
	await.Until(t, "it is written after the other one has gone", func() bool { return c.Flush(t.Context()) == nil })
	mustClose(t, c)
	b.verify(t)
}
