package upstream

import (
	"sync"
	"time"
)

const (
	// noiseLines in noiseTime is more noise than a banner: it is worth a warning, once.
	noiseLines = 100
	noiseTime  = 10 * time.Second
)

// noiseCounter tells a banner from a server that writes its log to stdout.
type noiseCounter struct {
	mu     sync.Mutex
	since  time.Time
	count  int
	all    uint64
	warned bool
}

// total is how many lines there were.
func (n *noiseCounter) total() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}

// add counts a line and reports whether it is the one to warn at.
func (n *noiseCounter) add(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.since) > noiseTime {
		n.since, n.count = now, 0
	}
	n.all++
	n.count++
	if n.count <= noiseLines || n.warned {
		return false
	}
	n.warned = true
	return true
}
