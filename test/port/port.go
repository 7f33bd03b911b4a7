// Package port has addresses for servers that come later, or come back.
//
// A port that a server was given with ":0" is anybody's once the server is gone: systems give it to the next one that asks, and
// to clients as the port that they call from.
package port

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Linux gives out ports from 32768 on, other systems from 49152 on.
const from, to = 15_000, 32_000

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Address returns an address on 127.0.0.1 without a listener, whose port the system does not give to others. It never
// returns the same address twice.
func Address(tb testing.TB) string {
	tb.Helper()
	mu.Lock()
	defer mu.Unlock()
	for range to - from {
		n := from + rand.N(to-from)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(n))
		if given[n] {
			continue
		}
		l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", address)
		if err != nil {
			continue // somebody has it
		}
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		given[n] = true
		return address
	}
	tb.Fatalf("no port from %d to %d is free", from, to)
	return ""
}
