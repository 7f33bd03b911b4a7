package toolcache_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"collie/internal/source/upstream/toolcache"
)

// mountSmallDisk mounts a disk of 64 KiB.
func mountSmallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// On a full disk the old file stays, the new list is used from memory, and it is written once there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := mountSmallDisk(t)
	b := newCacheFile(t)
	b.path = filepath.Join(dir, "collie.cache.json")
	c := b.open(t, func(o *toolcache.Options) { o.Compression = "none" })
	c.Store("a", newEntry(1, "x"))
	mustFlush(t, c)
	before := b.read(t)
	big := newEntry(2, "y")
	big.Tools = append(big.Tools, json.RawMessage(`{"name":"big","description":"`+strings.Repeat("x", 100<<10)+`"}`))
	c.Store("b", big)
	for range 3 {
		if err := c.Flush(t.Context()); err == nil {
			t.Fatal("100 KiB fit into 64")
		}
	}
	wantVerdict(t, c, newWant("b", 2), toolcache.Hit, "") // from memory
	if b.read(t) != before {
		t.Error("the old file has changed")
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	if n := b.log.count("level=WARN"); n != 1 || c.Stats().Writes.Failed["disk_full"] < 3 {
		t.Errorf("%d warnings, %v:\n%s", n, c.Stats().Writes.Failed, b.log)
	}
	c.Clear("b")
	c.Store("c", newEntry(3, "z"))
	mustFlush(t, c)
	if r := b.verify(t); len(r.Servers) != 2 {
		t.Errorf("%+v", r)
	}
	mustClose(t, c)
}
