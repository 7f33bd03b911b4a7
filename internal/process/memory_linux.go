package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// GroupMemory returns how many bytes each of the process groups has resident, shared pages
// counted for each process. Groups of which nothing is known are left out.
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
