package signin

import (
	"net"
	"net/http"
	"testing"
)

// portListener says that it listens on another address than it does.
type portListener struct {
	net.Listener
	addr net.TCPAddr
}

func (l *portListener) Addr() net.Addr { return &l.addr }

// Browsers leave out port 80 of the callback, and no other.
func TestCallbackHost(t *testing.T) {
	t.Parallel()
	for port, hosts := range map[int]map[string]bool{
		80:   {"127.0.0.1": true, "127.0.0.1:80": true, "": false, "localhost": false, "127.0.0.1:8080": false},
		8080: {"127.0.0.1": false, "127.0.0.1:8080": true, "": false, "localhost:8080": false},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		answers := make(chan attempt)
		c := serveCallback(&portListener{l, net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}, answers)
		go func() {
			for a := range answers {
				a.verdict <- nil
			}
		}()
		for host, accepted := range hosts {
			if status := returnTo(t, l, host); (status == http.StatusOK) != accepted || !accepted && status/100 != 4 {
				t.Errorf("port %d, host %q: status %d", port, host, status)
			}
		}
		c.close()
		close(answers)
	}
}

// returnTo makes the request of a browser that returns to the callback, and returns the status of the answer.
func returnTo(t *testing.T, l net.Listener, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+callbackPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	wire := &http.Transport{}
	defer wire.CloseIdleConnections()
	req.Host = host
	resp, err := wire.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
