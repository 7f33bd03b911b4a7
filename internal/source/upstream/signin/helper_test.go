package signin_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"collie/internal/source/upstream/signin"
	"collie/internal/source/upstream/signin/signintest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memoryStore is a Store in memory, as several processes would share it.
type memoryStore struct {
	mu     sync.Mutex
	values map[string]string
	broken error // if not nil, every call of Set fails with it
	asked  int
}

func newMemoryStore() *memoryStore { return &memoryStore{values: map[string]string{}} }

func (m *memoryStore) Get(_ context.Context, name string) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	v, ok := m.values[name]
	return v, ok, nil
}

func (m *memoryStore) Has(_ context.Context, name string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.values[name]
	return ok, nil
}

func (m *memoryStore) Set(_ context.Context, name, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken != nil {
		return m.broken
	}
	m.values[name] = value
	return nil
}

func (m *memoryStore) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, name)
	return nil
}

// failWrites makes every later write fail with err, or none if err is nil.
func (m *memoryStore) failWrites(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err
}

// all returns all stored names and values.
func (m *memoryStore) all() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.values)
}

// text returns all names and values as text, sorted by name.
func (m *memoryStore) text() string {
	var b strings.Builder
	values := m.all()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		b.WriteString(name + " " + values[name] + "\n")
	}
	return b.String()
}

// clock is a clock that tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// signinTest is a provider, a store and a session over both.
type signinTest struct {
	*signintest.Provider

	t       *testing.T
	store   *memoryStore
	clock   *clock
	lockDir string
	log     *syncBuffer
	session *signin.Session
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newSigninTest returns one whose provider behaves as b says. When the test ends, its log must hold no secret.
func newSigninTest(t *testing.T, b signintest.Behaviour) *signinTest {
	t.Helper()
	x := &signinTest{
		Provider: signintest.New(t, b), t: t, store: newMemoryStore(), clock: &clock{now: time.Now()},
		lockDir: t.TempDir(), log: &syncBuffer{},
	}
	x.session = x.openSession(signin.Server{})
	t.Cleanup(func() {
		if strings.Contains(x.log.String(), "canary") {
			t.Errorf("the log holds a secret:\n%s", x.log)
		}
	})
	return x
}

// openSession returns another session over the same store, as in another process.
func (x *signinTest) openSession(server signin.Server) *signin.Session {
	x.t.Helper()
	if server.Name == "" {
		server.Name = "notes"
	}
	if server.URL == "" {
		server.URL = x.MCP()
	}
	s := signin.New(server, x.store, signin.Options{
		LockDir: x.lockDir, Now: x.clock.Now,
		Logger: slog.New(slog.NewTextHandler(x.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	x.t.Cleanup(func() { _ = s.Close() })
	return s
}

// loginOptions returns options with a browser that agrees to everything.
func (x *signinTest) loginOptions() signin.LoginOptions {
	return signin.LoginOptions{OpenBrowser: x.Browser(nil)}
}

// login signs in with a browser that agrees to everything.
func (x *signinTest) login(s *signin.Session) {
	x.t.Helper()
	if err := s.Login(x.t.Context(), x.loginOptions()); err != nil {
		x.t.Fatalf("login: %v", err)
	}
}

// call sends one request through a session and returns the status.
func (x *signinTest) call(s *signin.Session) (int, error) {
	x.t.Helper()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	req, err := http.NewRequestWithContext(x.t.Context(), http.MethodPost, x.MCP(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		x.t.Fatal(err)
	}
	resp, err := s.RoundTripper(base).RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// wantStatus fails the test unless a call has that status.
func (x *signinTest) wantStatus(s *signin.Session, status int) {
	x.t.Helper()
	got, err := x.call(s)
	if err != nil || got != status {
		x.t.Fatalf("call = %d, %v, want %d", got, err, status)
	}
}

// wantError fails the test unless err contains all the words.
func wantError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error = %v, want %q in it", err, w)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("error = %v: it holds a secret", err)
	}
}

var errStore = errors.New("the store is shut")
