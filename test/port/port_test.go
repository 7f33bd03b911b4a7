package port_test

import (
	"net"
	"strconv"
	"testing"

	"collie/test/port"
)

// Addresses differ, are free, and have ports that systems do not give out.
func TestAddress(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		address := port.Address(t)
		if seen[address] {
			t.Errorf("%s was returned twice", address)
		}
		seen[address] = true
		_, number, err := net.SplitHostPort(address)
		if n, bad := strconv.Atoi(number); err != nil || bad != nil || n < 1024 || n >= 32768 {
			t.Errorf("%s: a system may give it to others", address)
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}
