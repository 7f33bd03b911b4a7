package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// This file reads from /proc what the system knows about processes, on Linux.

// procState holds the facts of /proc about one process. A library would convert the start to wall clock
// time, which shifts by a second or more when the clock is set, and differs between readers in containers.
// Ticks since boot never shift.
type procState struct {
	zombie bool
	pgid   int
	start  int64 // clock ticks since boot
}

var errProcFormat = errors.New("process state has an unknown format")

func readState(pid int) (procState, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return procState{}, err
	}
	return parseStat(data)
}

// parseStat reads "pid (name) state ppid pgrp …". The name may hold spaces and brackets, so fields are
// counted from the last bracket. The number of threads is field 20 of the whole line, the start time field 22. A process
// whose main thread has ended while others run has the state of a zombie too, but is none.
func parseStat(data []byte) (procState, error) {
	_, after, ok := bytes.Cut(data[max(bytes.LastIndexByte(data, ')'), 0):], []byte(") "))
	fields := bytes.Fields(after)
	if !ok || len(fields) < 20 {
		return procState{}, errProcFormat
	}
	pgid, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return procState{}, errProcFormat
	}
	start, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil {
		return procState{}, errProcFormat
	}
	threads, err := strconv.Atoi(string(fields[17]))
	if err != nil {
		return procState{}, errProcFormat
	}
	state := fields[0][0]
	return procState{zombie: (state == 'Z' || state == 'X') && threads <= 1, pgid: pgid, start: start}, nil
}

// hasLiveMembers reports whether the group pgid has a running process; zombies do not count. It returns true if that
// cannot be found out.
func hasLiveMembers(pgid int) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return true
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, err := readState(pid); err == nil && s.pgid == pgid && !s.zombie {
			return true
		}
	}
	return false
}

// bootID identifies the current boot: clock ticks of different boots must not be compared.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(id))
}

// GroupMemory returns the resident bytes of each process group. Shared pages count once for each process.
// Unknown groups are left out.
func GroupMemory(groups []int) map[int]uint64 {
	out := make(map[int]uint64, len(groups))
	for _, g := range groups {
		out[g] = 0
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		s, err := readState(pid)
		if err != nil {
			continue
		}
		if _, wanted := out[s.pgid]; wanted {
			out[s.pgid] += resident(pid)
		}
	}
	for g, n := range out {
		if n == 0 {
			delete(out, g)
		}
	}
	return out
}

// resident reads the second field of statm: pages in memory.
func resident(pid int) uint64 {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(data)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// oomKills returns the number of out-of-memory kills in our control group so far; -1 if unknown.
func oomKills() int64 { return countOOM(os.DirFS("/")) }

// countOOM supports control groups of versions 1 and 2. In a container the path in /proc may be the host's;
// the root of the mount is our own group then.
func countOOM(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.events"
		if parts[1] == "memory" {
			mount, file = "sys/fs/cgroup/memory", "memory.oom_control"
		} else if parts[0] != "0" {
			continue
		}
		for _, dir := range []string{path.Join(mount, parts[2]), mount} {
			if n := readOOM(root, path.Join(dir, file)); n >= 0 {
				return n
			}
		}
	}
	return -1
}

func readOOM(root fs.FS, name string) int64 {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "oom_kill "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
