package kerneltest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Token is the API token every fake accepts.
const Token = "TEST_TOKEN"

// Version is the version of the kernel that was recorded and that the fake reports.
const Version = "3.7.3"

// Kernel is a fake SiYuan kernel with a workspace in memory. It is safe for concurrent use: like the real one it does
// one thing at a time, so a test may look at the workspace through HTTP only.
type Kernel struct {
	t          testing.TB
	listen     sync.Once
	server     *httptest.Server
	routes     map[string]handler
	operations map[string]operation

	mu            sync.Mutex
	tokenRequired bool
	readOnly      bool
	lenient       bool
	calls         []Call
	faults        map[string][]fault
	workspace
	index *index
}

// handler answers one route. It runs with the workspace locked and may panic through the readers of request.
type handler func(k *Kernel, req request) reply

// New makes a fake kernel with an empty workspace, which ends with the test. It listens on 127.0.0.1 from the first
// call of [Kernel.URL] on. The test fails when a client sends a request that [Legal] refuses; see [Kernel.Lenient].
func New(t testing.TB) *Kernel {
	t.Helper()
	k := &Kernel{
		t:          t,
		routes:     map[string]handler{},
		operations: map[string]operation{},
		faults:     map[string][]fault{},
		workspace:  newWorkspace(),
	}
	k.index = newIndex(t)
	for _, family := range families {
		family(k)
	}
	return k
}

// Handler answers the kernel's API without a network, for tests that run inside a synctest bubble.
func (k *Kernel) Handler() http.Handler { return k }

// URL is the address of the kernel, without a trailing slash.
func (k *Kernel) URL() string {
	k.listen.Do(func() {
		k.server = httptest.NewServer(k)
		k.t.Cleanup(func() {
			k.server.CloseClientConnections()
			k.server.Close()
		})
	})
	return k.server.URL
}

// SetToken says whether a call needs the token, as it does on a kernel with an access code. By default it does not,
// but a wrong token is always refused.
func (k *Kernel) SetToken(required bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tokenRequired = required
}

// ReadOnly makes the kernel refuse every write, and query/sql, as one started with --readonly does.
func (k *Kernel) ReadOnly(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readOnly = on
}

// Lenient stops the kernel from failing the test on requests that no recording shows to be legal. It is for tests
// that send wrong requests on purpose.
func (k *Kernel) Lenient() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lenient = true
}

// handle answers the POST requests to path with h. Two handlers for one path are a mistake of the families.
func (k *Kernel) handle(path string, h handler) {
	if k.routes[path] != nil {
		panic("kerneltest: two handlers for " + path)
	}
	k.routes[path] = h
}
