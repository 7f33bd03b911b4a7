package httpserver

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	guessBurst = 20              // wrong tokens that an address may send without waiting
	guessEvery = 3 * time.Second // time after which one more is allowed
	maxGuesser = 1024            // maximum number of addresses remembered
)

// wrongTokens counts wrong tokens per address. The zero value is ready to use.
type wrongTokens struct {
	mu     sync.Mutex
	byAddr map[netip.Addr]*rate.Limiter
}

// countingAddr returns the address to count by: for IPv6 the whole /64, since one machine can choose any address
// in it.
func countingAddr(addr netip.Addr) netip.Addr {
	if !addr.Is6() || addr.IsLoopback() {
		return addr
	}
	p, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return addr
	}
	return p.Addr()
}

// waitFor returns how long addr must wait before its next attempt; 0 if it need not.
func (g *wrongTokens) waitFor(addr netip.Addr) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return waitOf(g.byAddr[countingAddr(addr)])
}

// fail counts a wrong token and returns how long addr must wait now; 0 if it need not.
func (g *wrongTokens) fail(addr netip.Addr) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	addr = countingAddr(addr)
	l := g.byAddr[addr]
	if l == nil {
		l = rate.NewLimiter(rate.Every(guessEvery), guessBurst)
		g.add(addr, l)
	}
	if l.Allow() {
		return 0
	}
	return waitOf(l)
}

// add stores a new address. If there is no room, it drops those that need not wait any more, or else any one.
func (g *wrongTokens) add(addr netip.Addr, l *rate.Limiter) {
	if g.byAddr == nil {
		g.byAddr = make(map[netip.Addr]*rate.Limiter)
	}
	if len(g.byAddr) >= maxGuesser {
		for a, old := range g.byAddr {
			if old.Tokens() >= guessBurst {
				delete(g.byAddr, a)
			}
		}
	}
	for a := range g.byAddr {
		if len(g.byAddr) < maxGuesser {
			break
		}
		delete(g.byAddr, a)
	}
	g.byAddr[addr] = l
}

func waitOf(l *rate.Limiter) time.Duration {
	if l == nil {
		return 0
	}
	have := l.Tokens()
	if have >= 1 {
		return 0
	}
	return time.Duration((1 - have) * float64(guessEvery))
}
