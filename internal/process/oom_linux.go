package process

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
)

// oomKills counts the out-of-memory kills in our control group so far; -1 if unknown.
func oomKills() int64 { return countOOM(os.DirFS("/")) }

// countOOM knows control groups of version 2 and 1. In a container the path that
// /proc tells may be the host's; the root of the mount is then our own group.
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
