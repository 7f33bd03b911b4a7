// Package port returns addresses for servers that a test starts later, or starts again.
//
// A port that the system chose for a server (":0") is free for others once the server has ended: the system may give
// it to the next server, or use it for an outgoing connection. The ports of this package are outside of the range
// from which systems choose.
package port

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are chosen from this range. Linux gives out ports from 32768 on, other systems from 49152 on.
const from, to = 15_000, 32_000

var (
	mu    sync.Mutex
	given = map[int]bool{}
)

// Address returns an address on 127.0.0.1 that nobody listens on, with a port that the system gives to nobody. Within
// a process it never returns the same address twice.
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
