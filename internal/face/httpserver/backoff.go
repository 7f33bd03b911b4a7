package httpserver

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	guessBurst = 20              // wrong tokens that an address has for free
	guessEvery = 3 * time.Second // one more after that
	maxGuesser = 1024            // addresses remembered
)

// guesses counts wrong tokens for each address. The zero value is ready.
type guesses struct {
	mu     sync.Mutex
	byAddr map[netip.Addr]*rate.Limiter
}

// guesser is the address that is counted: a whole /64 in IPv6, since that is what one
// machine has to choose from.
func guesser(addr netip.Addr) netip.Addr {
	if !addr.Is6() || addr.IsLoopback() {
		return addr
	}
	p, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return addr
	}
	return p.Addr()
}

// wait returns how long addr must wait before its next guess; zero means not at all.
func (g *guesses) wait(addr netip.Addr) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return waitOf(g.byAddr[guesser(addr)])
}

// fail counts a wrong token and returns how long addr must wait; zero means that this
// one was still free.
func (g *guesses) fail(addr netip.Addr) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	addr = guesser(addr)
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

// add makes room by forgetting those who have paid for their guesses, else anybody.
func (g *guesses) add(addr netip.Addr, l *rate.Limiter) {
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
