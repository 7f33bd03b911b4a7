package kerneltest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"collie/internal/vault"
	"collie/internal/vault/vaulttest"
	"collie/internal/vault/workspace"
)

// This file has the kernel of tests, a vault with an empty workspace.

// Token is the API token every kernel accepts.
const Token = "TEST_TOKEN"

// Version is the version of the kernel that was recorded and that the kernel reports.
const Version = "3.7.3"

// Kernel is a SiYuan kernel with its own workspace, which tests inspect through HTTP. It is safe for concurrent use.
type Kernel struct {
	t       testing.TB
	vault   *vault.Vault // nil with a real kernel
	backend http.Handler // answers the requests: the vault, or a real kernel
	listen  sync.Once
	server  *httptest.Server

	mu            sync.Mutex
	tokenRequired bool
	readOnly      bool
	lenient       bool
	frozen        bool
	calls         []Call
	faults        map[string][]fault
	plugins       map[string]bool
	links         map[string]bool // symbolic links, by path
	lag           *lag            // nil while SQL sees every write at once
}

// New returns a kernel with an empty workspace, which ends with the test. It listens on 127.0.0.1 from the first call
// of [Kernel.URL]. The test fails if a client sends a request that [Legal] refuses (but see [Kernel.Lenient]), and if
// a request panics.
func New(t testing.TB) *Kernel {
	t.Helper()
	if k := newReal(t); k != nil {
		return k
	}
	v := newVault(t)
	k := &Kernel{t: t, vault: v, backend: v, faults: map[string][]fault{}, plugins: map[string]bool{}, links: map[string]bool{}}
	if _, err := k.vault.Workspace(t.Context()); err != nil { // opened now, so that no timed call has to
		t.Fatalf("kerneltest: open the vault: %v", err)
	}
	return k
}

// newVault returns a vault that ends with the test.
func newVault(t testing.TB) *vault.Vault {
	t.Helper()
	empty, err := emptyVault()
	if err != nil {
		t.Fatalf("kerneltest: make an empty vault: %v", err)
	}
	file := filepath.Join(t.TempDir(), "vault.db")
	if err := os.WriteFile(file, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	v := vault.New(file, vault.Options{Log: vaulttest.Log(t), Workspace: workspace.Options{CheckTrees: true}})
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Errorf("kerneltest: close the vault: %v", err)
		}
	})
	return v
}

// emptyVault returns the file of an empty vault, made once for the process, since creating the schema takes longer
// than most tests.
var emptyVault = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "kerneltest-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "vault.db")
	if err := vault.Create(file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// Endpoints returns the endpoints the kernel answers, in order.
func Endpoints() []string { return vault.Endpoints() }

// Handler returns the kernel's API without a network, for tests in a synctest bubble.
func (k *Kernel) Handler() http.Handler { return k }

// URL returns the address of the kernel, without a trailing slash.
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

// SetToken says whether calls need the token, as on a kernel with an access code. By default they do not, but a wrong
// token is always refused.
func (k *Kernel) SetToken(required bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tokenRequired = required
}

// ReadOnly makes the kernel refuse every write, and query/sql, like one started with --readonly.
func (k *Kernel) ReadOnly(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readOnly = on
}

// Lenient accepts requests that no recording shows to be legal, for tests that send wrong requests on purpose.
func (k *Kernel) Lenient() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lenient = true
}
