//go:build !linux

package process

import "github.com/shirou/gopsutil/v4/process"

// GroupMemory returns the resident bytes of the leader of each process group. Unknown groups are left
// out.
func GroupMemory(groups []int) map[int]uint64 {
	out := make(map[int]uint64, len(groups))
	for _, g := range groups {
		p, err := process.NewProcess(int32(g)) //nolint:gosec // process ids fit
		if err != nil {
			continue
		}
		if info, err := p.MemoryInfo(); err == nil {
			out[g] = info.RSS
		}
	}
	return out
}

// oomKills returns -1, unknown: only Linux counts out-of-memory kills.
func oomKills() int64 { return -1 }
