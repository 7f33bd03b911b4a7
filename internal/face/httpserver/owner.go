package httpserver

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	psnet "github.com/shirou/gopsutil/v4/net"
	"github.com/shirou/gopsutil/v4/process"
)

// ownerTimeout bounds the search, which reads every process of the machine.
const ownerTimeout = 2 * time.Second

// portOwner returns the process that listens on at, as "name (pid n)", as far as the system tells. It omits the
// command line, which may hold secrets.
func portOwner(ctx context.Context, at boundAddr) string {
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	const somebody = "another program"
	conns, err := psnet.ConnectionsWithoutUidsWithContext(ctx, "tcp")
	if err != nil {
		return somebody
	}
	for _, c := range conns {
		if c.Pid == 0 || c.Status != "LISTEN" || !wouldConflict(at, c.Laddr) {
			continue
		}
		p, err := process.NewProcessWithContext(ctx, c.Pid)
		if err != nil {
			return fmt.Sprintf("pid %d", c.Pid)
		}
		name, err := p.NameWithContext(ctx)
		if err != nil || name == "" {
			return fmt.Sprintf("pid %d", c.Pid)
		}
		return fmt.Sprintf("%s (pid %d)", name, c.Pid)
	}
	return somebody
}

// wouldConflict reports whether a listener on l prevents listening on at.
func wouldConflict(at boundAddr, l psnet.Addr) bool {
	if strconv.FormatUint(uint64(l.Port), 10) != at.port {
		return false
	}
	ip, err := netip.ParseAddr(l.IP)
	if err != nil || !at.ip.IsValid() || at.ip.IsUnspecified() { // "*" on some systems
		return true
	}
	return ip.IsUnspecified() || ip.Unmap() == at.ip
}
