package living_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"collie/internal/mcp/mcptest"
	"collie/test/await"
	"collie/test/port"
)

// remote is a fakemcp over HTTP in the test process. It can disappear, come back, and refuse requests of one method.
type remote struct {
	t       *testing.T
	handler http.Handler
	addr    string

	mu     sync.Mutex
	server *http.Server
	refuse string         // requests of this method get an error
	asked  map[string]int // requests by method
}

func newRemote(t *testing.T, flags ...string) *remote {
	t.Helper()
	h, err := mcptest.Handler(flags...)
	if err != nil {
		t.Fatal(err)
	}
	return serveRemote(t, h)
}

// serveRemote serves a handler at /mcp until the test ends.
func serveRemote(t *testing.T, h http.Handler) *remote {
	t.Helper()
	r := &remote{t: t, handler: h, addr: port.Address(t), asked: map[string]int{}}
	r.start()
	t.Cleanup(r.stop)
	return r
}

func (r *remote) entry() string { return fmt.Sprintf(`{"url":"http://%s/mcp"}`, r.addr) }

// start serves at the address that r has, also after a stop.
func (r *remote) start() {
	r.t.Helper()
	var l net.Listener
	await.Until(r.t, "the address is free", func() (ok bool) {
		var err error
		l, err = new(net.ListenConfig).Listen(r.t.Context(), "tcp", r.addr)
		return err == nil
	})
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	r.mu.Lock()
	r.addr, r.server = l.Addr().String(), server
	r.mu.Unlock()
	go func() { _ = server.Serve(l) }() // ends with stop
}

// stop closes the listener and all connections.
func (r *remote) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.server.Close()
}

// refuseMethod makes all further requests of a method fail; "" ends that.
func (r *remote) refuseMethod(method string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = method
}

// countRequests returns how many requests of a method have arrived.
func (r *remote) countRequests(method string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[method]
}

// ServeHTTP implements [http.Handler].
func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	method := gjson.GetBytes(body, "method").Str
	r.mu.Lock()
	r.asked[method]++
	refused := r.refuse != "" && r.refuse == method
	r.mu.Unlock()
	if refused {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"not now"}}`, gjson.GetBytes(body, "id").Raw)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.handler.ServeHTTP(w, req)
}
