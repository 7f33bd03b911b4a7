package living_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"collie/test/await"
	"collie/test/gateway"
)

// smallDisk mounts a file system of size bytes, or skips the test if that is not allowed.
func smallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill uses up all free space of a disk, and returns a function that frees it again.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 1<<10); ; {
		if _, err := f.Write(block); err != nil {
			break // the disk is full
		}
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// On a full disk the old file stays, no temporary file is left, tools are served from memory, and one warning
// is logged. Writing resumes when there is space.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 64<<10)
	file := filepath.Join(disk, "c.json")
	h := newHome(t, nil)
	m := h.moody(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), two[1]}, fmt.Sprintf(`"cache":{"file":%q}`, file))
	stop(t, h.started(t))
	free := fill(t, disk)
	before := identify(t, file)

	g := h.serve(t) // starts although the disk is full
	c := legacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	var offer []string
	for i := range 40 { // a list that needs more space than is left in the last page of the file
		offer = append(offer, fmt.Sprintf("tool_%02d", i))
	}
	m.changes(t, g, offer...)
	await.Until(t, "the new list is offered", func() bool { return len(names(t, c)) == len(offer)+1 })
	await.Until(t, "a write has failed", func() bool { return cacheStats(t, g).Writes.Failed["disk_full"] > 0 })
	wantSame(t, file, before)
	if left := temporaries(t, file); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	m.changes(t, g, append(offer, "echo")...)
	await.Until(t, "the next write fails too", func() bool { return cacheStats(t, g).Writes.Failed["disk_full"] > 1 })
	if got := linesWith(g.Stderr(), "tool cache could not be used"); len(got) != 1 {
		t.Errorf("want one warning, got %q", got)
	}
	works(t, c, "m")
	free()
	m.changes(t, g, "echo", "last") // a retry without a change, after half a minute, is tested in package toolcache
	await.Until(t, "it is written when there is room", func() bool { return slices.Equal(tools(entry(t, file, "m")), []string{"echo", "last"}) })
	verify(t, file)
}

// hungMount returns a folder in which every access hangs: a mount whose server never answers. The test is
// skipped if that is not possible; package toolcache has a test with a simulated one.
func hungMount(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	// Requests for files in the autofs mount go to this pipe, which has no reader. Accesses of the
	// pipe's own process group are not passed to it, so it must be a different group.
	asked, ask, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command("sleep", "600")
	owner.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		_, _ = asked.Close(), ask.Close() // waiting processes get an error now
		_ = owner.Process.Kill()
		_ = owner.Wait()
	}
	how := fmt.Sprintf("fd=%d,pgrp=%d,minproto=5,maxproto=5,indirect", ask.Fd(), owner.Process.Pid)
	if err := syscall.Mount("collie-test", dir, "autofs", 0, how); err != nil {
		end()
		t.Skipf("a mount that hangs cannot be had (%v); TestHungMount of package toolcache has a stand-in", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
		end()
	})
	return dir
}

// A hanging file system costs two seconds at the start and nothing after that: tools are listed and called as
// fast as without a cache.
func TestHungMount(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	m := h.moody(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), two[1]}, fmt.Sprintf(`"cache":{"file":%q}`, filepath.Join(hungMount(t), "c.json")))
	begun := time.Now()
	g := h.serve(t)
	await.Within(t, "listening", time.Since(begun), 5*2*time.Second)
	c := legacy(t, g)
	awaitNames(t, c, "m__echo", "b__echo")
	var lists, calls []time.Duration
	for i := range 200 {
		if i%50 == 25 { // so that there is always a change to write
			m.changes(t, g, "echo", fmt.Sprintf("new%d", i))
		}
		begun := time.Now()
		names(t, c)
		lists = append(lists, time.Since(begun))
		begun = time.Now()
		works(t, c, "m")
		calls = append(calls, time.Since(begun))
	}
	slices.Sort(lists)
	slices.Sort(calls)
	await.Within(t, "the slowest list but two of 200", lists[197], 5*50*time.Millisecond)
	await.Within(t, "the slowest call but two of 200", calls[197], time.Second)
	awaitNames(t, c, "m__echo", "m__new175", "b__echo")
	if got := linesWith(g.Stderr(), "does not answer"); len(got) == 0 || len(got) > 2 { // reading and writing are two causes
		t.Errorf("want a warning, got %q", got)
	}
	begun = time.Now()
	stop(t, g)
	await.Within(t, "stopping", time.Since(begun), soon/2)
	if strings.Contains(g.Stderr(), "panic") {
		t.Error(g.Stderr())
	}
}
