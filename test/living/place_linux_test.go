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

// mountSmallDisk mounts a file system of size bytes, or skips the test if that is not allowed.
func mountSmallDisk(t *testing.T, size int) (dir string) {
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

// fillDisk uses up all free space of a disk, and returns a function that frees it again.
func fillDisk(t *testing.T, dir string) (free func()) {
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
	disk := mountSmallDisk(t, 64<<10)
	file := filepath.Join(disk, "c.json")
	h := newHome(t, nil)
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), twoServers[1]}, fmt.Sprintf(`"cache":{"file":%q}`, file))
	stopGateway(t, h.serveReady(t))
	free := fillDisk(t, disk)
	before := readVersion(t, file)

	g := h.serve(t) // starts although the disk is full
	c := dialLegacy(t, g)
	wantNames(t, c, "m__echo", "b__echo")
	var offer []string
	for i := range 40 { // a list that needs more space than is left in the last page of the file
		offer = append(offer, fmt.Sprintf("tool_%02d", i))
	}
	m.restartWith(t, g, offer...)
	await.Until(t, "the new list is offered", func() bool { return len(listNames(t, c)) == len(offer)+1 })
	await.Until(t, "a write has failed", func() bool { return cacheStats(t, g).Writes.Failed["disk_full"] > 0 })
	wantUnwritten(t, file, before)
	if left := temporaryFiles(t, file); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	m.restartWith(t, g, append(offer, "echo")...)
	await.Until(t, "the next write fails too", func() bool { return cacheStats(t, g).Writes.Failed["disk_full"] > 1 })
	if got := linesWith(g.Stderr(), "tool cache could not be used"); len(got) != 1 {
		t.Errorf("want one warning, got %q", got)
	}
	wantEcho(t, c, "m")
	free()
	m.restartWith(t, g, "echo", "last") // a retry without a change, after half a minute, is tested in package toolcache
	await.Until(t, "it is written when there is room", func() bool { return slices.Equal(toolNames(cacheEntry(t, file, "m")), []string{"echo", "last"}) })
	verifyCache(t, file)
}

// mountHung returns a folder in which every access hangs: a mount whose server never answers. The test is
// skipped if that is not possible; package toolcache has a test with a simulated one.
func mountHung(t *testing.T) (dir string) {
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
	m := h.newChangeable(t, "m", "echo")
	h.configure(t, []gateway.Server{m.server(), twoServers[1]}, fmt.Sprintf(`"cache":{"file":%q}`, filepath.Join(mountHung(t), "c.json")))
	begun := time.Now()
	g := h.serve(t)
	await.Within(t, "listening", time.Since(begun), 5*2*time.Second)
	c := dialLegacy(t, g)
	awaitNames(t, c, "m__echo", "b__echo")
	var lists, calls []time.Duration
	const rounds = 200
	for i := range rounds {
		if i%50 == 25 { // so that there is always a change to write
			m.restartWith(t, g, "echo", fmt.Sprintf("new%d", i))
		}
		begun := time.Now()
		listNames(t, c)
		lists = append(lists, time.Since(begun))
		begun = time.Now()
		wantEcho(t, c, "m")
		calls = append(calls, time.Since(begun))
	}
	slices.Sort(lists)
	slices.Sort(calls)
	await.Within(t, "the slowest list but two of 200", lists[rounds-3], 5*50*time.Millisecond)
	await.Within(t, "the slowest call but two of 200", calls[rounds-3], time.Second)
	awaitNames(t, c, "m__echo", "m__new175", "b__echo")
	if got := linesWith(g.Stderr(), "does not answer"); len(got) == 0 || len(got) > 2 { // reading and writing are two causes
		t.Errorf("want a warning, got %q", got)
	}
	begun = time.Now()
	stopGateway(t, g)
	await.Within(t, "stopping", time.Since(begun), waitLimit/2)
	if strings.Contains(g.Stderr(), "panic") {
		t.Error(g.Stderr())
	}
}
